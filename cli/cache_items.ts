/** What the cache commands say of what is cached. */

import { CodedError } from "../base/errors.ts";
import { compareKeys } from "../base/key_order.ts";
import { formatUri } from "../base/uri.ts";
import { type CacheItem, cacheItems, type LocalCache, shownKey } from "../cache/mod.ts";
import type { Catalogs } from "./catalogs.ts";
import type { ListForm, Output } from "./output.ts";
import { counted, humanSize } from "./render/sizes.ts";
import { timeColumn, utcTime } from "./render/times.ts";
import type { Field } from "./tables/fields.ts";

const FIELDS: readonly Field<CacheItem>[] = [
  { name: "uri", type: "text", of: ({ key }) => shownKey(key) },
  { name: "kind", type: "text", of: ({ kind }) => kind },
  { name: "size_bytes", type: "integer", of: ({ sizeBytes }) => sizeBytes },
  { name: "files", type: "integer", of: ({ count }) => count },
  { name: "version", type: "text", optional: true, of: ({ version }) => version },
  { name: "last_used", type: "time", optional: true, of: (item) => secondsOf(item) * 1000 },
  { name: "whole", type: "json", of: ({ isWhole }) => isWhole },
];

function secondsOf({ lastUsedMs }: CacheItem): number {
  return Math.floor(lastUsedMs / 1000);
}

export function itemJson(item: CacheItem): unknown {
  const { key, kind, sizeBytes, count, version, isWhole } = item;
  return {
    uri: shownKey(key),
    kind,
    size_bytes: sizeBytes,
    files: count,
    ...(version === undefined ? {} : { version }),
    last_used: secondsOf(item),
    whole: isWhole,
  };
}

/** Returns the form of a list of what is cached: `KIND\tSIZE\tFILES\tTIME\tURI` where nobody reads along. */
export function itemsForm(output: Output): ListForm<CacheItem> {
  return {
    json: itemJson,
    fields: FIELDS,
    line: (item) => {
      const { sizeBytes, count, lastUsedMs, key } = item;
      return [kindOf(item), sizeBytes, count, utcTime(lastUsedMs), shownKey(key)].join("\t");
    },
    table: [
      { forms: [kindOf] },
      { forms: [({ sizeBytes }) => humanSize(sizeBytes)], fill: "start" },
      { forms: [({ count }) => counted(count, "file"), () => ""], fill: "start" },
      timeColumn(({ lastUsedMs }) => lastUsedMs),
      { forms: [({ key }) => output.shown(shownKey(key))], color: () => "cyan", mayWrap: true },
    ],
  };
}

function kindOf({ kind, isWhole }: CacheItem): string {
  return isWhole ? kind : "unfinished";
}

/** Returns what is cached, in the order of its URIs. */
export async function sortedItems(cache: LocalCache): Promise<readonly CacheItem[]> {
  const items = await Array.fromAsync(cacheItems(cache.parts.layout));
  return items.sort((a, b) => compareKeys(shownKey(a.key), shownKey(b.key)));
}

/** Returns whether something cached is at or below one of the URIs, logical ones as what they lead to now. */
export async function isBelow(
  texts: readonly string[],
  catalogs: Catalogs,
): Promise<(item: CacheItem) => boolean> {
  const bounds: string[] = [];
  for (const text of texts) {
    const { uri } = await (await catalogs.open()).resolve(text);
    if (uri.at) {
      refuse(text, `"?at=${uri.at.kind}:" picks no part of the cache; "tarn cache ls" shows its URIs`);
    }
    bounds.push(formatUri(uri).replace(/\/+$/, ""));
  }
  return ({ key }) => {
    const uri = shownKey(key);
    return bounds.some((bound) => uri === bound || uri.startsWith(`${bound}/`));
  };
}

function refuse(text: string, why: string): never {
  throw new CodedError("invalid", "invalid_uri", `Cannot use "${text}": ${why}`, { details: { uri: text } });
}
