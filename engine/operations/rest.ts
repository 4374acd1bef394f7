/** What stays staged when only a part of a branch's staged changes is committed or dropped. */

import { utf8 } from "../../base/bytes.ts";
import type { Repository } from "../repository.ts";
import { encodeStaged, stagedRecords } from "../staging/mod.ts";
import type { Sample } from "./landing.ts";

/**
 * Writes the sampled records whose keys stay, as they are, to a fresh token: durable when it returns. Returns the token, or
 * `undefined` when no record stays.
 *
 * The caller lands it as `rest`, in the same compare-and-set that drops the sampled tokens. Written later it could be lost
 * with the process; written to the branch's current token it would lie over newer changes of the same paths.
 */
export async function copyRest(
  repository: Repository,
  sample: Sample,
  stays: (key: Uint8Array) => boolean,
): Promise<string | undefined> {
  const token = repository.newToken();
  let isUsed = false;
  for await (const block of stagedRecords(repository.kv, sample.tokens)) {
    const kept = block.filter(({ key }) => stays(key));
    if (kept.length === 0) continue;
    isUsed = true;
    const entries = kept.map((record) => ({ key: record.key, value: encodeStaged(record) }));
    await repository.kv.setMany(utf8(token), entries);
  }
  return isUsed ? token : undefined;
}
