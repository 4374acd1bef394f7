/**
 * IDs of ranges and metaranges:
 * `valueRecordID = h(h(key) || h(identity))`, `fileID = h(valueRecordID1 || … || valueRecordIDN)`, h = SHA-256.
 */

import { EMPTY_BYTES, hex } from "../../base/bytes.ts";
import { assertInvariant } from "../../base/errors.ts";
import { sha256, sha256Into } from "../../base/hashes.ts";

export const RECORD_ID_BYTES = 32;
const SLOTS_AT_ONCE = 1024;
/** How much room is made for what is new in front of an older list's rest. */
const GAP_BYTES = SLOTS_AT_ONCE * RECORD_ID_BYTES;
/** Memory that is to be taken over with an older list should have room for so many IDs more. */
export const SPARE_IDS = 2 * SLOTS_AT_ONCE;

/** The list of an older range, which tells where it lies and can be moved. */
export interface OlderIds {
  readonly recordIds: Uint8Array | undefined;
  moveIds(to: Uint8Array): void;
}

/** An older list in the memory of a newer one: behind what that has there is still all that was not added or passed over. */
interface Guest {
  readonly list: OlderIds;
  /** Where its first ID is, or was. */
  start: number;
  /** From here on it may still be asked for. */
  rest: number;
  end: number;
}

/** Hashes a record: three hashes, so all views are made beforehand. */
class RecordHasher {
  readonly #pair = new Uint8Array(2 * RECORD_ID_BYTES);
  readonly #keyHash = this.#pair.subarray(0, RECORD_ID_BYTES);
  readonly #identityHash = this.#pair.subarray(RECORD_ID_BYTES);

