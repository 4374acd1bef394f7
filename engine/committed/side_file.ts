/**
 * How the side of a range is kept.
 *
 *     magic (uint32), bytes of a row (uint32), range ID (32), what binds it to the range's file: size (float64), index
 *     checksum (uint32), raggedness (uint32)
 *     CRC-32 of the record IDs (uint32)
 *     the range whose record IDs are the base of these (32), how many runs there are (uint32), how many new IDs (uint32): all
 *     0 where the IDs are kept whole
 *     the rows of the block table; the runs (8 each), the new IDs (32 each); SHA-256 of all before
 *
 * Numbers are in the machine's own order.
 */

import { EMPTY_BYTES, equalBytes, fromHex, hex } from "../../base/bytes.ts";
import { sha256 } from "../../base/hashes.ts";
import { BLOCK_ROW_BYTES, BlockTable } from "./block_table.ts";
import { isWellFormed } from "./id_runs.ts";
import { RECORD_ID_BYTES } from "./ids.ts";
import type { KnownTable } from "./table_caches.ts";

const MAGIC = 0x3364_6973;
const HEAD_BYTES = 56;
const BASE = HEAD_BYTES + 4, BASE_BYTES = 32;
const RUN_COUNT = BASE + BASE_BYTES, NEW_COUNT = RUN_COUNT + 4;
const ROWS_START = NEW_COUNT + 4;
const RUN_BYTES = 8;
const SUM_BYTES = 32;

/** What tells the file of a range apart from others of its ID. */
export interface SidedFile {
  readonly sizeBytes: number;
  readonly indexChecksum: number;
}

/** Returns what the side of a range begins with. */
export function sideHead(id: string, file: SidedFile, raggedness: number): Uint8Array {
  const head = new Uint8Array(HEAD_BYTES);
  const view = new DataView(head.buffer);
  view.setUint32(0, MAGIC, true);
  view.setUint32(4, BLOCK_ROW_BYTES, true);
  head.set(fromHex(id)!, 8);
  view.setFloat64(40, file.sizeBytes, true);
  view.setUint32(48, file.indexChecksum, true);
  view.setUint32(52, raggedness, true);
  return head;
}

/** Returns a side as it is kept, in `memory` if that has room, else in memory with some more. */
export function encodeSide(
  { blocks, idsChecksum, ids }: KnownTable,
  head: Uint8Array,
  memory: Uint8Array = EMPTY_BYTES,
): Uint8Array {
  const rows = blocks.bytes, runs = ids ? bytesOf(ids.pairs) : EMPTY_BYTES, news = ids?.news ?? EMPTY_BYTES;
  const runsStart = ROWS_START + rows.length,
    newsStart = runsStart + runs.length,
    end = newsStart + news.length;
  const length = end + SUM_BYTES;
  const room = memory.length < length ? new Uint8Array(Math.ceil(length * 1.25)) : memory;
  const out = room.subarray(0, length);
  out.set(head);
  out.fill(0, HEAD_BYTES, ROWS_START);
  const view = new DataView(out.buffer);
  view.setUint32(HEAD_BYTES, idsChecksum, true);
  if (ids) out.set(fromHex(ids.base)!, BASE);
  view.setUint32(RUN_COUNT, runs.length / RUN_BYTES, true);
  view.setUint32(NEW_COUNT, news.length / RECORD_ID_BYTES, true);
  out.set(rows, ROWS_START);
  out.set(runs, runsStart);
  out.set(news, newsStart);
  out.set(sha256(out.subarray(0, end)), end);
  return out;
}

/** Returns what is kept with this head, or `undefined` when it is another one's or damaged. */
export function decodeSide(bytes: Uint8Array, head: Uint8Array): KnownTable | undefined {
  const end = bytes.length - SUM_BYTES;
  if (end < ROWS_START || !equalBytes(bytes.subarray(0, HEAD_BYTES), head)) return undefined;
  if (!equalBytes(sha256(bytes.subarray(0, end)), bytes.subarray(end))) return undefined;
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const newsStart = end - view.getUint32(NEW_COUNT, true) * RECORD_ID_BYTES;
  const runsStart = newsStart - view.getUint32(RUN_COUNT, true) * RUN_BYTES;
  if (runsStart < ROWS_START || (runsStart - ROWS_START) % BLOCK_ROW_BYTES !== 0) return undefined;
  const blocks = new BlockTable(wordsOf(bytes.subarray(ROWS_START, runsStart)));
  const idsChecksum = view.getUint32(HEAD_BYTES, true);
  if (runsStart === end) return { blocks, idsChecksum };
  const pairs = wordsOf(bytes.subarray(runsStart, newsStart));
  const ids = {
    base: hex(bytes.subarray(BASE, BASE + BASE_BYTES)),
    pairs,
    news: bytes.subarray(newsStart, end),
  };
  return isWellFormed(ids) ? { blocks, idsChecksum, ids } : undefined;
}

/** Returns bytes as words, uncopied where they lie as words do. */
function wordsOf(bytes: Uint8Array): Uint32Array {
  const { buffer, byteOffset, length } = bytes.byteOffset % 4 === 0 ? bytes : bytes.slice();
  return new Uint32Array(buffer, byteOffset, length / 4);
}

function bytesOf(words: Uint32Array): Uint8Array {
  return new Uint8Array(words.buffer, words.byteOffset, words.byteLength);
}
