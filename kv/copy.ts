/**
 * Copies one store into another, empty one, and compares them.
 *
 * Both passes walk the two stores side by side, key by key in byte order. The first one writes what differs, so a copy that
 * was broken off is taken up by running it again: what is there already is read and left. The second one writes nothing; a
 * difference that it finds means that somebody wrote to one of the stores meanwhile. Until it has found none the target is
 * marked as unfinished (`unfinished.ts`).
 *
 * It is a loop over everything, since everything is to be copied; memory holds some pages, and the names of the partitions.
 */

import { compareBytes, equalBytes, hex } from "../base/bytes.ts";
import { CodedError } from "../base/errors.ts";
import { PAGE_BYTES } from "./scan_range.ts";
import type { KvEntry, KvStore, ListedKvStore } from "./store.ts";
import { MARK_KEY, MARK_PARTITION, refuseUnfinished } from "./unfinished.ts";

const WRITE_ENTRIES = 1000;

export interface KvCounts {
  partitions: number;
  entries: number;
  /** Of keys and values. */
  bytes: number;
}

export interface CopyOptions {
  /** Told as it goes on, of what was gone through in a pass so far. */
  readonly onProgress?: (pass: "copying" | "comparing", done: Readonly<KvCounts>) => void;
}

/**
 * Copies all of `from` to `to`, and returns how much the second pass has found to be the same in both.
 *
 * Fails with `kv_not_empty`, `kv_changed` (somebody wrote meanwhile; run again), `kv_unfinished` (`from` is half a copy).
 */
export async function copyKv(
  from: ListedKvStore,
  to: ListedKvStore,
  { onProgress }: CopyOptions = {},
): Promise<KvCounts> {
  await refuseUnfinished(from);
  await markTarget(to);
  await walkAll(from, to, { onDifferent: write(to), onPage: (done) => onProgress?.("copying", done) });
  let differences = 0;
  const counts = await walkAll(from, to, {
    onDifferent: async (_, { puts, deletes }) => void (differences += puts.length + deletes.length),
    onPage: (done) => onProgress?.("comparing", done),
  });
  if (differences > 0) {
    throw new CodedError(
      "conflict",
      "kv_changed",
      `Cannot finish the copy: ${differences} entries differ, so one of the stores was written to meanwhile`,
      { details: { differences } },
    );
  }
  await to.delete(MARK_PARTITION, MARK_KEY);
  return counts;
}

/** Marks an empty target; one that is marked already was left by a copy that is taken up now. */
async function markTarget(to: ListedKvStore): Promise<void> {
  if (await to.get(MARK_PARTITION, MARK_KEY)) return;
  for await (const _ of to.partitions()) {
    throw new CodedError("exists", "kv_not_empty", "Cannot copy into a key-value store that is not empty");
  }
  await to.set(MARK_PARTITION, MARK_KEY, new Uint8Array(0));
}

interface Difference {
  /** What the target lacks, or holds otherwise. */
  readonly puts: readonly KvEntry[];
  /** What the target holds, and the source does not. */
  readonly deletes: readonly Uint8Array[];
}

type OnDifferent = (partition: Uint8Array, difference: Difference) => Promise<void>;

interface WalkOptions {
  readonly onDifferent: OnDifferent;
  readonly onPage: (done: Readonly<KvCounts>) => void;
}

function write(to: KvStore): OnDifferent {
  return async (partition, { puts, deletes }) => {
    if (puts.length > 0) await to.setMany(partition, puts);
    if (deletes.length > 0) await to.deleteMany(partition, deletes);
  };
}

/** Goes through all partitions of both stores; returns what the source holds. */
async function walkAll(from: ListedKvStore, to: ListedKvStore, options: WalkOptions): Promise<KvCounts> {
  const counts: KvCounts = { partitions: 0, entries: 0, bytes: 0 };
  const seen = new Set([hex(MARK_PARTITION)]);
  for (const store of [from, to]) {
    for await (const partition of store.partitions()) {
      const name = hex(partition);
      if (seen.has(name)) continue;
      seen.add(name);
      const before = counts.entries;
      await walk(partition, { from, to, counts, ...options });
      if (counts.entries > before) counts.partitions++;
    }
  }
  return counts;
}

async function walk(
  partition: Uint8Array,
  { from, to, counts, onDifferent, onPage }: WalkOptions & { from: KvStore; to: KvStore; counts: KvCounts },
): Promise<void> {
  const source = new Cursor(from.scan(partition)), target = new Cursor(to.scan(partition));
  let puts: KvEntry[] = [], deletes: Uint8Array[] = [], bytes = 0;
  for (;;) {
    if (source.isSpent) {
      await source.fill();
      onPage(counts);
    }
    if (target.isSpent) await target.fill();
    const ours = source.entry, theirs = target.entry;
    const isFull = puts.length + deletes.length >= WRITE_ENTRIES || bytes >= PAGE_BYTES;
    if (isFull || (!ours && !theirs)) {
      if (puts.length + deletes.length > 0) await onDifferent(partition, { puts, deletes });
      [puts, deletes, bytes] = [[], [], 0];
    }
    if (!ours && !theirs) return;
    const order = !ours ? 1 : !theirs ? -1 : compareBytes(ours.key, theirs.key);
    if (ours && order <= 0) {
      const size = ours.key.length + ours.value.length;
      counts.entries++;
      counts.bytes += size;
      if (order < 0 || !equalBytes(ours.value, theirs!.value)) {
        puts.push(ours);
        bytes += size;
      }
      source.next();
    }
    if (theirs && order >= 0) {
      if (order > 0) deletes.push(theirs.key);
      target.next();
    }
  }
}

/** Walks the entries of a scan, waiting once a page only. */
class Cursor {
  readonly #pages: AsyncIterator<readonly KvEntry[]>;
  #page: readonly KvEntry[] = [];
  #at = 0;
  #isOver = false;

  constructor(pages: AsyncIterable<readonly KvEntry[]>) {
    this.#pages = pages[Symbol.asyncIterator]();
  }

  /** Whether the next entry is not known yet. */
  get isSpent(): boolean {
    return !this.#isOver && this.#at >= this.#page.length;
  }

  get entry(): KvEntry | undefined {
    return this.#page[this.#at];
  }

  next(): void {
    this.#at++;
  }

  async fill(): Promise<void> {
    const { done, value } = await this.#pages.next();
    this.#isOver = done === true;
    this.#page = done ? [] : value;
    this.#at = 0;
  }
}