  hashInto(key: Uint8Array, identity: Uint8Array, out: Uint8Array): void {
    sha256Into(key, this.#keyHash);
    sha256Into(identity, this.#identityHash);
    sha256Into(this.#pair, out);
  }
}

/** The IDs of a file's records, one behind the other in key order. */
export class RecordIds {
  readonly #hasher = new RecordHasher();
  readonly #slot = new Uint8Array(RECORD_ID_BYTES);
  readonly #slotWords = new Int32Array(this.#slot.buffer);
  #bytes: Uint8Array;
  /** The same memory. */
  #words: Int32Array;
  #end = 0;
  #guest: Guest | undefined;

  /** Memory is taken when the first one is added: it may be another list's. */
  constructor(capacity = 0) {
    this.#bytes = new Uint8Array(capacity * RECORD_ID_BYTES);
    this.#words = new Int32Array(this.#bytes.buffer);
  }

  /** Forgets all of them, to be used for another file. */
  clear(): void {
    this.#end = 0;
    this.#guest = undefined;
  }

  /**
   * Takes over the memory that an older list lies in, of which most will be added: then it is there already. To copy it to
   * memory that was not used before would be the dear part. The list is read on, in order, and moved when its place is needed.
   * Returns the memory that was this one's.
   */
  takeOver(list: OlderIds): Uint8Array {
    assertInvariant(this.#end === 0, "memory is taken over before anything is listed");
    const before = this.#bytes, { buffer, byteOffset, byteLength } = list.recordIds!;
    this.#use(new Uint8Array(buffer));
    this.#guest = { list, start: byteOffset, rest: byteOffset, end: byteOffset + byteLength };
    return before;
  }

  /** Has what is left of an older list moved elsewhere: this memory is about to be used for something else. */
  sendGuestAway(): void {
    const guest = this.#guest;
    this.#guest = undefined;
    if (!guest || guest.rest >= guest.end) return;
    const { list, start, rest, end } = guest;
    const moved = new Uint8Array(end - start);
    moved.set(this.#bytes.subarray(rest, end), rest - start);
    list.moveIds(moved);
  }

  get memoryBytes(): number {
    return this.#bytes.length;
  }

  /** Returns the memory, which this list has no more: it is at its end. */
  takeMemory(): Uint8Array {
    const bytes = this.#bytes;
    this.#use(EMPTY_BYTES);
    return bytes;
  }

  /** How many there are. */
  get count(): number {
    return this.#end / RECORD_ID_BYTES;
  }

  /** Hashes a record and adds its ID. */
  add(key: Uint8Array, identity: Uint8Array): void {
    this.#reserve(RECORD_ID_BYTES);
    this.#hasher.hashInto(key, identity, this.#slot);
    const words = this.#words, slot = this.#slotWords, at = this.#end / 4;
    for (let i = 0; i < RECORD_ID_BYTES / 4; i++) words[at + i] = slot[i]!;
    this.#end += RECORD_ID_BYTES;
  }

  /** Takes room for so many more and a few: growing step by step would take twice the memory. */
  expect(count: number): void {
    const end = this.#end + count * RECORD_ID_BYTES;
    if (!this.#guest && end > this.#bytes.length) this.#grow(end + SLOTS_AT_ONCE * RECORD_ID_BYTES);
  }

  /** Adds IDs that are known: `count` of them from the `from`-th on. */
  addKnown(ids: Uint8Array, from: number, count: number): void {
    const length = count * RECORD_ID_BYTES;
    if (this.#guest && ids.buffer === this.#bytes.buffer) {
      return this.#addOfGuest(this.#guest, ids.byteOffset + from * RECORD_ID_BYTES, length);
    }
    this.#reserve(length);
    const start = from * RECORD_ID_BYTES;
    this.#bytes.set(ids.subarray(start, start + length), this.#end);
    this.#end += length;
  }

  /** The first four bytes of the last ID as a number: evenly distributed, and a function of the record alone. */
  get lastWord(): number {
    const bytes = this.#bytes, at = this.#end - RECORD_ID_BYTES;
    return (bytes[at]! | bytes[at + 1]! << 8 | bytes[at + 2]! << 16 | bytes[at + 3]! << 24) >>> 0;
  }

  /** Returns a view of the last `count` IDs, valid until more are added. */
  last(count: number): Uint8Array {
    return this.#bytes.subarray(this.#end - count * RECORD_ID_BYTES, this.#end);
  }

  /** Returns a view of all of them. */
  all(): Uint8Array {
    return this.#bytes.subarray(0, this.#end);
  }

  /** Returns the file's ID in lower-case hex. */
  fileId(): string {
    return fileIdOf(this.all());
  }

  #addOfGuest(guest: Guest, start: number, length: number): void {
    assertInvariant(start >= guest.rest, "an older list is read in order");
    if (start > this.#end) this.#bytes.copyWithin(this.#end, start, start + length);
    this.#end += length;
    guest.rest = start + length;
  }

  #reserve(more: number): void {
    const end = this.#end + more;
    if (this.#guest && end > this.#guest.rest) this.#makeWay(this.#guest, end);
    if (end > this.#bytes.length) {
      this.#grow(Math.max(this.#bytes.length * 2, end, SLOTS_AT_ONCE * RECORD_ID_BYTES));
    }
  }

  /** Moves what is left of an older list behind `end` and some more, or away. */
  #makeWay(guest: Guest, end: number): void {
    const by = end - guest.rest + GAP_BYTES;
    if (guest.rest >= guest.end || guest.end + by > this.#bytes.length) return this.sendGuestAway();
    this.#bytes.copyWithin(guest.rest + by, guest.rest, guest.end);
    guest.start += by;
    guest.rest += by;
    guest.end += by;
    guest.list.moveIds(this.#bytes.subarray(guest.start, guest.end));
  }

  #grow(bytes: number): void {
    const grown = new Uint8Array(bytes);
    grown.set(this.#bytes.subarray(0, this.#end));
    this.#use(grown);
  }

  #use(bytes: Uint8Array): void {
    this.#bytes = bytes;
    this.#words = new Int32Array(bytes.buffer, 0, bytes.length >> 2);
  }
}

/** Returns the ID of the file with these record IDs, in lower-case hex. */
export function fileIdOf(recordIds: Uint8Array): string {
  return hex(sha256(recordIds));
}

/** Returns whether a text has the form of an ID, and so may name a file. */
export function isFileId(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
