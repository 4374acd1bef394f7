/** Listing what a ref shows, with delimiter and paging: merged lazily, folded prefixes seeked past. */

import {
  afterKey,
  afterPrefix,
  compareBytes,
  concatBytes,
  EMPTY_BYTES,
  indexOfBytes,
  startsWithBytes,
  utf8,
} from "../../base/bytes.ts";
import { BlockCollector, type ValueRecord } from "../committed/mod.ts";
import type { Repository } from "../repository.ts";
import type { View } from "./view.ts";
import { ViewCursor } from "./view_cursor.ts";

export interface ListOptions {
  readonly prefix?: string;
  readonly delimiter?: string;
  readonly after?: string;
  readonly amount?: number;
}

/** A record, or a folded prefix that ends in the delimiter. */
export type Listed = { readonly record: ValueRecord } | { readonly prefix: Uint8Array };

export async function* listView(
  repository: Repository,
  view: View,
  options: ListOptions = {},
): AsyncGenerator<readonly Listed[]> {
  const prefix = utf8(options.prefix ?? ""), delimiter = utf8(options.delimiter ?? "");
  const collector = new BlockCollector<Listed>();
  const start = startKey(prefix, delimiter, options.after);
  if (!start) return;
  const records = new ViewCursor(repository, view, start);
  try {
    for (let left = options.amount ?? Infinity; left > 0; left--) {
      const record = records.peek() ?? await records.load();
      if (!record || !startsWithBytes(record.key, prefix)) break;
      const folded = fold(record.key, prefix, delimiter);
      const block = collector.add(folded ? { prefix: folded } : { record });
      if (block) {
        await records.checkWhole();
        yield block;
      }
      if (!folded) records.advance();
      else {
        const next = afterPrefix(folded);
        if (!next) break;
        records.seek(next);
      }
    }
    await records.checkWhole();
    yield collector.take();
  } finally {
    await records.close();
  }
}

/** Returns where the listing begins, or `undefined` when `after` leaves nothing. */
export function startKey(
  prefix: Uint8Array,
  delimiter: Uint8Array,
  after: string | undefined,
): Uint8Array | undefined {
  if (after === undefined) return prefix;
  const mark = utf8(after);
  if (compareBytes(mark, prefix) < 0) return prefix;
  // A mark within a folded prefix, or the prefix itself, has all that it folds behind it: the prefix sorts before the mark.
  const folded = startsWithBytes(mark, prefix) ? fold(mark, prefix, delimiter) : undefined;
  return folded ? afterPrefix(folded) : afterKey(mark);
}

/** Returns the common prefix that a key is folded into, or `undefined` when it stands for itself. */
export function fold(key: Uint8Array, prefix: Uint8Array, delimiter: Uint8Array): Uint8Array | undefined {
  const at = indexOfBytes(key, delimiter, prefix.length);
  return at < 0
    ? undefined
    : concatBytes(key.subarray(0, at), delimiter.length > 0 ? delimiter : EMPTY_BYTES);
}
