/** Objects that were acknowledged before they were on disk, seen to by the commit that names them. */

import { lossyText } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { decodeEntry, type Entry } from "../objects/mod.ts";
import type { Repository } from "../repository.ts";
import type { StagedRecord } from "../staging/mod.ts";

/** The objects of staged records that say so. */
export class UnflushedObjects {
  readonly #found: { readonly key: Uint8Array; readonly entry: Entry }[] = [];

  /** Notes a record's object if it may not be on disk. */
  note({ key, record, isUnflushed }: StagedRecord): void {
    if (isUnflushed && record) this.#found.push({ key, entry: decodeEntry(record.data) });
  }

  /**
   * Makes them survive power loss. **Power may have been lost since they were written**, and have left a file without its
   * bytes: that is no content to commit. Fails with `checksum_mismatch`, naming the path.
   */
  async flush({ objects }: Repository): Promise<void> {
    if (this.#found.length === 0) return;
    for (const { key, entry } of this.#found) {
      if (entry.addressType !== 1) continue;
      if ((await objects.head(entry.address))?.sizeBytes !== entry.sizeBytes) {
        throw lost(lossyText(key), entry);
      }
    }
    await objects.flush(this.#found.map(({ entry }) => entry.address));
  }
}

function lost(path: string, { address }: Entry): CodedError {
  return new CodedError(
    "corrupt",
    "checksum_mismatch",
    `Cannot commit "${path}" ("${address}"): its bytes were lost before they were on disk`,
    { details: { path, address } },
  );
}
