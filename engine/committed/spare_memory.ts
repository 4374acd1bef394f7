/**
 * Memory that ranges are made in, used again for the next ones, whichever commit or merge they belong to.
 *
 * A commit that touches every range takes some fifty megabytes. Fresh memory costs as much as writing to a file, and the
 * collector, which sees a few small objects, lets what was used pile up. What is kept is bounded, once for the process.
 */

import { PiecePool } from "../sstable/mod.ts";
import { RecordIds } from "./ids.ts";

/** Enough for the ranges that are made and written at a time. */
const MAX_FREE = 4;
/** What is larger is of an unusual range, and not kept; what is smaller is soon had. */
const MAX_BYTES = 6 * 1024 * 1024, MIN_BYTES = 64 * 1024;

const freeIds: RecordIds[] = [];
const freeBytes: Uint8Array[] = [];

/** For the bytes of files. */
export const sparePieces: PiecePool = new PiecePool();

/** Returns a list of record IDs, with none in it. */
export function takeRecordIds(): RecordIds {
  return freeIds.pop() ?? new RecordIds();
}

/** Takes a list back that nobody looks at any more. */
export function giveRecordIdsBack(ids: RecordIds): void {
  if (freeIds.length >= MAX_FREE || ids.memoryBytes > MAX_BYTES) return;
  ids.clear();
  freeIds.push(ids);
}

/** Returns memory for so many bytes, with anything in it: perhaps that of a list. */
export function takeBytes(length: number): Uint8Array {
  const fitting = freeBytes.findIndex((bytes) => bytes.length >= length);
  if (fitting >= 0) return freeBytes.splice(fitting, 1)[0]!;
  const list = freeIds.findIndex((ids) => ids.memoryBytes >= length);
  if (list >= 0) return freeIds.splice(list, 1)[0]!.takeMemory();
  // With some more, so that it also serves the next range, which has about as many records.
  return new Uint8Array(Math.ceil(length * 1.125));
}

/** Takes memory back that nobody uses any more. */
export function giveBytesBack(bytes: Uint8Array): void {
  if (bytes.length < MIN_BYTES || bytes.length > MAX_BYTES) return;
  freeBytes.push(bytes);
  freeBytes.sort((a, b) => a.length - b.length);
  if (freeBytes.length > MAX_FREE) freeBytes.shift();
}
