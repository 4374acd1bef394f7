/**
 * Keeps a folder of cached files within a bound: what was not used for longest goes, whoever wrote it.
 *
 * There may be hundreds of thousands of files. So they are looked at twice, and what was seen of them is not kept: first only
 * the bytes of each second are added up. The calls take microseconds each, but on other threads would wait in turn behind
 * all that is there to do; they are made here, some at a time.
 */

import { lstatSync, type Stats, unlinkSync } from "node:fs";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers";

const CALLS_BETWEEN_BREAKS = 64;
const SECOND_MS = 1000;
const HOUR_MS = 60 * 60 * SECOND_MS;

/** What a name in the folder is: a cached file's, that of one being written, or a stranger's. */
export type FileKind = "cached" | "temporary" | undefined;

export interface EvictionOptions {
  readonly maxBytes: number;
  /** What about is left of more than `maxBytes`. */
  readonly keptBytes: number;
  /** Unix milliseconds. */
  readonly now: number;
  readonly kindOf: (name: string) => FileKind;
}

/**
 * Removes the files that were not used for longest, if the folder holds too much, and what killed processes left unfinished
 * more than an hour ago. Returns the bytes left.
 */
export async function evict(folder: string, options: EvictionOptions): Promise<number> {
  const usage = new Usage();
  for await (const { path, stats, kind } of filesIn(folder, options)) {
    if (kind === "cached") usage.add(stats);
    else if (stats.mtimeMs < options.now - HOUR_MS) remove(path);
    else usage.bytes += stats.size;
  }
  if (usage.bytes <= options.maxBytes) return usage.bytes;
  const { last, bytesOfLast } = usage.oldest(usage.bytes - options.keptBytes);
  let left = usage.bytes, leftOfLast = bytesOfLast;
  for await (const { path, stats, kind } of filesIn(folder, options)) {
    const second = secondOf(stats);
    if (kind !== "cached" || second > last || second === last && leftOfLast <= 0) continue;
    if (second === last) leftOfLast -= stats.size;
    left -= stats.size;
    remove(path);
  }
  return left;
}

/** How many bytes were last used when. */
class Usage {
  bytes = 0;
  readonly #bySecond = new Map<number, number>();

  add(stats: Stats): void {
    this.bytes += stats.size;
    const second = secondOf(stats);
    this.#bySecond.set(second, (this.#bySecond.get(second) ?? 0) + stats.size);
  }

  /** Returns up to which second all would have to go to make room for `bytes`, and how many bytes of that second. */
  oldest(bytes: number): { last: number; bytesOfLast: number } {
    let last = -Infinity, bytesOfLast = bytes;
    for (const second of [...this.#bySecond.keys()].sort((a, b) => a - b)) {
      last = second;
      const ofSecond = this.#bySecond.get(second)!;
      if (ofSecond >= bytesOfLast) break;
      bytesOfLast -= ofSecond;
    }
    return { last, bytesOfLast };
  }
}

interface FoundFile {
  readonly path: string;
  readonly stats: Stats;
  readonly kind: Exclude<FileKind, undefined>;
}

async function* filesIn(folder: string, { kindOf }: EvictionOptions): AsyncGenerator<FoundFile> {
  let calls = 0;
  for (const name of await readdir(folder)) {
    const kind = kindOf(name);
    if (!kind) continue;
    const path = join(folder, name), stats = lstatSync(path, { throwIfNoEntry: false });
    if (stats?.isFile()) yield { path, stats, kind };
    if (++calls % CALLS_BETWEEN_BREAKS === 0) await new Promise(setImmediate);
  }
}

function secondOf({ mtimeMs }: Stats): number {
  return Math.floor(mtimeMs / SECOND_MS);
}

/** Another process may be evicting the same file; either way it is gone. */
function remove(path: string): void {
  try {
    unlinkSync(path);
  } catch {
    // The next look counts it again.
  }
}
