/** What a scan's options mean, worked out once for all drivers. */

import { afterPrefix, compareBytes, EMPTY_BYTES } from "../base/bytes.ts";
import { MAX_KEY_BYTES } from "../base/limits.ts";
import type { ScanOptions } from "./store.ts";

const DEFAULT_PAGE_ENTRIES = 1000;

/** A page also ends when its keys and values reach this many bytes: big values must not make big pages. */
export const PAGE_BYTES = 4 * 1024 * 1024;

/** Keys from `first` (inclusive) to `end` (exclusive, or without end). */
export interface ScanRange {
  readonly first: Uint8Array;
  readonly end: Uint8Array | undefined;
  readonly pageEntries: number;
}

/** Returns the range of keys that a scan visits, or `undefined` when no key can lie in it. */
export function scanRange(options: ScanOptions = {}): ScanRange | undefined {
  const { start = EMPTY_BYTES, prefix = EMPTY_BYTES, pageSize = DEFAULT_PAGE_ENTRIES } = options;
  const first = compareBytes(start, prefix) > 0 ? start : prefix;
  const end = afterPrefix(prefix);
  if (end && compareBytes(first, end) >= 0) return undefined;
  const pageEntries = Number.isFinite(pageSize) ? Math.max(1, Math.floor(pageSize)) : DEFAULT_PAGE_ENTRIES;
  // One byte more than any key can have sorts the same among keys as the whole would.
  return { first: first.slice(0, MAX_KEY_BYTES + 1), end, pageEntries };
}
