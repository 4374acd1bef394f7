/** Many writes to one branch: objects are stored as they come, then staged in batches. */

import { type Clock, timestampOf } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import type { ByteStream } from "../../drivers/object_store.ts";
import { checkMetadata, checkObjectText } from "../../drivers/object_text.ts";
import type {
  BranchWriter,
  CopyObjectOptions,
  CopySource,
  FileBody,
  NewMetadata,
  ObjectStats,
  PutObjectOptions,
  WriterOptions,
} from "../../drivers/store.ts";
import { decodeEntry, type Entry, pathKey, uploadObject, uploadObjects } from "../objects/mod.ts";
import type { Repository } from "../repository.ts";
import { type StagedWrite, stageWrites, tryAgain, type UnusedObject } from "./stage.ts";
import { WriteConditions } from "./conditions.ts";
import { disposeUnused } from "./dispose.ts";
import { type Condition, isSame, stageIf } from "./stage_if.ts";
import { flushObjects, stageInGroup } from "./stage_group.ts";
import { findBranch } from "./landing.ts";
import { refuseProtected } from "./protection.ts";
import { statsOfEntry, statsOfRecord } from "./stats.ts";
import { lookUp, objectNotFound } from "./view.ts";

/** Writes held before they are staged: each batch costs a flush of the file system, and about 2 KB of memory a write. */
const BATCH = 32_768;

/** How often others may change an object between the look at it and the change of its metadata. */
const MAX_METADATA_ATTEMPTS = 100;

export class EngineBranchWriter implements BranchWriter {
  readonly #repository: Repository;
  readonly #branch: string;
  readonly #isRelaxed: boolean;
  readonly #sharesFlushes: boolean;
  readonly #signal: AbortSignal | undefined;
  /** Uploads under way, and the addresses of objects that nothing refers to yet. */
  readonly #uploading = new Set<Promise<unknown>>();
  readonly #unstaged = new Set<string>();
  #abandoned: Promise<void> | undefined;
  #pending = new Map<string, StagedWrite>();
  #flushing: Promise<void> = Promise.resolve();
  #failure: unknown;

  private constructor(
    repository: Repository,
    branch: string,
    { durability = "strict", sharesFlushes = false, signal }: WriterOptions,
  ) {
    this.#repository = repository;
    this.#branch = branch;
    // What is far away is durable once it is there.
    this.#sharesFlushes = sharesFlushes;
    this.#signal = signal;
    this.#isRelaxed = durability === "relaxed" && !repository.objects.isFar;
  }

  /** Opens a writer. Fails with `branch_not_found`, `not_a_branch`, `branch_protected`. */
  static async open(
    repository: Repository,
    branch: string,
    options: WriterOptions = {},
  ): Promise<EngineBranchWriter> {
    await findBranch(repository, branch);
    await refuseProtected(repository, branch, "write to");
    return new EngineBranchWriter(repository, branch, options);
  }

  async put(
    path: string,
    body: Uint8Array | ByteStream,
    options: PutObjectOptions = {},
  ): Promise<ObjectStats> {
    const key = pathKey(path);
    if (options.isCarriedOver !== true) checkObjectText(options);
    const [entry] = await this.#upload(async () => [
      await uploadObject(this.#repository, body, { ...options, signal: this.#signal }),
    ]);
    const isRelaxed = this.#isRelaxed;
    const write = { key, entry: entry!, isFresh: true, isUnflushed: isRelaxed, isRelaxed };
    await this.#write(path, write, options);
    return statsOfEntry(this.#repository, path, entry!);
  }

