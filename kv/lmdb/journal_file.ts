/**
 * One open journal: its records as they are now, kept in memory and read on from where they ended, and adding to them.
 *
 * Whoever adds holds the lock of writers. A record is written behind the last one, and then the header says where the records
 * end: until it does, there is no such record. So what a killed writer has left is written over by the next one.
 */

import {
  type BigIntStats,
  closeSync,
  fdatasyncSync,
  fstatSync,
  ftruncateSync,
  openSync,
  readSync,
  writeSync,
} from "node:fs";
import { asBuffer } from "../../base/bytes.ts";
import { mapBeginning } from "../../base/platform.ts";
import { SortedMap } from "../sorted_map.ts";
import {
  END_AT,
  FIXED_BYTES,
  HEADER_BYTES,
  type JournalBasis,
  type JournalHeader,
  KEPT_AT,
  makeEnd,
  makeHeader,
  MAX_JOURNAL_BYTES,
  parseEnd,
  parseHeader,
  readRecords,
  ROOM_BYTES,
  sealRecord,
} from "./journal_format.ts";
import { JournalDamage } from "./page.ts";

/** How often the header is read before it is mapped: a short command would gain nothing. */
const LOOKS_BEFORE_MAPPING = 64;

/** What a journal says when its header is just being written: to be asked again, or, if nobody writes, damaged. */
export const UNSETTLED = Symbol("unsettled");

/** How much of a journal is sound. */
export interface JournalExtent {
  readonly entries: number;
  /** Bytes that were to be records and are none: power was lost before they were on disk. */
  readonly tornBytes: number;
}

export class JournalFile {
  readonly #handle: number;
  readonly #identity: BigIntStats;
  /** The header as it was last looked at. */
  readonly #looked = asBuffer(new Uint8Array(HEADER_BYTES));
  readonly #view = new DataView(this.#looked.buffer);
  /** The fixed part of the header as it was when `#header` was made of it. */
  readonly #fixed = asBuffer(new Uint8Array(FIXED_BYTES));
  #header: JournalHeader | undefined;
  #records = new SortedMap();
  #entries = 0;
  /** Where the header says that the records end. */
  #end = 0;
  /** What `#end` was when the records were last read on. */
  #readTo = 0;
  /** Up to where they were sound, and the sum of the last one. */
  #soundTo = 0;
  #sum = 0;
  #looksToMapping: number;
  #mapped: Uint8Array | undefined;
  #writing: number | undefined;
  /** A size that the file has had. */
  #room = 0;

  /** Opens the journal at a path; `mayMap` is false where memory may not show what another machine has written. */
  constructor(path: string, mayMap: boolean) {
    this.#handle = openSync(path, "r");
    this.#identity = fstatSync(this.#handle, { bigint: true });
    this.#looksToMapping = mayMap ? LOOKS_BEFORE_MAPPING : Infinity;
  }

  /** Returns whether a file is this one. */
  isSame({ ino, dev }: BigIntStats): boolean {
    return ino === this.#identity.ino && dev === this.#identity.dev;
  }

