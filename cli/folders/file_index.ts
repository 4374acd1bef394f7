/**
 * The file of an index: what was read of the files of one folder, so that it need not be read again.
 *
 * ```
 * chunk    length of the payload (uint32), SHA-256 of the payload, payload
 * first    JSON: {"format":1,"root":…,"tree":…}
 * others   records, in the byte order of their keys:
 *          length of the key (uint16), key, size, mtime (seconds, nanoseconds), ctime (seconds, nanoseconds), inode, SHA-256
 *          seconds, size and inode are float64, nanoseconds uint32
 * ```
 *
 * Numbers are little-endian. Nothing else depends on an index: one that is damaged, or of another format, ends where the
 * damage begins, and what it does not hold is read again. So it is not flushed to the disk either.
 */

import type { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { asBuffer, equalBytes, utf8 } from "../../base/bytes.ts";
import { sha256 } from "../../base/hashes.ts";
import type { FileState } from "../../base/file_state.ts";

const FORMAT = 1;
const CHUNK_BYTES = 64 * 1024;
const MOST_CHUNK_BYTES = 1024 * 1024;
const CHUNK_HEAD_BYTES = 4 + 32;
/** Of a record without its key. */
const FIXED_BYTES = 2 + 8 + 12 + 12 + 8 + 32;
const NO_CHUNK = asBuffer(new Uint8Array(0));

export interface IndexRecord {
  readonly key: string;
  readonly state: FileState;
  readonly sha256: Uint8Array;
}

/** A version of a repository in which all files of the index were found, as they would be put. */
export interface IndexedTree {
  readonly metaRangeId: string;
  readonly prefix: string;
  /** `null` where files were found whatever theirs is. */
  readonly contentType: string | null;
  readonly metadata: Readonly<Record<string, string>> | null;
}

export interface IndexHeader {
  /** The folder, without symlinks. */
  readonly root: string;
  readonly tree?: IndexedTree;
}

/** Reads an index from its start to its end. */
export class IndexReader {
  readonly header: IndexHeader;
  readonly #descriptor: number;
  #chunk: Buffer = NO_CHUNK;
  #at = 0;
  #count = 0;

  private constructor(descriptor: number, header: IndexHeader) {
    this.#descriptor = descriptor;
    this.header = header;
  }

  /** Opens an index; `undefined` when there is none that can be read. */
  static open(path: string): IndexReader | undefined {
    let descriptor: number;
    try {
      descriptor = fs.openSync(path, "r");
    } catch {
      return undefined;
    }
    try {
      const header = parseHeader(readChunk(descriptor));
      if (header) return new IndexReader(descriptor, header);
    } catch {
      // It is as good as none.
    }
    fs.closeSync(descriptor);
    return undefined;
  }

  /** Tells this very file from any other that may take its name. */
  get identity(): string {
    const { dev, ino, size, mtimeNs, ctimeNs } = fs.fstatSync(this.#descriptor, { bigint: true });
    return [dev, ino, size, mtimeNs, ctimeNs].join(" ");
  }

  /** How many records were read. */
  get count(): number {
    return this.#count;
  }

  /** Returns the next record, or `undefined` at the end of what is whole. */
  next(): IndexRecord | undefined {
    if (!this.#hasNext()) return undefined;
    const start = this.#at;
    this.#skip();
    return recordIn(this.#chunk, start);
  }

  /** Copies the next records as they are; returns how many there were, at most `most`. */
  copyTo(writer: IndexWriter, most: number): number {
    let copied = 0;
    while (copied < most && this.#hasNext()) {
      const start = this.#at;
      for (; copied < most && this.#at < this.#chunk.length; copied++) this.#skip();
      writer.addEncoded(this.#chunk.subarray(start, this.#at));
    }
    return copied;
  }

  #hasNext(): boolean {
    if (this.#at < this.#chunk.length) return true;
    this.#at = 0;
    this.#chunk = asBuffer(readChunk(this.#descriptor) ?? NO_CHUNK);
    return this.#chunk.length > 0;
  }

  #skip(): void {
    this.#at += FIXED_BYTES + this.#chunk.readUInt16LE(this.#at);
    this.#count++;
  }

  close(): void {
    fs.closeSync(this.#descriptor);
  }
}

/** Returns the record that stands in a chunk from `start` on. */
function recordIn(chunk: Buffer, start: number): IndexRecord {
  const keyEnd = start + 2 + chunk.readUInt16LE(start);
  return {
    key: chunk.toString("utf8", start + 2, keyEnd),
    state: {
      size: chunk.readDoubleLE(keyEnd),
      mtimeSeconds: chunk.readDoubleLE(keyEnd + 8),
      mtimeNanos: chunk.readUInt32LE(keyEnd + 16),
      ctimeSeconds: chunk.readDoubleLE(keyEnd + 20),
      ctimeNanos: chunk.readUInt32LE(keyEnd + 28),
      inode: chunk.readDoubleLE(keyEnd + 32),
    },
    // It is rarely asked for, and making a view takes as long as all the rest.
    get sha256(): Uint8Array {
      return new Uint8Array(chunk.buffer, chunk.byteOffset + keyEnd + 40, 32);
    },
  };
}

function parseHeader(payload: Uint8Array | undefined): IndexHeader | undefined {
  if (!payload) return undefined;
  const { format, root, tree } = JSON.parse(asBuffer(payload).toString("utf8"));
  return format === FORMAT && typeof root === "string" ? { root, tree } : undefined;
}

/** Returns the payload of the next chunk; `undefined` at the end, or where the file is damaged. */
function readChunk(descriptor: number): Uint8Array | undefined {
  try {
    const head = readExactly(descriptor, CHUNK_HEAD_BYTES);
    const length = head && asBuffer(head).readUInt32LE(0);
    if (!head || !length || length > MOST_CHUNK_BYTES) return undefined;
    const payload = readExactly(descriptor, length);
    return payload && equalBytes(sha256(payload), head.subarray(4)) ? payload : undefined;
  } catch {
    return undefined;
  }
}

function readExactly(descriptor: number, length: number): Uint8Array | undefined {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length;) {
    const count = fs.readSync(descriptor, bytes, at, length - at, null);
    if (count === 0) return undefined;
    at += count;
  }
  return bytes;
}

/** Copies the first records of an index into another. */
export function copyRecords(
  { path, identity }: { readonly path: string; readonly identity: string },
  writer: IndexWriter,
  count: number,
): void {
  const reader = IndexReader.open(path);
  try {
    // Another put may have replaced it: what it says then has nothing to do with what was read.
    if (reader?.identity !== identity) throw new Error("the index was replaced");
    if (reader.copyTo(writer, count) < count) throw new Error("the index is shorter than it was");
  } finally {
    reader?.close();
  }
}

/** Writes an index, record by record in the order of their keys. */
export class IndexWriter {
  readonly #descriptor: number;
  #isOpen = true;
  readonly #header: IndexHeader;
  #chunk = asBuffer(new Uint8Array(CHUNK_BYTES));
  #length = 0;

  /** Whether the header's tree holds is known at the end only: it is left out until then. */
  constructor(descriptor: number, header: IndexHeader) {
    this.#descriptor = descriptor;
    this.#header = header;
    const whole = headerText(header);
    this.#writeChunk(utf8(headerText({ root: header.root })), { bytes: utf8(whole).length });
  }

  add({ key, state, sha256: hash }: IndexRecord): void {
    const most = FIXED_BYTES + key.length * 3;
    if (this.#length + most > this.#chunk.length) this.#flush();
    if (most > this.#chunk.length) return;
    const chunk = this.#chunk;
    const start = this.#length + 2;
    let at = start + chunk.write(key, start, "utf8");
    chunk.writeUInt16LE(at - start, this.#length);
    at = chunk.writeDoubleLE(state.size, at);
    at = chunk.writeDoubleLE(state.mtimeSeconds, at);
    at = chunk.writeUInt32LE(state.mtimeNanos, at);
    at = chunk.writeDoubleLE(state.ctimeSeconds, at);
    at = chunk.writeUInt32LE(state.ctimeNanos, at);
    at = chunk.writeDoubleLE(state.inode, at);
    chunk.set(hash, at);
    this.#length = at + 32;
  }

  /** Adds whole records as an index holds them. */
  addEncoded(records: Uint8Array): void {
    this.#flush();
    this.#writeChunk(records);
  }

  /** Writes what is pending and closes the file. */
  close({ treeHolds }: { treeHolds: boolean }): void {
    this.#flush();
    if (treeHolds) this.#writeChunk(utf8(headerText(this.#header)), { position: 0 });
    this.abandon();
  }

  /** Closes the file as it is, unless it is closed. */
  abandon(): void {
    if (this.#isOpen) fs.closeSync(this.#descriptor);
    this.#isOpen = false;
  }

  #flush(): void {
    if (this.#length > 0) this.#writeChunk(this.#chunk.subarray(0, this.#length));
    this.#length = 0;
  }

  /** Writes a chunk of at least so many bytes of payload, filled up with spaces, at the end or at a position. */
  #writeChunk(
    payload: Uint8Array,
    { bytes = payload.length, position }: { bytes?: number; position?: number } = {},
  ): void {
    const chunk = asBuffer(new Uint8Array(CHUNK_HEAD_BYTES + Math.max(bytes, payload.length)));
    chunk.fill(0x20, CHUNK_HEAD_BYTES);
    chunk.set(payload, CHUNK_HEAD_BYTES);
    chunk.writeUInt32LE(chunk.length - CHUNK_HEAD_BYTES, 0);
    chunk.set(sha256(chunk.subarray(CHUNK_HEAD_BYTES)), 4);
    for (let at = 0; at < chunk.length;) {
      const place = position === undefined ? null : position + at;
      at += fs.writeSync(this.#descriptor, chunk, at, chunk.length - at, place);
    }
  }
}

function headerText(header: IndexHeader): string {
  return JSON.stringify({ format: FORMAT, ...header });
}
