/** Reading entries one after the other, each field when it is asked for. */

import { EMPTY_BYTES, oneUnitAByte, tryUtf8Text } from "../../base/bytes.ts";
import type { Timestamp } from "../../base/clock.ts";
import { corrupt } from "../../base/errors.ts";
import {
  ProtobufError,
  protobufFields,
  protobufPair,
  protobufString,
  protobufTimestamp,
} from "../../base/protobuf.ts";
import type { AddressType, Entry } from "./entry.ts";
import { EntryFields } from "./entry_fields.ts";

const SHA256_FIELD = 100;
/** Bytes up to this length become a text whole, for all entries that lie in them. */
const MAX_TEXT = 64 * 1024;

/** Where an entry lies. */
export interface EntryPlace {
  readonly bytes: Uint8Array;
  readonly dataStart: number;
  readonly dataEnd: number;
}

/**
 * Reads one entry at a time: after {@link read} the getters speak of that one. Whoever wants few fields of many entries
 * pays for these fields alone; whoever wants an entry to keep calls {@link entry}.
 */
export class EntryReader {
  readonly #fields = new EntryFields();
  readonly #sharesTexts: boolean;
  #where = "";
  /** Where the entry lies in its bytes. */
  #start = 0;
  #end = 0;
  /** The entry, where its bytes have an unusual form. */
  #unusual: Entry | undefined;
  /** Bytes as text of one unit each, made when the first text of them is asked for: the others are slices of it. */
  #text = "";
  /** Where the text lies in the bytes, and which bytes those are: neighbours often lie in the same ones. */
  #textStart = 0;
  #textEnd = 0;
  #textBytes: Uint8Array | undefined;
  #lastContentType = "";

  /**
   * Texts of neighbours share memory: who keeps one of them keeps all. Unless `sharesTexts` is false: then only those of one
   * entry do.
   */
  constructor({ sharesTexts = true }: { readonly sharesTexts?: boolean } = {}) {
    this.#sharesTexts = sharesTexts;
  }

  /**
   * Turns to the entry of a record. Fails with `corrupt_file`, naming `where` it came from; so do the getters of texts
   * that are no UTF-8.
   */
  read(data: Uint8Array, where = "entry"): this {
    this.#textBytes = undefined;
    return this.readAt({ bytes: data, dataStart: 0, dataEnd: data.length }, where);
  }

  /**
   * Does what {@link read} does of an entry that lies among others, in bytes that are as they were whenever the same array
   * is given.
   */
  readAt({ bytes, dataStart, dataEnd }: EntryPlace, where = "entry"): this {
    this.#where = where;
    this.#start = dataStart;
    this.#end = dataEnd;
    this.#unusual = this.#fields.find(bytes, dataStart, dataEnd) ? undefined : this.#readGenerally();
    return this;
  }

  get sizeBytes(): number {
    return this.#unusual ? this.#unusual.sizeBytes : this.#fields.sizeBytes;
  }

