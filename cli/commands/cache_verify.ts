/** `cache verify`: hashing everything in the cache. */

import { type Damage, shownKey, verifyCache } from "../../cache/mod.ts";
import type { Context } from "../context.ts";
import { EXIT_NO, EXIT_OK } from "../exit_codes.ts";
import { counted, humanSize } from "../render/sizes.ts";

const PROBLEMS: Readonly<Record<Damage["problem"], string>> = {
  changed: "has other bytes",
  missing: "is missing",
  list_damaged: "has a damaged list",
};

export async function run({ catalogs, messages, output }: Context): Promise<number> {
  const cache = await catalogs.openCache();
  const damage: Damage[] = [];
  let files = 0, bytes = 0, busy = 0;
  for await (const found of verifyCache(cache.parts)) {
    files += found.files;
    bytes += found.bytes;
    damage.push(...found.damage);
    if (found.isBusy) busy++;
    messages.progress(() => `Verifying: ${counted(files, "file")}, ${humanSize(bytes)}`);
  }
  messages.endProgress();
  if (busy > 0) messages.warn(`Not looked at: ${counted(busy, "item")} being fetched`);
  const lines = damage.map(({ key, problem }) => `${output.shown(shownKey(key))} ${PROBLEMS[problem]}`);
  const verdict = damage.length === 0
    ? "nothing is damaged"
    : `${counted(damage.length, "item is", "items are")} damaged, and removed: they are fetched again`;
  output.result(
    {
      files,
      size_bytes: bytes,
      busy,
      damaged: damage.map(({ key, problem }) => ({ uri: shownKey(key), problem })),
    },
    [...lines, `Verified ${counted(files, "file")} (${humanSize(bytes)}): ${verdict}`].join("\n"),
  );
  return damage.length === 0 ? EXIT_OK : EXIT_NO;
}
