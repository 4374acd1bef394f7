/**
 * The journal's bytes: writes that were answered before they are in the database (docs/decisions/0014, 0015). Little-endian:
 *
 *     header:  0 magic "tarnjrnl", 8 format u32 (1), 12 fingerprint u32 and 16 transaction u64 of the state that the records
 *              are laid over, 24 salt (8 bytes), 32 sum u32: crc32 of bytes 0 to 31, 36 zeros,
 *              40 end u32: where the records end, 44 u32: end XOR sum,
 *              48 kept u32: where those end that are known to be on disk, 52 u32: kept XOR sum, 56 zeros
 *     records: from 64 on, each 0 sum u32, 4 length u32 of what follows, 8 its entries one after the other
 *     entry:   key length u16, value length u32, key (`keys.ts`), value
 *     sum:     of a record: crc32 of all but the sum itself, plus the previous sum * 0x9E3779B1, modulo 2^32;
 *              the first record's previous sum is that of the header
 *
 * Each record's sum depends on all before it, and on a salt that is drawn whenever the journal is begun anew: what an earlier
 * use of the file, or a write that never came to an end, has left there is never taken for a record.
 */

import { crc32 } from "../../base/platform.ts";
import { JournalDamage } from "./page.ts";
import type { StoredEntry } from "./page_tree.ts";

export const HEADER_BYTES = 64;
/** What changes only when the journal is begun anew. */
export const FIXED_BYTES = 36;
/** No journal becomes larger, so that reading one is bounded. */
export const MAX_JOURNAL_BYTES = 4 * 1024 * 1024;
export const SALT_BYTES = 8;

const MAGIC = new TextEncoder().encode("tarnjrnl");
const FORMAT = 1;
const SUMMED_BYTES = 32;
const SUM_AT = 32;
/** Where the header says where the records end. */
export const END_AT = 40;
/** Where it says up to where they were flushed. */
export const KEPT_AT = 48;
/** The file grows by as much. */
export const ROOM_BYTES = 64 * 1024;
const RECORD_HEAD_BYTES = 8;
const ENTRY_HEAD_BYTES = 6;
const FACTOR = 0x9e3779b1;

/** Which state of the database a journal's records are laid over. */
export interface JournalBasis {
  readonly transaction: number;
  readonly fingerprint: number;
}

export interface JournalHeader extends JournalBasis {
  readonly sum: number;
}

/** Returns the header of a journal without records. */
export function makeHeader({ transaction, fingerprint }: JournalBasis, salt: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(HEADER_BYTES);
  const view = new DataView(bytes.buffer);
  bytes.set(MAGIC);
  view.setUint32(8, FORMAT, true);
  view.setUint32(12, fingerprint, true);
  view.setBigUint64(16, BigInt(transaction), true);
  bytes.set(salt.subarray(0, SALT_BYTES), 24);
  const sum = crc32(bytes.subarray(0, SUMMED_BYTES));
  view.setUint32(SUM_AT, sum, true);
  bytes.set(makeEnd(HEADER_BYTES, sum), END_AT);
  bytes.set(makeEnd(HEADER_BYTES, sum), KEPT_AT);
  return bytes;
}

/** Returns the bytes that say where records end. */
export function makeEnd(end: number, sum: number): Uint8Array {
  const bytes = new Uint8Array(8);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, end, true);
  view.setUint32(4, end ^ sum, true);
  return bytes;
}

/**
 * Returns what the fixed part of a header says, or `undefined` where it is none: it may be one that is just being written.
 * Fails with {@link JournalDamage} where it is one of a format that is not known.
 */
export function parseHeader(bytes: Uint8Array): JournalHeader | undefined {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const sum = view.getUint32(SUM_AT, true);
  if (!MAGIC.every((byte, i) => bytes[i] === byte) || crc32(bytes.subarray(0, SUMMED_BYTES)) !== sum) {
    return undefined;
  }
  if (view.getUint32(8, true) !== FORMAT) throw new JournalDamage("is of a format that is not known");
  return {
    fingerprint: view.getUint32(12, true),
    transaction: Number(view.getBigUint64(16, true)),
    sum,
  };
}

/** Returns where records end by what stands at {@link END_AT} or {@link KEPT_AT}, `undefined` where that is none. */
export function parseEnd(view: DataView, at: number, sum: number): number | undefined {
  const end = view.getUint32(at, true);
  return (end ^ view.getUint32(at + 4, true)) >>> 0 === sum ? end : undefined;
}

/** Returns how long the record of entries would be. */
export function recordBytes(entries: readonly StoredEntry[]): number {
  let length = RECORD_HEAD_BYTES;
  for (const { key, value } of entries) length += ENTRY_HEAD_BYTES + key.length + value.length;
  return length;
}

/** Returns a record of entries; {@link sealRecord} makes it one that follows another. */
export function makeRecord(entries: readonly StoredEntry[]): Uint8Array {
  const bytes = new Uint8Array(recordBytes(entries));
  const view = new DataView(bytes.buffer);
  view.setUint32(4, bytes.length - RECORD_HEAD_BYTES, true);
  let at = RECORD_HEAD_BYTES;
  for (const { key, value } of entries) {
    view.setUint16(at, key.length, true);
    view.setUint32(at + 2, value.length, true);
    bytes.set(key, at += ENTRY_HEAD_BYTES);
    bytes.set(value, at += key.length);
    at += value.length;
  }
  return bytes;
}

/** Puts the sum into a record that follows one of the sum `previous`; returns it. */
export function sealRecord(record: Uint8Array, previous: number): number {
  const sum = sumOf(record, previous);
  new DataView(record.buffer, record.byteOffset).setUint32(0, sum, true);
  return sum;
}

function sumOf(record: Uint8Array, previous: number): number {
  return (Math.imul(previous, FACTOR) + crc32(record.subarray(4))) >>> 0;
}

/** Where reading came to. */
export interface JournalPlace {
  /** How many bytes are records. */
  readonly length: number;
  /** Of the last record. */
  readonly sum: number;
}

/**
 * Hands over the entries of the records that `bytes` begins with, as views; ends at what is no record. The first one follows a
 * record of the sum `previous`.
 */
export function readRecords(
  bytes: Uint8Array,
  previous: number,
  onEntry: (key: Uint8Array, value: Uint8Array) => void,
): JournalPlace {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let at = 0, sum = previous;
  while (at + RECORD_HEAD_BYTES <= bytes.length) {
    const end = at + RECORD_HEAD_BYTES + view.getUint32(at + 4, true);
    if (end > bytes.length) break;
    const record = bytes.subarray(at, end);
    const next = sumOf(record, sum);
    if (view.getUint32(at, true) !== next) break;
    readEntries(record, onEntry);
    at = end;
    sum = next;
  }
  return { length: at, sum };
}

/** What bears a true sum and is nonsense was never written by us. */
function readEntries(record: Uint8Array, onEntry: (key: Uint8Array, value: Uint8Array) => void): void {
  const view = new DataView(record.buffer, record.byteOffset, record.byteLength);
  for (let at = RECORD_HEAD_BYTES; at < record.length;) {
    if (at + ENTRY_HEAD_BYTES > record.length) throw malformed();
    const key = at + ENTRY_HEAD_BYTES;
    const value = key + view.getUint16(at, true);
    const end = value + view.getUint32(at + 2, true);
    // A key begins with its partition's length, which is no zero.
    if (end > record.length || value === key || record[key] === 0) throw malformed();
    onEntry(record.subarray(key, value), record.subarray(value, end));
    at = end;
  }
}

function malformed(): JournalDamage {
  return new JournalDamage("holds what is no entry");
}