  get address(): string {
    if (this.#unusual) return this.#unusual.address;
    return this.#textOf(this.#fields.addressStart, this.#fields.addressEnd);
  }

  get addressType(): AddressType {
    return this.#unusual ? this.#unusual.addressType : this.#fields.addressType as AddressType;
  }

  get etag(): string {
    if (this.#unusual) return this.#unusual.etag;
    return this.#textOf(this.#fields.etagStart, this.#fields.etagEnd);
  }

  get lastModified(): Timestamp {
    if (this.#unusual) return this.#unusual.lastModified;
    return { seconds: this.#fields.seconds, nanos: this.#fields.nanos };
  }

  get contentType(): string {
    if (this.#unusual) return this.#unusual.contentType;
    const text = this.#textOf(this.#fields.contentTypeStart, this.#fields.contentTypeEnd);
    // Neighbours mostly have the same one: who keeps them keeps one text.
    if (text !== this.#lastContentType) this.#lastContentType = text;
    return this.#lastContentType;
  }

  get metadata(): Readonly<Record<string, string>> {
    if (this.#unusual) return this.#unusual.metadata;
    const places = this.#fields.metadata;
    if (places.length === 0) return {};
    const pairs: [string, string][] = [];
    for (let i = 0; i < places.length; i += 4) {
      pairs.push([
        this.#textOf(places[i]!, places[i + 1]!),
        this.#textOf(places[i + 2]!, places[i + 3]!),
      ]);
    }
    return asOwnProperties(pairs);
  }

  /** A copy; `undefined` in entries that others wrote. */
  get sha256(): Uint8Array | undefined {
    if (this.#unusual) return this.#unusual.sha256;
    const { data, sha256Start } = this.#fields;
    return sha256Start < 0 ? undefined : data.slice(sha256Start, sha256Start + 32);
  }

  /** Returns the whole entry, to keep. */
  entry(): Entry {
    if (this.#unusual) return this.#unusual;
    const { address, addressType, lastModified, sizeBytes, etag, metadata, contentType, sha256 } = this;
    if (!sha256) return { address, addressType, lastModified, sizeBytes, etag, metadata, contentType };
    return { address, addressType, lastModified, sizeBytes, etag, metadata, contentType, sha256 };
  }

  #textOf(start: number, end: number): string {
    if (start === end) return "";
    const { data } = this.#fields;
    let all = 0;
    for (let i = start; i < end; i++) all |= data[i]!;
    if (all < 0x80) {
      const isMade = this.#textBytes === data && start >= this.#textStart && end <= this.#textEnd;
      if (!isMade) this.#makeText();
      return this.#text.slice(start - this.#textStart, end - this.#textStart);
    }
    const text = tryUtf8Text(data.subarray(start, end));
    if (text !== undefined) return text;
    this.#readGenerally();
    corrupt(this.#where, start - this.#start, "an entry has a text that is not UTF-8");
  }

  #makeText(): void {
    const { data } = this.#fields;
    const isShort = this.#sharesTexts && data.length <= MAX_TEXT;
    this.#textBytes = data;
    this.#textStart = isShort ? 0 : this.#start;
    this.#textEnd = isShort ? data.length : this.#end;
    this.#text = oneUnitAByte(data, this.#textStart, this.#textEnd);
  }

  #readGenerally(): Entry {
    const { data } = this.#fields;
    return decodeGenerally(data.subarray(this.#start, this.#end), this.#where);
  }
}

/** Returns an entry of any form that protobuf allows. */
export function decodeGenerally(data: Uint8Array, where: string): Entry {
  let address = "", etag = "", contentType = "", sizeBytes = 0, addressType = 0;
  let lastModified: Timestamp = { seconds: 0, nanos: 0 };
  let sha256: Uint8Array = EMPTY_BYTES;
  const metadata: [string, string][] = [];
  try {
    for (const field of protobufFields(data)) {
      if (field.number === 1) address = protobufString(field);
      else if (field.number === 2) lastModified = protobufTimestamp(field);
      else if (field.number === 3) sizeBytes = field.uint;
      else if (field.number === 4) etag = protobufString(field);
      else if (field.number === 5) metadata.push(protobufPair(field));
      else if (field.number === 6) addressType = field.uint;
      else if (field.number === 7) contentType = protobufString(field);
      else if (field.number === SHA256_FIELD && field.bytes.length === 32) sha256 = field.bytes.slice();
    }
  } catch (error) {
    if (error instanceof ProtobufError) corrupt(where, 0, `an entry does not decode (${error.message})`);
    throw error;
  }
  if (addressType < 0 || addressType > 2) corrupt(where, 0, `an entry has address type ${addressType}`);
  return {
    address,
    addressType: addressType as AddressType,
    lastModified,
    sizeBytes,
    etag,
    metadata: asOwnProperties(metadata),
    contentType,
    ...(sha256.length > 0 ? { sha256 } : {}),
  };
}

/** `Object.fromEntries` defines own properties, so that a key "__proto__" stays a key. */
function asOwnProperties(pairs: readonly [string, string][]): Record<string, string> {
  return Object.fromEntries(pairs);
}
