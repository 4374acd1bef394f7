/** Many writes to one branch: objects are stored as they come, then staged in batches. */

import { CodedError } from "../../base/errors.ts";
import type { ByteStream } from "../../drivers/object_store.ts";
import type { BranchWriter, FileBody, ObjectStats, PutObjectOptions } from "../../drivers/store.ts";
import {
  checkObjectMetadata,
  decodeEntry,
  type Entry,
  pathKey,
  uploadObject,
  uploadObjects,
} from "../objects/mod.ts";
import type { Repository } from "../repository.ts";
import { type StagedWrite, stageIfAbsent, stageWrites } from "./stage.ts";
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
    if (options.ifAbsent) await this.#putIfAbsent(key, entry);
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
      const { unused } = await stageWrites(this.#repository, this.#branch, writes);
      for (const address of unused) await objects.delete(address);
    } catch (error) {
      this.#failure = error;
      throw error;
    }
  }

  async #putIfAbsent(key: Uint8Array, entry: Entry): Promise<void> {
    await this.flush();
    await this.#repository.objects.flush([entry.address]);
    try {
      await stageIfAbsent(this.#repository, this.#branch, { key, entry, isFresh: true, isUnflushed: false });
    } catch (error) {
      // Refused before it was ever staged: nothing refers to the object, it is only garbage now.
      if (error instanceof CodedError && error.code === "object_exists") {
        await this.#repository.objects.delete(entry.address);
      }
      throw error;
    }
  }

  #throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}
