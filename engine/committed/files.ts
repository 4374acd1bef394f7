/**
 * Range and metarange files in the storage namespace: `_lakefs/<id>`, immutable, named by content.
 *
 * One reader a file in flight; open readers are kept, the least recently used dropped.
 */

import { CodedError, isCoded } from "../../base/errors.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { type ByteSource, TableReader } from "../sstable/mod.ts";
import { isFileId } from "./ids.ts";

const MAX_OPEN_READERS = 64;

export class TableFiles {
  readonly #objects: ObjectStore;
  readonly #open = new Map<string, Promise<TableReader>>();

  constructor(objects: ObjectStore) {
    this.#objects = objects;
  }

  /** Opens a table. Fails with `corrupt_file` when it is missing or damaged. */
  open(id: string): Promise<TableReader> {
    const known = this.#open.get(id);
    if (known) {
      this.#open.delete(id);
      this.#open.set(id, known);
      return known;
    }
    const opening = this.#openFile(id);
    this.#open.set(id, opening);
    opening.catch(() => this.#open.delete(id));
    if (this.#open.size > MAX_OPEN_READERS) this.#open.delete(this.#open.keys().next().value!);
    return opening;
  }

  /**
   * Stores a table under its ID unless a sound one is there already. An existing file that does not verify is written
   * again: it may be what a crash left of somebody's write.
   */
  async write(id: string, bytes: Uint8Array): Promise<void> {
    try {
      await this.#objects.put(fileKey(id), bytes, { mode: "if_absent" });
    } catch (error) {
      if (!isCoded(error, "object_exists")) throw error;
      if (await this.#isSound(id)) return;
      this.#open.delete(id);
      await this.#objects.put(fileKey(id), bytes, { mode: "replace" });
    }
  }

  /** Makes tables survive power loss, whoever wrote them. */
  async flush(ids: readonly string[]): Promise<void> {
    if (ids.length > 0) await this.#objects.flush(ids.map(fileKey));
  }

  /** Returns whether the table exists and every checksum in it holds. */
  async #isSound(id: string): Promise<boolean> {
    try {
      const reader = await this.#openFile(id);
      await reader.verify();
      return true;
    } catch (error) {
      if (isCoded(error) && error.kind === "corrupt") return false;
      throw error;
    }
  }

  async #openFile(id: string): Promise<TableReader> {
    if (!isFileId(id)) {
      throw new CodedError("corrupt", "corrupt_file", `Cannot open table "${id}": it is no valid ID`);
    }
    const key = fileKey(id);
    const info = await this.#objects.head(key);
    if (!info) {
      throw new CodedError("corrupt", "missing_file", `Cannot open table "${key}": the file is missing`, {
        details: { file: key },
      });
    }
    return TableReader.open(objectSource(this.#objects, key, info.sizeBytes));
  }
}

function fileKey(id: string): string {
  return `_lakefs/${id}`;
}

function objectSource(objects: ObjectStore, key: string, sizeBytes: number): ByteSource {
  return { name: key, sizeBytes, read: (offset, length) => objects.read(key, offset, length) };
}
