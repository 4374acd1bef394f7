/** Many writes to one branch: objects are stored as they come, then staged in batches. */

import { CodedError, isCoded } from "../../base/errors.ts";
import type { ByteStream, ObjectStore } from "../../drivers/object_store.ts";
import type { BranchWriter, FileBody, ObjectStats, PutObjectOptions } from "../../drivers/store.ts";
import {
  checkObjectMetadata,
  decodeEntry,
  downloadObject,
  type Entry,
  pathKey,
  uploadObject,
  uploadObjects,
} from "../objects/mod.ts";
import type { Repository } from "../repository.ts";
import { type StagedWrite, stageIfAbsent, stageWrites, type UnusedObject } from "./stage.ts";
import { findBranch } from "./landing.ts";
import { statsOfEntry } from "./stats.ts";
import { lookUp, objectNotFound } from "./view.ts";

/** Writes held before they are staged: each batch costs a flush of the file system, and about 2 KB of memory a write. */
const BATCH = 32_768;

export class EngineBranchWriter implements BranchWriter {
  readonly #repository: Repository;
  readonly #branch: string;
  #pending = new Map<string, StagedWrite>();
  #flushing: Promise<void> = Promise.resolve();
  #failure: unknown;

  private constructor(repository: Repository, branch: string) {
    this.#repository = repository;
    this.#branch = branch;
  }

  /** Opens a writer. Fails with `branch_not_found`, `not_a_branch`. */
  static async open(repository: Repository, branch: string): Promise<EngineBranchWriter> {
    await findBranch(repository, branch);
    return new EngineBranchWriter(repository, branch);
  }

  async put(
    path: string,
    body: Uint8Array | ByteStream,
    options: PutObjectOptions = {},
  ): Promise<ObjectStats> {
    const key = pathKey(path);
    checkObjectMetadata(options.metadata ?? {});
    const entry = await uploadObject(this.#repository, body, options);
    if (options.ifAbsent) await this.#putIfAbsent(path, { key, entry, isFresh: true, isUnflushed: false });
    else await this.#add(path, { key, entry, isFresh: true, isUnflushed: false });
    return statsOfEntry(this.#repository, path, entry);
  }

  async putMany(
    files: readonly FileBody[],
    options: Omit<PutObjectOptions, "ifAbsent"> = {},
  ): Promise<void> {
    const keys = files.map(({ path }) => pathKey(path));
    checkObjectMetadata(options.metadata ?? {});
    const entries = await uploadObjects(this.#repository, files.map(({ body }) => body), options);
    this.#throwIfFailed();
    files.forEach(({ path }, i) => {
      this.#hold(path, { key: keys[i]!, entry: entries[i]!, isFresh: true, isUnflushed: false });
    });
    if (this.#pending.size >= BATCH) await this.flush();
  }

  async copy(path: string, source: { readonly ref: string; readonly path: string }): Promise<ObjectStats> {
    const key = pathKey(path);
    const { record, view } = await lookUp(this.#repository, source.ref, pathKey(source.path));
    if (!record) throw objectNotFound(source);
    const entry = decodeEntry(record.data);
    // What is only staged may be somebody's unflushed upload; a commit flushes it once more at little cost.
    await this.#add(path, { key, entry, isFresh: false, isUnflushed: view.tokens.length > 0 });
    return statsOfEntry(this.#repository, path, entry);
  }

  async delete(path: string): Promise<void> {
    await this.#add(path, { key: pathKey(path), entry: undefined, isFresh: false, isUnflushed: false });
  }

  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#stagePending());
    return this.#flushing;
  }

  async close(): Promise<void> {
    await this.flush();
  }

  async #add(path: string, write: StagedWrite): Promise<void> {
    this.#throwIfFailed();
    this.#hold(path, write);
    if (this.#pending.size >= BATCH) await this.flush();
  }

  #hold(path: string, write: StagedWrite): void {
    // Put in anew, so that of two writes of one path the later one counts.
    this.#pending.delete(path);
    this.#pending.set(path, write);
  }

  async #stagePending(): Promise<void> {
    this.#throwIfFailed();
    const writes = [...this.#pending.values()];
    this.#pending = new Map();
    if (writes.length === 0) return;
    const { objects } = this.#repository;
    try {
      await objects.flush(writes.flatMap(({ entry, isFresh }) => entry && isFresh ? [entry.address] : []));
      const unused = await stageWrites(this.#repository, this.#branch, writes);
      for (const object of unused) await this.#dispose(object);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  /**
   * Deletes an object that repeats committed content. If the committed object itself is missing or damaged, its bytes are
   * first put back in its place: they were just given, and no other way leads to them.
   */
  async #dispose({ address, kept }: UnusedObject): Promise<void> {
    const { objects } = this.#repository;
    if (kept.addressType === 1 && !(await isWhole(objects, kept))) {
      const { body } = await objects.get(address);
      await objects.put(kept.address, body, { mode: "replace" });
      await objects.flush([kept.address]);
    }
    await objects.delete(address);
  }

  async #putIfAbsent(path: string, write: StagedWrite): Promise<void> {
    await this.flush();
    const { objects } = this.#repository;
    const { address } = write.entry!;
    await objects.flush([address]);
    const outcome = await stageIfAbsent(this.#repository, this.#branch, write);
    if (outcome === "staged") return;
    if (outcome === "exists") await objects.delete(address);
    throw new CodedError("exists", "object_exists", `Cannot write "${path}": it exists`, {
      details: { path },
    });
  }

  #throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** Whether an entry's object is there with the bytes that the entry speaks of. */
async function isWhole(objects: ObjectStore, entry: Entry): Promise<boolean> {
  try {
    for await (const _ of await downloadObject(objects, entry));
    return true;
  } catch (error) {
    if (isCoded(error) && error.kind === "corrupt") return false;
    throw error;
  }
}
