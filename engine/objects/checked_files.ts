/**
 * Large objects as the local files that they lie in, so that a server can have the system send them.
 *
 * A file is handed out only when its bytes were compared with the entry's checksum: as they were stored, or by a pass over
 * the file before it is first sent. It counts as long as it is the same file that nobody has touched since, by what the
 * system says of it. A part of an object is not checked, here as elsewhere.
 */

import type { ByteRange, LocalFile, ObjectStore } from "../../drivers/object_store.ts";
import type { LocalPart } from "../../drivers/store.ts";
import { addressKey, downloadObject } from "./download.ts";
import type { Entry } from "./entry.ts";

/** Larger objects would keep who asks waiting: they are checked while they are sent. */
const MAX_CHECKED_FIRST_BYTES = 1024 ** 3;
const MAX_REMEMBERED = 10_000;

export interface CheckedFileOptions {
  readonly path: string;
  readonly range?: ByteRange;
  readonly signal?: AbortSignal;
}

export class CheckedFiles {
  readonly #objects: ObjectStore;
  /** By address: what the system said of the file when its bytes were right. */
  readonly #right = new Map<string, string>();
  readonly #checking = new Map<string, Promise<void>>();

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  /** Notes that the bytes of an object are those of its entry: they were hashed on their way to it. */
  async storedRight(address: string): Promise<void> {
    const file = await this.#objects.localFile?.(address);
    if (file) this.#remember(address, file);
  }

  /** Returns where an object lies, checked; `undefined` when it has to be read. Fails with `checksum_mismatch`. */
  async find(entry: Entry, { range, ...options }: CheckedFileOptions): Promise<LocalPart | undefined> {
    const key = addressKey(this.#objects, entry);
    const file = await this.#objects.localFile?.(key);
    // Of a missing or short one the reading tells.
    if (file?.sizeBytes !== entry.sizeBytes) return undefined;
    if (range) {
      const end = Math.min(range.end ?? Infinity, entry.sizeBytes - 1);
      return { path: file.path, start: range.start, length: end - range.start + 1 };
    }
    if (this.#right.get(key) !== file.identity) {
      if (entry.sizeBytes > MAX_CHECKED_FIRST_BYTES) return undefined;
      await this.#check(key, entry, options);
      // It may have been another one by then; who asks again is told.
      if (this.#right.get(key) !== file.identity) return undefined;
    }
    return { path: file.path, start: 0, length: entry.sizeBytes };
  }

  /** One pass for all who ask meanwhile. */
  async #check(key: string, entry: Entry, options: CheckedFileOptions): Promise<void> {
    const running = this.#checking.get(key);
    if (running) return await running;
    // Not by the signal of one of several.
    const checking = this.#readWhole(key, entry, options.path).finally(() => this.#checking.delete(key));
    this.#checking.set(key, checking);
    await checking;
  }

  async #readWhole(key: string, entry: Entry, path: string): Promise<void> {
    const before = await this.#objects.localFile?.(key);
    for await (const _ of await downloadObject(this.#objects, entry, { path }));
    const after = await this.#objects.localFile?.(key);
    if (before && after && before.identity === after.identity) this.#remember(key, after);
  }

  #remember(key: string, { identity }: LocalFile): void {
    if (this.#right.size >= MAX_REMEMBERED) this.#right.delete(this.#right.keys().next().value!);
    this.#right.set(key, identity);
  }
}
