/** The objects that a range names, seen to before a commit takes over a range that somebody else wrote. */

import { isCoded } from "../../base/errors.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { decodeRecord } from "../committed/record.ts";
import type { TableReader } from "../sstable/mod.ts";
import { decodeEntry } from "./entry.ts";

const FLUSHED_AT_ONCE = 4096;

/**
 * Makes the objects that a range names survive power loss. Returns false when one of them is not whole: then nothing may be
 * built on the range.
 *
 * **Whoever wrote the range may have been killed before flushing them**, or power loss may have taken them. Who made the same
 * range of other objects, whose contents are the same, has flushed only those.
 */
export async function flushNamed(objects: ObjectStore, range: TableReader): Promise<boolean> {
  // What is far away is durable once it is there; nothing is put into a range before that.
  if (objects.isFar) return true;
  let addresses: string[] = [];
  try {
    for await (const block of range.blocks()) {
      for (const { key, value } of block) {
        const { address, addressType, sizeBytes } = decodeEntry(decodeRecord(key, value, "").data);
        if (addressType !== 1) continue;
        if ((await objects.head(address))?.sizeBytes !== sizeBytes) return false;
        addresses.push(address);
      }
      if (addresses.length < FLUSHED_AT_ONCE) continue;
      await objects.flush(addresses);
      addresses = [];
    }
    await objects.flush(addresses);
    return true;
  } catch (error) {
    if (isCoded(error) && (error.kind === "corrupt" || error.kind === "not_found")) return false;
    throw error;
  }
}