  /**
   * Returns the entries that are to be laid over a state, `undefined` where there are none. They grow as records are added.
   *
   * Fails with {@link JournalDamage} where the journal is of a later state than this one, which then is none any more, or the
   * journal was taken from elsewhere.
   */
  over(state: JournalBasis): SortedMap | undefined | typeof UNSETTLED {
    if (!this.#look()) return UNSETTLED;
    if (!this.#isOf(state)) return undefined;
    if (this.#end !== this.#readTo) this.#readOn();
    return this.#entries > 0 ? this.#records : undefined;
  }

  /** Returns how much of it is sound, when {@link over} was asked. */
  extentOver(state: JournalBasis): JournalExtent {
    return this.#isOf(state)
      ? { entries: this.#entries, tornBytes: this.#end - this.#soundTo }
      : { entries: 0, tornBytes: 0 };
  }

  /** Returns whether its records are of this state; those of an earlier one are in the database already. */
  #isOf({ transaction, fingerprint }: JournalBasis): boolean {
    const header = this.#header!;
    if (header.transaction < transaction) return false;
    if (header.transaction > transaction) {
      throw new JournalDamage("is of a later state, as when both were copied while in use");
    }
    if (header.fingerprint === fingerprint) return true;
    throw new JournalDamage("is that of another one");
  }

  /** Looks at the header; returns `false` if it is none as it is. */
  #look(): boolean {
    const bytes = this.#looked;
    if (this.#mapped) bytes.set(this.#mapped);
    else if (readSync(this.#handle, bytes, 0, HEADER_BYTES, 0) < HEADER_BYTES) return false;
    else if (--this.#looksToMapping === 0) this.#map();
    if (!this.#header || this.#fixed.compare(bytes, 0, FIXED_BYTES) !== 0) {
      const header = parseHeader(bytes);
      if (!header) return false;
      this.#fixed.set(bytes.subarray(0, FIXED_BYTES));
      this.#begin(header);
    }
    const end = parseEnd(this.#view, END_AT, this.#header!.sum);
    if (end === undefined) return false;
    if (end < HEADER_BYTES || end > MAX_JOURNAL_BYTES) throw new JournalDamage("cannot end where it says");
    this.#end = end;
    return true;
  }

  #map(): void {
    const mapped = mapBeginning(this.#handle, HEADER_BYTES);
    if (mapped?.length === HEADER_BYTES) this.#mapped = mapped;
  }

  #begin(header: JournalHeader): void {
    this.#header = header;
    this.#records = new SortedMap();
    this.#entries = 0;
    this.#readTo = this.#soundTo = HEADER_BYTES;
    this.#sum = header.sum;
  }

  /**
   * Reads what was added. What is no record ends it: power was lost, and these bytes had not come to the disk; unless they were
   * flushed, then it is damage.
   */
  #readOn(): void {
    const bytes = new Uint8Array(Math.max(0, this.#end - this.#soundTo));
    let filled = 0;
    while (filled < bytes.length) {
      const got = readSync(this.#handle, bytes, filled, bytes.length - filled, this.#soundTo + filled);
      if (got === 0) break;
      filled += got;
    }
    this.#take(bytes.subarray(0, filled));
    const kept = parseEnd(this.#view, KEPT_AT, this.#header!.sum) ?? HEADER_BYTES;
    if (this.#soundTo < Math.min(kept, this.#end)) throw new JournalDamage("lacks what was on disk");
    this.#readTo = this.#end;
  }

  /**
   * Adds a record over a state, after {@link over}; the lock of writers is held since before that, and the path leads to this
   * file. Returns `false` if it is not added: there is no room, or what is no record is in the way.
   */
  append(
    state: JournalBasis,
    record: Uint8Array,
    { path, salt }: { path: string; salt: () => Uint8Array },
  ): boolean {
    const isVoid = !this.#isOf(state);
    try {
      const file = this.#writing ??= openSync(path, "r+");
      if (isVoid) this.#beginAnew(file, makeHeader(state, salt()));
      return this.#soundTo === this.#end && this.#add(file, record);
    } catch {
      // Its own transaction will find out what is wrong.
      return false;
    }
  }

  #beginAnew(file: number, header: Uint8Array): void {
    writeWhole(file, header, 0);
    this.#fixed.set(header.subarray(0, FIXED_BYTES));
    this.#begin(parseHeader(header)!);
    this.#end = HEADER_BYTES;
  }

  #add(file: number, record: Uint8Array): boolean {
    const end = this.#soundTo + record.length;
    if (end > MAX_JOURNAL_BYTES) return false;
    sealRecord(record, this.#sum);
    try {
      this.#makeRoom(file, end);
      writeWhole(file, record, this.#soundTo);
      writeWhole(file, makeEnd(end, this.#header!.sum), END_AT);
    } catch (error) {
      // Nobody was told of it; the disk has the room back.
      ftruncateSync(file, this.#soundTo);
      this.#room = 0;
      throw error;
    }
    this.#take(record);
    this.#end = this.#readTo = end;
    return true;
  }

  /** Lets the file grow by large steps: a flush that finds it grown has more to do. */
  #makeRoom(file: number, end: number): void {
    if (end <= this.#room) return;
    // Others may have let it grow, and added to it.
    this.#room = fstatSync(file).size;
    if (end <= this.#room) return;
    const room = Math.min(Math.ceil(end / ROOM_BYTES) * ROOM_BYTES, MAX_JOURNAL_BYTES);
    writeWhole(file, new Uint8Array(room - this.#room), this.#room);
    this.#room = room;
  }

  /**
   * Brings all records over a state to the disk, and notes that in the header, after {@link over}. Returns whether it did: if not,
   * there is no telling what of them is on disk, and another try proves nothing, since the system tells of a failure once.
   */
  flush(state: JournalBasis): boolean {
    if (!this.#isOf(state)) return true;
    try {
      fdatasyncSync(this.#handle);
    } catch {
      return false;
    }
    if (this.#writing === undefined) return true;
    try {
      // Not flushed itself: on disk it may lag, but never say too much.
      writeWhole(this.#writing, makeEnd(this.#soundTo, this.#header!.sum), KEPT_AT);
    } catch {
      // Then it lags.
    }
    return true;
  }

  /** Takes up the records that bytes begin with, which follow those that there are. */
  #take(bytes: Uint8Array): void {
    const { length, sum } = readRecords(bytes, this.#sum, (key, value) => {
      this.#entries++;
      this.#records.set(key, value);
    });
    this.#soundTo += length;
    this.#sum = sum;
  }

  close(): void {
    closeSync(this.#handle);
    if (this.#writing !== undefined) closeSync(this.#writing);
  }
}

/** Writes all of `bytes`. Fails with the system's own error. */
function writeWhole(file: number, bytes: Uint8Array, at: number): void {
  for (let written = 0; written < bytes.length;) {
    written += writeSync(file, bytes, written, bytes.length - written, at + written);
  }
}
