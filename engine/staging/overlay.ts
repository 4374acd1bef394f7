/**
 * The staged changes of a branch: its staging token and sealed tokens laid over one another, newest on top.
 *
 *     staging token   b=2   d†         † tombstone
 *     sealed tokens   a=1 b=1   e=5
 *                     c=3 d=4
 *     staged          a=1 b=2 c=3 d† e=5
 */

import { afterKey, compareBytes, EMPTY_BYTES, utf8 } from "../../base/bytes.ts";
import type { KvEntry, KvStore } from "../../kv/store.ts";
import { BlockCollector, BlockCursor } from "../committed/mod.ts";
import { decodeStaged, type StagedRecord } from "./record.ts";

/** Returns the newest staged record of a key and the token that it is in, looking through tokens from the newest to the oldest. */
export async function lookUpStaged(
  kv: KvStore,
  tokens: readonly string[],
  key: Uint8Array,
): Promise<StagedRecord & { readonly token: string } | undefined> {
  for (const token of tokens) {
    const found = await kv.get(utf8(token), key);
    if (found) return { ...decodeStaged(key, found.value), token };
  }
  return undefined;
}

/** Yields the newest staged record of every key from `start` on, in key order. `tokens` are newest first. */
export async function* stagedRecords(
  kv: KvStore,
  tokens: readonly string[],
  start?: Uint8Array,
): AsyncGenerator<readonly StagedRecord[]> {
  if (tokens.length === 1) return yield* tokenRecords(kv, tokens[0]!, start);
  const layers = tokens.map((token) => new BlockCursor(tokenRecords(kv, token, start)));
  const collector = new BlockCollector<StagedRecord>();
  while (true) {
    let newest: StagedRecord | undefined;
    for (const layer of layers) {
      const record = layer.peek() ?? await layer.load();
      // Layers are looked at newest first, so of equal keys the first one seen stays.
      if (record && (!newest || compareBytes(record.key, newest.key) < 0)) newest = record;
    }
    if (!newest) break;
    for (const layer of layers) {
      const record = layer.peek();
      if (record && compareBytes(record.key, newest.key) === 0) layer.advance();
    }
    const block = collector.add(newest);
    if (block) yield block;
  }
  yield collector.take();
}

/** Returns whether a token holds no record at all. */
export async function isTokenEmpty(kv: KvStore, token: string): Promise<boolean> {
  for await (const page of kv.scan(utf8(token), { pageSize: 1 })) if (page.length > 0) return false;
  return true;
}

/** Who leaps through a token needs a record or two behind each leap; later pages are as large as any. */
const FIRST_PAGES = [4, 64];

async function* tokenRecords(
  kv: KvStore,
  token: string,
  start: Uint8Array = EMPTY_BYTES,
): AsyncGenerator<readonly StagedRecord[]> {
  const partition = utf8(token);
  for (const pageSize of FIRST_PAGES) {
    let first: readonly KvEntry[] = [];
    for await (first of kv.scan(partition, { start, pageSize })) break;
    if (first.length === 0) return;
    yield decodePage(first);
    start = afterKey(first.at(-1)!.key);
  }
  for await (const page of kv.scan(partition, { start })) yield decodePage(page);
}

function decodePage(page: readonly KvEntry[]): StagedRecord[] {
  return page.map(({ key, value }) => decodeStaged(key, value));
}
