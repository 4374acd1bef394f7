/** Tables put together by hand, block by block, with right checksums: what no writer would write. */

import { concatBytes } from "../../base/bytes.ts";
import { maskedCrc32c } from "../../engine/sstable/crc32c.ts";
import { type BlockHandle, encodeFooter, encodeHandle } from "../../engine/sstable/footer.ts";
import { encodeVarint } from "../../engine/sstable/varint.ts";

const encoder = new TextEncoder();

/** The trailer of a record's key: kind "set", sequence 0. */
export const SET = Uint8Array.of(1, 0, 0, 0, 0, 0, 0, 0);

/** An entry as it stands in a block. `rest` is what its key does not share, trailer included. */
export interface CraftedEntry {
  readonly shared?: number;
  readonly rest: Uint8Array;
  readonly value: Uint8Array;
}

/** Returns an entry whose whole internal key stands in the block. */
export function entry(key: string | Uint8Array, value: string | Uint8Array, trailer = SET): CraftedEntry {
  return { rest: concatBytes(bytesOf(key), trailer), value: bytesOf(value) };
}

/** Returns the bytes of an entry. */
export function entryBytes({ shared = 0, rest, value }: CraftedEntry): Uint8Array {
  return concatBytes(
    encodeVarint(shared),
    encodeVarint(rest.length),
    encodeVarint(value.length),
    rest,
    value,
  );
}

/** Returns a block of entries with restart points at the given entries (by default the first). */
export function block(entries: readonly CraftedEntry[], restartEntries: readonly number[] = [0]): Uint8Array {
  const parts = entries.map(entryBytes);
  const offsets = parts.map((_, i) => parts.slice(0, i).reduce((sum, part) => sum + part.length, 0));
  return rawBlock(concatBytes(...parts), restartEntries.map((i) => offsets[i] ?? 0));
}

/** Returns a block of any content and any restart points. */
export function rawBlock(
  content: Uint8Array,
  restarts: readonly number[],
  count = restarts.length,
): Uint8Array {
  return concatBytes(content, ...restarts.map(fixed32), fixed32(count));
}

/** Appends blocks to a file. */
export class CraftedTable {
  #bytes: Uint8Array = new Uint8Array(0);

  /** Appends a block as it is to be stored, of the given compression, with its checksum. */
  append(stored: Uint8Array, compression = 0): BlockHandle {
    const offset = this.#bytes.length;
    const summed = concatBytes(stored, Uint8Array.of(compression));
    this.#bytes = concatBytes(this.#bytes, summed, fixed32(maskedCrc32c(summed)));
    return { offset, length: stored.length };
  }

  /** Appends index, properties and metaindex, and returns the file. */
  finish(
    { index, properties = {}, meta = {} }: {
      /** Separators and what they point at. */
      index: readonly (readonly [separator: string, handle: BlockHandle])[];
      properties?: Readonly<Record<string, Uint8Array>>;
      meta?: Readonly<Record<string, BlockHandle>>;
    },
  ): Uint8Array {
    const indexHandle = this.append(block(index.map(([key, handle]) => entry(key, encodeHandle(handle)))));
    const named = Object.entries({ ...meta, "rocksdb.properties": this.append(namesBlock(properties)) });
    const handles = Object.fromEntries(named.map(([name, handle]) => [name, encodeHandle(handle)]));
    const metaindex = this.append(namesBlock(handles));
    return this.finishWith(encodeFooter({ metaindex, index: indexHandle }));
  }

  /** Appends a footer of any content and returns the file. */
  finishWith(footer: Uint8Array): Uint8Array {
    return concatBytes(this.#bytes, footer);
  }
}

/** Returns a table of one data block, which is stored as given, under the separator "z". */
export function tableOfBlock(stored: Uint8Array, compression = 0): Uint8Array {
  const table = new CraftedTable();
  return table.finish({ index: [["z", table.append(stored, compression)]] });
}

/** Returns a block of names and values, as the properties are one. */
export function namesBlock(values: Readonly<Record<string, Uint8Array>>): Uint8Array {
  const names = Object.keys(values).sort();
  return block(names.map((name) => ({ rest: bytesOf(name), value: values[name]! })));
}

function bytesOf(text: string | Uint8Array): Uint8Array {
  return typeof text === "string" ? encoder.encode(text) : text;
}

function fixed32(value: number): Uint8Array {
  const bytes = new Uint8Array(4);
  new DataView(bytes.buffer).setUint32(0, value, true);
  return bytes;
}
