/**
 * IDs of ranges and metaranges:
 * `valueRecordID = h(h(key) || h(identity))`, `fileID = h(valueRecordID1 || … || valueRecordIDN)`, h = SHA-256.
 */

import { hex } from "../../base/bytes.ts";
import { runningHash, sha256Into } from "../../base/hashes.ts";

export const RECORD_ID_BYTES = 32;
const BATCH = 256;

/** Hashes a file's records in key order into the file's ID. Three hashes a record, so all views are made beforehand. */
export class FileIdHasher {
  readonly #hash = runningHash("sha256");
  readonly #pair = new Uint8Array(2 * RECORD_ID_BYTES);
  readonly #keyHash = this.#pair.subarray(0, RECORD_ID_BYTES);
  readonly #identityHash = this.#pair.subarray(RECORD_ID_BYTES);
  readonly #ids = new Uint8Array(BATCH * RECORD_ID_BYTES);
  readonly #slots = Array.from(
    { length: BATCH },
    (_, i) => this.#ids.subarray(i * RECORD_ID_BYTES, (i + 1) * RECORD_ID_BYTES),
  );
  #pending = 0;

  add(key: Uint8Array, identity: Uint8Array): void {
    sha256Into(key, this.#keyHash);
    sha256Into(identity, this.#identityHash);
    sha256Into(this.#pair, this.#slots[this.#pending]!);
    if (++this.#pending === BATCH) this.#drain();
  }

  /** Returns the ID in lower-case hex; the hasher may not be used afterwards. */
  finish(): string {
    this.#drain();
    return hex(this.#hash.digest());
  }

  #drain(): void {
    this.#hash.update(this.#ids.subarray(0, this.#pending * RECORD_ID_BYTES));
    this.#pending = 0;
  }
}

/** Returns whether a text has the form of an ID, and so may name a file. */
export function isFileId(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
