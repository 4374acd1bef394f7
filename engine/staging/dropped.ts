/**
 * Staging tokens that a commit or reset has dropped from a branch.
 *
 * A reader may still be on its way through one, so its records stay for longer than any read may take; then a later
 * commit deletes them. Kept as `dropped/<time>/<token>` in the repository's partition.
 */

import { lossyText, utf8 } from "../../base/bytes.ts";
import type { Clock } from "../../base/clock.ts";
import type { KvStore } from "../../kv/store.ts";

const PREFIX = "dropped/";
/** Bounds the clean-up that one commit does for its forerunners: pages of records. */
const MAX_PAGES_A_TURN = 2;

/** How long a listing may run before it must look whether its tokens were dropped. */
export const MAX_READ_MS = 10 * 60 * 1000;
/** Longer than any read may take, so that a clock of two reads is never in doubt. */
const KEEP_MS = MAX_READ_MS + 60 * 1000;

/** Remembers tokens that no branch lists any more. */
export async function recordDropped(
  kv: KvStore,
  partition: Uint8Array,
  { tokens, clock }: { tokens: readonly string[]; clock: Clock },
): Promise<void> {
  if (tokens.length === 0) return;
  const time = String(Math.floor(clock.now())).padStart(15, "0");
  const entries = tokens.map((token) => ({ key: utf8(`${PREFIX}${time}/${token}`), value: utf8(token) }));
  await kv.setMany(partition, entries);
}

/** Deletes some records of tokens that were dropped long enough ago; what is left is for later commits. */
export async function cleanDropped(kv: KvStore, partition: Uint8Array, clock: Clock): Promise<void> {
  let pagesLeft = MAX_PAGES_A_TURN;
  for await (const page of kv.scan(partition, { prefix: utf8(PREFIX), pageSize: MAX_PAGES_A_TURN })) {
    for (const { key, value } of page) {
      const droppedAt = Number(lossyText(key).slice(PREFIX.length).split("/")[0]);
      if (droppedAt + KEEP_MS > clock.now()) return;
      pagesLeft = await deleteRecords(kv, value, pagesLeft);
      if (pagesLeft === 0) return;
      await kv.delete(partition, key);
    }
  }
}

/** Deletes pages of a token's records while any may be; returns how many may still be: 0 when records may be left. */
async function deleteRecords(kv: KvStore, token: Uint8Array, pagesLeft: number): Promise<number> {
  for await (const page of kv.scan(token)) {
    if (pagesLeft === 0) return 0;
    await kv.deleteMany(token, page.map(({ key }) => key));
    pagesLeft--;
  }
  return pagesLeft;
}
