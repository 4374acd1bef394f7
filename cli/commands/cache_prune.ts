/** `cache prune`: removing from the cache. */

import { CodedError } from "../../base/errors.ts";
import { type CacheItem, type LocalCache, pruneCache, type PruneOptions } from "../../cache/mod.ts";
import { isBelow, itemJson } from "../cache_items.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { counted, humanSize, parseSize } from "../render/sizes.ts";

const DAY_MS = 24 * 60 * 60 * 1000;

export async function run(context: Context): Promise<number> {
  const { arguments: given, catalogs, messages, output } = context;
  const cache = await catalogs.openCache();
  const options = await optionsOf(context, cache);
  if (given.flag("all")) await messages.confirm(`remove everything from the cache in "${cache.root}"`);
  const { items, inUse, strayFiles, freedBytes } = await pruneCache(cache, options);
  if (inUse.length > 0) messages.warn(`Left alone: ${counted(inUse.length, "item")} in use`);
  const stray = strayFiles === 0 ? "" : `, and ${counted(strayFiles, "file")} that nothing was known of`;
  output.result(
    {
      removed: items.map(itemJson),
      in_use: inUse.map(itemJson),
      stray_files: strayFiles,
      freed_bytes: freedBytes,
    },
    `Removed ${counted(items.length, "item")}${stray}: ${humanSize(freedBytes)} freed`,
  );
  return EXIT_OK;
}

async function optionsOf(
  { arguments: given, catalogs }: Context,
  { maxBytes }: LocalCache,
): Promise<PruneOptions> {
  const uris = given.positionals;
  const days = given.count("unused-for", 0);
  const size = sizeOf(given.value("max-size"));
  const isChosen = uris.length > 0 || days !== undefined || size !== undefined;
  if (given.flag("all")) {
    if (isChosen) refuse(`"--all" removes everything; leave out the rest, or "--all"`);
    return {};
  }
  if (!isChosen) return maxBytes === undefined ? { matches: () => false } : { maxBytes };
  const matches: ((item: CacheItem) => boolean)[] = [];
  if (uris.length > 0) matches.push(await isBelow(uris, catalogs));
  if (days !== undefined) {
    const before = Date.now() - days * DAY_MS;
    matches.push(({ lastUsedMs }) => lastUsedMs <= before);
  }
  return {
    matches: (item) => matches.every((match) => match(item)),
    ...(size === undefined ? {} : { maxBytes: size }),
  };
}

function sizeOf(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  return parseSize(text) ?? refuse(`"--max-size" takes a size such as 5GB, not "${text}"`);
}

function refuse(why: string): never {
  throw new CodedError("invalid", "invalid_argument", `Cannot run "cache prune": ${why}`);
}
