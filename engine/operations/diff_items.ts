/** Differences as the store contract shows them: folded at a delimiter, from a mark on, cut at an amount. */

import { afterPrefix, lossyText, utf8 } from "../../base/bytes.ts";
import type { ChangeType, DiffItem, DiffOptions } from "../../drivers/store.ts";
import { BlockCollector, type KeyBounds, type RecordChange } from "../committed/mod.ts";
import type { Repository } from "../repository.ts";
import { fold, startKey } from "./list.ts";
import { SeekCursor } from "./seek_cursor.ts";
import { statsOfRecord } from "./stats.ts";

/** A change that may be one that both sides made, and differently. */
export interface ShownChange extends RecordChange {
  readonly isConflict?: boolean;
}

/**
 * Yields changes as items. `open` gives those within some bounds, in key order: it is called anew to get past what a folded
 * prefix holds, so a page costs what it shows, not what it folds.
 */
export async function* diffItems(
  repository: Repository,
  open: (within: KeyBounds) => AsyncIterable<readonly ShownChange[]>,
  options: DiffOptions,
): AsyncGenerator<readonly DiffItem[]> {
  const prefix = utf8(options.prefix ?? ""), delimiter = utf8(options.delimiter ?? "");
  const start = startKey(prefix, delimiter, options.after);
  if (!start) return;
  const end = afterPrefix(prefix);
  const changes = new SeekCursor((from) => open({ start: from, ...(end ? { end } : {}) }), start);
  const collector = new BlockCollector<DiffItem>();
  try {
    for (let left = options.amount ?? Infinity; left > 0; left--) {
      const change = changes.peek() ?? await changes.load();
      if (!change) break;
      const folded = fold(change.key, prefix, delimiter);
      const block = collector.add(folded ? foldedItem(folded) : diffItem(repository, change));
      if (block) yield block;
      if (!folded) changes.advance();
      else {
        const next = afterPrefix(folded);
        if (!next) break;
        changes.seek(next);
      }
    }
    const rest = collector.take();
    if (rest.length > 0) yield rest;
  } finally {
    await changes.close();
  }
}

/** Whatever is inside, the prefix as a whole has changed. */
function foldedItem(folded: Uint8Array): DiffItem {
  return { type: "changed", path: lossyText(folded), pathType: "common_prefix", sizeBytes: 0 };
}

function diffItem(repository: Repository, change: ShownChange): DiffItem {
  const left = change.left && statsOfRecord(repository, change.left);
  const right = change.right && statsOfRecord(repository, change.right);
  const type: ChangeType = change.isConflict ? "conflict" : !left ? "added" : !right ? "removed" : "changed";
  return {
    type,
    path: lossyText(change.key),
    pathType: "object",
    sizeBytes: (right ?? left)?.sizeBytes ?? 0,
    ...(left ? { left } : {}),
    ...(right ? { right } : {}),
  };
}
