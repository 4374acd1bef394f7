/** The embedded engine as a store: the first implementation of the store contract. */

import type { Selector } from "../base/uri.ts";
import type {
  BlameItem,
  BlameOptions,
  BranchWriter,
  Capability,
  CommitInfo,
  CommitOptions,
  DiffItem,
  DiffOptions,
  Fork,
  IssuedAddress,
  LinkOptions,
  ListItem,
  ListObjectsOptions,
  LogOptions,
  MergeOptions,
  MergePreviewItem,
  MergeResult,
  NewRepository,
  ObjectStats,
  PickOptions,
  ReadOptions,
  ReadResult,
  RefInfo,
  ReflogItem,
  RepositoryInfo,
  Store,
  StoreCosts,
  WriterOptions,
} from "../drivers/store.ts";
import type { CommittedFile, Settings } from "../drivers/settings.ts";
import type { CheckCounts, CheckOptions, Damage } from "../drivers/checking.ts";
import type { CommitNotes } from "../drivers/commit_notes.ts";
import type { Tasks } from "../drivers/tasks.ts";
import type { Uploads } from "../drivers/uploads.ts";
import { lossyText } from "../base/bytes.ts";
import { pathKey } from "./objects/mod.ts";
import { checkMetadata } from "../drivers/object_text.ts";
import { blame } from "./operations/blame.ts";
import { checkRepository } from "./operations/check.ts";
import { commitBranch } from "./operations/commit.ts";
import { compareRefs, forkOf } from "./operations/compare.ts";
import { sumOfCosts } from "./operations/costs.ts";
import {
  checkNewRepository,
  createRepository,
  type CreateRepositoryOptions,
} from "./operations/create_repository.ts";
import { deleteIfEmpty } from "./operations/delete_repository.ts";
import { diffRefs, statusOfBranch } from "./operations/diff.ts";
import { listAll, MANY_ITEMS } from "./operations/list_all.ts";
import { issueAddress, linkAddress } from "./operations/link.ts";
import { listView } from "./operations/list.ts";
import { logOf, reflogOf } from "./operations/log.ts";
import { mergeInto } from "./operations/merge.ts";
import { cherryPickOn, revertOn } from "./operations/pick.ts";
import { previewMerge } from "./operations/preview_merge.ts";
import { createBranch, createTag, deleteRef, getRef, listRefs, restoreRef } from "./operations/refs.ts";
import { readObject } from "./operations/read.ts";
import { hardReset, resetBranch } from "./operations/reset.ts";
import { select } from "./operations/select.ts";
import { commitInfo, repositoryInfo, statsOfRecord } from "./operations/stats.ts";
import { writeSymlinks } from "./operations/symlinks.ts";
import { committedFile } from "./operations/table_file.ts";
import { EngineCommitNotes } from "./commit_notes.ts";
import { EngineSettings } from "./settings.ts";
import { EngineTasks } from "./tasks/tasks.ts";
import { EngineUploads } from "./uploads/uploads.ts";
import { lookUp, objectNotFound, openView } from "./operations/view.ts";
import { EngineBranchWriter } from "./operations/writer.ts";
import { SharedTableCaches, type ValueRecord } from "./committed/mod.ts";
import { Repositories, RepositoryMetadata, resolveRef } from "./refs/mod.ts";
import { type EngineContext, Repository } from "./repository.ts";

const CAPABILITIES: readonly Capability[] = [
  "read",
  "write",
  "commit",
  "branch",
  "tag",
  "merge",
  "time",
  "repositories",
];

/** Opens the engine over a KV store and object stores. The KV store is the engine's from now on: `close` closes it. */
export function openEngineStore(context: EngineContext): Store {
  return new EngineStore(context);
}