  async putMany(
    files: readonly FileBody[],
    options: Pick<PutObjectOptions, "contentType" | "metadata"> = {},
  ): Promise<void> {
    const keys = files.map(({ path }) => pathKey(path));
    checkObjectText(options);
    const bodies = files.map(({ body }) => body);
    const entries = await this.#upload(() => uploadObjects(this.#repository, bodies, options));
    this.#throwIfFailed();
    const isRelaxed = this.#isRelaxed;
    files.forEach(({ path }, i) => {
      const write = { key: keys[i]!, entry: entries[i]!, isFresh: true, isUnflushed: isRelaxed, isRelaxed };
      this.#hold(path, write);
    });
    if (this.#pending.size >= BATCH) await this.flush();
  }

  async copy(path: string, source: CopySource, options: CopyObjectOptions = {}): Promise<ObjectStats> {
    const key = pathKey(path);
    const { record, view } = await lookUp(this.#repository, source.ref, pathKey(source.path));
    if (!record) throw objectNotFound(source);
    const stats = statsOfRecord(this.#repository, record);
    source.check?.(stats);
    checkObjectText({ contentType: options.contentType });
    const metadata = newMetadata(options.metadata, stats);
    const entry = copiedEntry(decodeEntry(record.data), { ...options, metadata }, this.#repository.clock);
    // What is only staged may be somebody's unflushed upload; a commit flushes it once more at little cost.
    const isUnflushed = view.tokens.length > 0;
    const write = { key, entry, isFresh: false, isUnflushed, isRelaxed: this.#isRelaxed };
    await this.#write(path, write, options);
    return statsOfEntry(this.#repository, path, entry);
  }

  async setMetadata(path: string, given: NewMetadata): Promise<ObjectStats> {
    const key = pathKey(path);
    if (typeof given !== "function") checkObjectText({ metadata: given });
    await this.flush();
    const source = { ref: this.#branch, path };
    for (let attempt = 0; attempt < MAX_METADATA_ATTEMPTS; attempt++) {
      const { record, view } = await lookUp(this.#repository, this.#branch, key);
      if (!record) throw objectNotFound(source);
      const metadata = newMetadata(given, statsOfRecord(this.#repository, record));
      const entry = { ...decodeEntry(record.data), metadata };
      const write = { key, entry, isFresh: false, isUnflushed: view.tokens.length > 0 };
      const condition: Condition = (shown) => isSame(shown, record);
      const outcome = await stageIf(this.#repository, this.#branch, { write, condition });
      if (outcome === "staged") return statsOfEntry(this.#repository, path, entry);
    }
    throw tryAgain(this.#branch);
  }

  async delete(path: string, options: Pick<PutObjectOptions, "ifMatch"> = {}): Promise<void> {
    const write = { key: pathKey(path), entry: undefined, isFresh: false, isUnflushed: false };
    await this.#write(path, { ...write, isRelaxed: this.#isRelaxed }, options);
  }

  flush(): Promise<void> {
    this.#flushing = this.#flushing.then(() => this.#stagePending());
    return this.#flushing;
  }

  async close(): Promise<void> {
    await this.flush();
  }

  abandon(): Promise<void> {
    this.#abandoned ??= this.#takeAway();
    return this.#abandoned;
  }

  async #takeAway(): Promise<void> {
    this.#failure = new CodedError("canceled", "canceled", "Canceled");
    await Promise.allSettled(this.#uploading);
    this.#pending = new Map();
    for (const address of this.#unstaged) {
      this.#unstaged.delete(address);
      // What cannot be taken away is in nobody's way.
      await this.#repository.objects.delete(address).catch(() => {});
    }
  }

  /** Stores objects, and remembers them as long as nothing refers to them. */
  async #upload(start: () => Promise<readonly Entry[]>): Promise<readonly Entry[]> {
    this.#throwIfFailed();
    const upload = start().then((entries) => {
      for (const { address } of entries) this.#unstaged.add(address);
      return entries;
    });
    this.#uploading.add(upload);
    try {
      return await upload;
    } finally {
      this.#uploading.delete(upload);
    }
  }

  /** Fails if the writer was abandoned; else its objects are no longer only its own: they may be referred to from now on. */
  #letGo(writes: readonly StagedWrite[]): void {
    this.#throwIfFailed();
    for (const { entry } of writes) if (entry) this.#unstaged.delete(entry.address);
  }

  async #write(
    path: string,
    write: StagedWrite,
    options: Pick<PutObjectOptions, "ifAbsent" | "ifMatch">,
  ): Promise<void> {
    const conditions = WriteConditions.of(path, options);
    if (conditions) await this.#putIf(write, conditions);
    else await this.#add(path, write);
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
    try {
      const unused = await this.#stage(writes);
      for (const object of unused) await disposeUnused(this.#repository, object);
      this.#flushLate(writes, new Set(unused.map(({ address }) => address)));
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  async #stage(writes: readonly StagedWrite[]): Promise<readonly UnusedObject[]> {
    if (writes.length === 1 && this.#sharesFlushes) {
      this.#letGo(writes);
      const unused = await stageInGroup(this.#repository, this.#branch, writes[0]!);
      return unused ? [unused] : [];
    }
    await flushObjects(this.#repository, writes);
    this.#letGo(writes);
    return await stageWrites(this.#repository, this.#branch, writes);
  }

  #flushLate(writes: readonly StagedWrite[], unused?: ReadonlySet<string>): void {
    if (!this.#isRelaxed) return;
    const addresses = writes.flatMap(({ entry, isFresh }) => entry && isFresh ? [entry.address] : []);
    this.#repository.lateFlush.add(addresses.filter((address) => !unused?.has(address)));
  }

  async #putIf(write: StagedWrite, conditions: WriteConditions): Promise<void> {
    await this.flush();
    await flushObjects(this.#repository, [write]);
    this.#letGo([write]);
    const condition: Condition = (shown) => conditions.hold(shown);
    const outcome = await stageIf(this.#repository, this.#branch, { write, condition });
    if (outcome === "staged") return this.#flushLate([write]);
    if (outcome === "refused" && write.isFresh) {
      await this.#repository.objects.delete(write.entry!.address);
    }
    throw conditions.refusal;
  }

  #throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}

/** Returns what an object's metadata is to be. Fails with `invalid_metadata`, `limit_exceeded`. */
function newMetadata(
  given: NewMetadata | undefined,
  stats: ObjectStats,
): Readonly<Record<string, string>> {
  if (given === undefined) return stats.metadata;
  const metadata = typeof given === "function" ? given(stats) : given;
  // What is made of it is partly its own, which may be older than the rule for it.
  if (typeof given === "function") checkMetadata(metadata);
  else checkObjectText({ metadata });
  return metadata;
}

interface CopiedEntryOptions extends Pick<CopyObjectOptions, "contentType" | "isNew"> {
  readonly metadata: Readonly<Record<string, string>>;
}

function copiedEntry(source: Entry, options: CopiedEntryOptions, clock: Clock): Entry {
  const { metadata, contentType = source.contentType, isNew = false } = options;
  const lastModified = isNew ? timestampOf(clock.now()) : source.lastModified;
  return { ...source, metadata, contentType, lastModified };
}
