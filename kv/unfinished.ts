/**
 * The mark that a copy leaves in the store that it fills, from before the first entry until all is compared: half a store
 * looks like a whole one with fewer repositories.
 */

import { utf8 } from "../base/bytes.ts";
import { CodedError } from "../base/errors.ts";
import type { KvStore } from "./store.ts";

/** No partition of the engine's has such a name. */
export const MARK_PARTITION: Uint8Array = utf8("\0tarn copy");
export const MARK_KEY: Uint8Array = utf8("unfinished");

/** Fails with `kv_unfinished` when the store was being filled by a copy that has not ended. */
export async function refuseUnfinished(store: KvStore): Promise<void> {
  if (!await store.get(MARK_PARTITION, MARK_KEY)) return;
  throw new CodedError(
    "conflict",
    "kv_unfinished",
    "Cannot use the key-value store: it is being copied into, or a copy into it was broken off",
  );
}