class EngineStore implements Store {
  readonly driver = "graveler";
  readonly capabilities: ReadonlySet<Capability> = new Set(CAPABILITIES);
  readonly #context: EngineContext;
  readonly #repositories: Repositories;
  readonly #open = new Map<string, Promise<Repository>>();
  readonly settings: Settings = new EngineSettings((name) => this.#repository(name));
  readonly tasks: Tasks = new EngineTasks((name) => this.#repository(name), this);
  readonly uploads: Uploads = new EngineUploads((name) => this.#repository(name));

  readonly commitNotes: CommitNotes;

  constructor(context: EngineContext) {
    this.#context = { ...context, tableCaches: new SharedTableCaches(context.cacheBytes) };
    this.#repositories = new Repositories(context.kv);
    this.commitNotes = new EngineCommitNotes(context.kv, this.#repositories);
  }

  async createRepository(name: string, options: NewRepository): Promise<RepositoryInfo> {
    return repositoryInfo(await createRepository(this.#context, name, creation(options)));
  }

  async checkNewRepository(name: string, options: NewRepository): Promise<void> {
    await checkNewRepository(this.#context, name, creation(options));
  }

  async *listRepositories(
    options: { prefix?: string; after?: string } = {},
  ): AsyncGenerator<readonly RepositoryInfo[]> {
    for await (const page of this.#repositories.list(options)) yield page.map(repositoryInfo);
  }

  async getRepository(name: string): Promise<RepositoryInfo> {
    return repositoryInfo(await this.#repositories.get(name));
  }

  async deleteRepository(
    name: string,
    { ifEmpty = false }: { readonly ifEmpty?: boolean } = {},
  ): Promise<void> {
    if (ifEmpty) await deleteIfEmpty(this.#repositories, await this.#repository(name));
    else await this.#repositories.remove(name);
  }

  async getRepositoryMetadata(name: string): Promise<Readonly<Record<string, string>>> {
    const { kv, partition } = await this.#repository(name);
    return await new RepositoryMetadata(kv, partition).get();
  }

  async changeRepositoryMetadata(
    name: string,
    change: { readonly set?: Readonly<Record<string, string>>; readonly remove?: readonly string[] },
  ): Promise<void> {
    const repository = await this.#repository(name);
    checkMetadata(change.set ?? {});
    await new RepositoryMetadata(repository.kv, repository.partition).change(change);
    await repository.checkLive();
  }

  async select(repository: string, selector: Selector, ref: string | undefined): Promise<string> {
    return await select(await this.#repository(repository), selector, ref);
  }

  async resolve(repository: string, ref: string): Promise<string> {
    const { refs, commits } = await this.#repository(repository);
    return (await resolveRef(refs, commits, ref)).commit.id;
  }

  async *listBranches(
    repository: string,
    options: { prefix?: string; after?: string } = {},
  ): AsyncGenerator<readonly RefInfo[]> {
    yield* listRefs(await this.#repository(repository), "branch", options);
  }

  async getBranch(repository: string, branch: string): Promise<RefInfo> {
    return await getRef(await this.#repository(repository), "branch", branch);
  }

  async createBranch(
    repository: string,
    branch: string,
    source: string,
    who: string,
    options: { readonly isHidden?: boolean } = {},
  ): Promise<RefInfo> {
    return await createBranch(await this.#repository(repository), branch, { source, who, ...options });
  }

  async deleteBranch(repository: string, branch: string, who: string): Promise<void> {
    await deleteRef(await this.#repository(repository), "branch", { name: branch, who });
  }

  async *listTags(
    repository: string,
    options: { prefix?: string; after?: string } = {},
  ): AsyncGenerator<readonly RefInfo[]> {
    yield* listRefs(await this.#repository(repository), "tag", options);
  }

  async getTag(repository: string, tag: string): Promise<RefInfo> {
    return await getRef(await this.#repository(repository), "tag", tag);
  }

  async createTag(repository: string, tag: string, ref: string, who: string): Promise<RefInfo> {
    return await createTag(await this.#repository(repository), tag, { ref, who });
  }

  async deleteTag(repository: string, tag: string, who: string): Promise<void> {
    await deleteRef(await this.#repository(repository), "tag", { name: tag, who });
  }

  async restoreRef(
    repository: string,
    kind: "branch" | "tag",
    name: string,
    options: { readonly who: string; readonly id?: string },
  ): Promise<RefInfo> {
    return await restoreRef(await this.#repository(repository), kind, { name, ...options });
  }

  async stat(repository: string, ref: string, path: string): Promise<ObjectStats> {
    const opened = await this.#repository(repository);
    return statsOfRecord(opened, await this.#find(opened, ref, path));
  }

  async *list(
    repository: string,
    ref: string,
    options: ListObjectsOptions = {},
  ): AsyncGenerator<readonly ListItem[]> {
    const opened = await this.#repository(repository);
    const { delimiter = "", amount = Infinity } = options;
    if (delimiter === "" && amount > MANY_ITEMS) {
      return yield* listAll(opened, await openView(opened, ref), options);
    }
    for await (const block of listView(opened, await openView(opened, ref), options)) {
      yield block.map((item): ListItem =>
        "record" in item
          ? { kind: "object", stats: statsOfRecord(opened, item.record) }
          : { kind: "common_prefix", path: lossyText(item.prefix) }
      );
    }
  }

  async read(
    repository: string,
    ref: string,
    path: string,
    options: ReadOptions = {},
  ): Promise<ReadResult> {
    const opened = await this.#repository(repository);
    return await readObject(opened, await this.#find(opened, ref, path), { ...options, path });
  }

  async issueAddress(repository: string, branch: string, path: string): Promise<IssuedAddress> {
    return await issueAddress(await this.#repository(repository), branch, path);
  }

  async linkAddress(
    repository: string,
    branch: string,
    path: string,
    options: LinkOptions,
  ): Promise<ObjectStats> {
    return await linkAddress(await this.#repository(repository), { branch, path }, options);
  }

  async writer(
    repository: string,
    branch: string,
    options: WriterOptions = {},
  ): Promise<BranchWriter> {
    return await EngineBranchWriter.open(await this.#repository(repository), branch, options);
  }

  async *status(
    repository: string,
    branch: string,
    options: DiffOptions = {},
  ): AsyncGenerator<readonly DiffItem[]> {
    yield* statusOfBranch(await this.#repository(repository), branch, options);
  }

  async *diff(
    repository: string,
    left: string,
    right: string,
    options: DiffOptions = {},
  ): AsyncGenerator<readonly DiffItem[]> {
    yield* diffRefs(await this.#repository(repository), [left, right], options);
  }

  async *compare(
    repository: string,
    left: string,
    right: string,
    options: DiffOptions = {},
  ): AsyncGenerator<readonly DiffItem[]> {
    yield* compareRefs(await this.#repository(repository), [left, right], options);
  }

  async fork(repository: string, left: string, right: string): Promise<Fork> {
    return await forkOf(await this.#repository(repository), [left, right]);
  }

  async commit(repository: string, branch: string, options: CommitOptions): Promise<CommitInfo> {
    return commitInfo(await commitBranch(await this.#repository(repository), branch, options));
  }

  async getCommit(repository: string, ref: string): Promise<CommitInfo> {
    const { refs, commits } = await this.#repository(repository);
    return commitInfo((await resolveRef(refs, commits, ref)).commit);
  }

  async *log(
    repository: string,
    ref: string,
    options: LogOptions = {},
  ): AsyncGenerator<readonly CommitInfo[]> {
    yield* logOf(await this.#repository(repository), ref, options);
  }

  async *blame(
    repository: string,
    ref: string,
    options: BlameOptions = {},
  ): AsyncGenerator<readonly BlameItem[]> {
    yield* blame(await this.#repository(repository), ref, options);
  }

  async *reflog(repository: string, ref?: string): AsyncGenerator<readonly ReflogItem[]> {
    yield* reflogOf(await this.#repository(repository), ref);
  }

  async merge(
    repository: string,
    source: string,
    destination: string,
    options: MergeOptions,
  ): Promise<MergeResult> {
    return await mergeInto(await this.#repository(repository), { source, destination }, options);
  }

  async *previewMerge(
    repository: string,
    source: string,
    destination: string,
    options: Omit<MergeOptions, "committer"> = {},
  ): AsyncGenerator<readonly MergePreviewItem[]> {
    yield* previewMerge(await this.#repository(repository), { source, destination }, options);
  }

  async revert(repository: string, branch: string, ref: string, options: PickOptions): Promise<CommitInfo> {
    return commitInfo(await revertOn(await this.#repository(repository), { branch, ref }, options));
  }

  async cherryPick(
    repository: string,
    branch: string,
    ref: string,
    options: PickOptions,
  ): Promise<CommitInfo> {
    return commitInfo(await cherryPickOn(await this.#repository(repository), { branch, ref }, options));
  }

  async reset(
    repository: string,
    branch: string,
    what: { prefix?: string; path?: string },
    who: string,
  ): Promise<number> {
    return await resetBranch(await this.#repository(repository), branch, { ...what, who });
  }

  async hardReset(
    repository: string,
    branch: string,
    ref: string,
    who: string,
    options: { readonly keepsStaged?: boolean } = {},
  ): Promise<CommitInfo> {
    return commitInfo(await hardReset(await this.#repository(repository), branch, { ref, who, ...options }));
  }

  async committedFile(repository: string, kind: "range" | "meta_range", id: string): Promise<CommittedFile> {
    return await committedFile(await this.#repository(repository), kind, id);
  }

  async *check(repository: string, options?: CheckOptions): AsyncGenerator<Damage, CheckCounts> {
    return yield* checkRepository(await this.#repository(repository), options);
  }

  async writeSymlinks(repository: string, branch: string, path: string): Promise<string> {
    return await writeSymlinks(await this.#repository(repository), branch, path);
  }

  async costs(): Promise<StoreCosts> {
    const opened = await Promise.allSettled(this.#open.values());
    return sumOfCosts(opened.flatMap((one) => one.status === "fulfilled" ? [one.value.files.counts] : []));
  }

  async close(): Promise<void> {
    const opened = await Promise.allSettled(this.#open.values());
    for (const one of opened) {
      if (one.status !== "fulfilled") continue;
      await one.value.lateFlush.finish();
      await one.value.files.settled();
    }
    await this.#context.kv.close();
  }

  async #find(repository: Repository, ref: string, path: string): Promise<ValueRecord> {
    const { record } = await lookUp(repository, ref, pathKey(path));
    if (record) return record;
    throw objectNotFound({ ref, path });
  }

  /** Opens a repository; kept open by instance, so that a deleted and re-created one is another. */
  async #repository(name: string): Promise<Repository> {
    const record = await this.#repositories.get(name);
    const known = this.#open.get(record.instanceUid);
    if (known) return await known;
    const opening = this.#context.openObjects(record.storageNamespace)
      .then((objects) => new Repository(this.#context, record, objects));
    this.#open.set(record.instanceUid, opening);
    opening.catch(() => this.#open.delete(record.instanceUid));
    return await opening;
  }
}

function creation({ raggedness, ...rest }: NewRepository): CreateRepositoryOptions {
  return raggedness === undefined ? rest : { ...rest, chunking: { raggedness } };
}
