/**
 * The pages of an LMDB file, as bytes: what is in them, and whether they can be what LMDB wrote.
 *
 * The file is pages of one size. Pages 0 and 1 are meta pages of which the one with the higher transaction number
 * counts; transaction N writes the meta page N mod 2. It holds the roots of two trees, of free pages and of the data.
 * Little-endian, offsets in bytes:
 *
 *     page:    0 number u64, 8 transaction u64, 18 flags u16 (1 branch, 2 leaf, 4 overflow, 8 meta), then
 *              branch and leaf: 20 lower u16, 22 upper u16, 24 pointers u16… (lower is twice the number of pointers; each
 *              counts from byte 24 and leads to a node; the nodes fill all from upper to the page's end)
 *              overflow: 20 pages u32, 24 one value
 *     node:    0 low u16, 2 high u16, 4 flags u16, 6 key length u16, 8 key, then the data; its size is rounded up to even
 *              (branch: low, high and flags are the page number; leaf with flag 1: the data is
 *              first page u64, transaction u64, pages u64 of a value kept on overflow pages)
 *     meta:    24 magic u32, 28 version u16, 48 the free tree, 96 the data's tree, 144 last page u64, 152 transaction u64
 *     tree:    0 pad u32 (of the free tree: the page size), 4 flags u16, 6 depth u16, 8 branch pages u64, 16 leaf pages u64,
 *              24 overflow pages u64, 32 entries u64, 40 root u64
 */

import type { Buffer } from "node:buffer";
import { readSync } from "node:fs";
import { asBuffer } from "../../base/bytes.ts";
import { crc32 } from "../../base/platform.ts";

export const HEAD_BYTES = 24;
export const META_BYTES = 160;
const NODE_BYTES = 8;
const MAGIC = 0xbeefc0de;
const VERSION = 2;
const META_FLAG = 8;
const BRANCH_FLAG = 1;
const LEAF_FLAG = 2;
export const OVERFLOW_FLAG = 4;
const BIG_DATA = 1;

/** What a meta page says of a tree; read when it is asked for, as most of it seldom is. */
export class TreeMeta {
  readonly flags: number;
  readonly depth: number;
  /** `undefined` of an empty tree. */
  readonly root: number | undefined;
  readonly #view: DataView;
  readonly #at: number;

  constructor(view: DataView, at: number) {
    this.#view = view;
    this.#at = at;
    this.flags = view.getUint16(at + 4, true);
    this.depth = view.getUint16(at + 6, true);
    const isEmpty = view.getUint32(at + 40, true) === 0xffffffff &&
      view.getUint32(at + 44, true) === 0xffffffff;
    this.root = isEmpty ? undefined : u64(view, at + 40);
  }

  get branchPages(): number {
    return u64(this.#view, this.#at + 8);
  }

  get leafPages(): number {
    return u64(this.#view, this.#at + 16);
  }

  get overflowPages(): number {
    return u64(this.#view, this.#at + 24);
  }

  get entries(): number {
    return u64(this.#view, this.#at + 32);
  }
}

export interface Meta {
  readonly pageSize: number;
  readonly free: TreeMeta;
  readonly main: TreeMeta;
  readonly lastPage: number;
  readonly transaction: number;
  /** Two states of the same number that are not one have different ones. */
  readonly fingerprint: number;
}

/** A page that is not what LMDB wrote. Callers say so with the file's name, or look again. */
export class Damage extends Error {}

/** A journal that cannot be used, whatever the database is like. */
export class JournalDamage extends Damage {}

/** Returns the meta page at the beginning of `bytes`, or `undefined` when it is none. */
export function parseMeta(view: DataView): Meta | undefined {
  if ((view.getUint16(18, true) & META_FLAG) === 0) return undefined;
  if (view.getUint32(24, true) !== MAGIC || view.getUint16(28, true) !== VERSION) return undefined;
  const pageSize = view.getUint32(48, true);
  if (pageSize < 512 || pageSize > 65536) return undefined;
  return {
    pageSize,
    free: new TreeMeta(view, 48),
    main: new TreeMeta(view, 96),
    lastPage: u64(view, 144),
    transaction: u64(view, 152),
    fingerprint: crc32(new Uint8Array(view.buffer, view.byteOffset + 48, META_BYTES - 48)),
  };
}

/** Beyond 2^53 it is not exact, which no page or transaction number comes to. */
export function u64(view: DataView, at: number): number {
  return view.getUint32(at, true) + view.getUint32(at + 4, true) * 4294967296;
}

/** Fills `bytes` from `offset` on; returns `false` when the file ends before. */
export function readFully(file: number, bytes: Uint8Array, offset: number): boolean {
  for (let filled = 0; filled < bytes.length;) {
    const got = readSync(file, bytes, filled, bytes.length - filled, offset + filled);
    if (got === 0) return false;
    filled += got;
  }
  return true;
}

/** Where a leaf's value lies that has pages of its own. */
export interface Overflow {
  readonly first: number;
  readonly transaction: number;
  readonly pages: number;
  readonly size: number;
}

const headBytes = new Uint8Array(16);
/** Memory for the beginning of a page. */
const HEAD = { bytes: headBytes, view: new DataView(headBytes.buffer) };

/** Memory for a branch or leaf page, whose structure is checked when it is read: nothing in it leads to where no page can be. */
export class TreePage {
  number = 0;
  transaction = 0;
  isLeaf = false;
  /** How many nodes it has: at least one. */
  count = 0;
  /** Of a kept branch: the state in which it was last known to be what is in the file. */
  seenIn = -1;
  /** Whether values of a leaf lie on pages of their own. */
  hasOverflows = false;
  readonly #bytes: Uint8Array;
  readonly #view: DataView;
  readonly #buffer: Buffer;
  /** Where nodes begin: two pointers to one node would hide that another one is lost. */
  readonly #starts: Uint8Array;

  constructor(pageSize: number) {
    this.#bytes = new Uint8Array(pageSize);
    this.#view = new DataView(this.#bytes.buffer);
    this.#buffer = asBuffer(this.#bytes);
    this.#starts = new Uint8Array(pageSize >> 1);
  }

  /** Reads a page and checks it. Fails with {@link Damage}. */
  read(file: number, number: number, meta: Meta): void {
    try {
      this.#read(file, number, meta);
    } catch (error) {
      this.number = 0;
      throw error;
    }
  }

  #read(file: number, number: number, { lastPage, transaction, pageSize }: Meta): void {
    this.number = number;
    if (number < 2 || number > lastPage) throw new Damage(`there can be no page ${number}`);
    if (!readFully(file, this.#bytes, number * pageSize)) throw new Damage(`page ${number} is missing`);
    const view = this.#view;
    if (u64(view, 0) !== number) throw new Damage(`page ${number} is another one`);
    this.transaction = u64(view, 8);
    if (this.transaction > transaction) throw new Damage(`page ${number} is of a later time`);
    const flags = view.getUint16(18, true);
    if (flags !== BRANCH_FLAG && flags !== LEAF_FLAG) throw new Damage(`page ${number} is of no known kind`);
    this.isLeaf = flags === LEAF_FLAG;
    const lower = view.getUint16(20, true), upper = view.getUint16(22, true);
    this.count = lower >> 1;
    if (lower % 2 !== 0 || this.count === 0 || lower > upper || HEAD_BYTES + upper > pageSize) {
      throw new Damage(`page ${number} has no sound head`);
    }
    this.hasOverflows = false;
    this.#checkNodes(HEAD_BYTES + upper, { lastPage, pageSize });
  }

  #checkNodes(nodes: number, { lastPage, pageSize }: { lastPage: number; pageSize: number }): void {
    const view = this.#view, starts = this.#starts.fill(0);
    let used = nodes;
    for (let i = 0; i < this.count; i++) {
      const at = HEAD_BYTES + view.getUint16(HEAD_BYTES + 2 * i, true);
      if (at < nodes || at + NODE_BYTES > pageSize || at % 2 !== 0 || starts[at >> 1] === 1) {
        throw this.#badNode(i);
      }
      starts[at >> 1] = 1;
      const low = view.getUint16(at, true), high = view.getUint16(at + 2, true);
      const flags = view.getUint16(at + 4, true);
      let size = NODE_BYTES + view.getUint16(at + 6, true);
      if (this.isLeaf) {
        if (flags > BIG_DATA || size === NODE_BYTES) throw this.#badNode(i);
        size += flags === BIG_DATA ? 24 : low + high * 65536;
      } else {
        const child = low + high * 65536 + flags * 4294967296;
        if (child < 2 || child > lastPage) throw this.#badNode(i);
      }
      if (at + size > pageSize) throw this.#badNode(i);
      used += size + (size & 1);
      if (this.isLeaf && flags === BIG_DATA) {
        this.hasOverflows = true;
        this.#checkOverflow(i, { lastPage, pageSize });
      }
    }
    if (used !== pageSize) throw new Damage(`the nodes of page ${this.number} do not fill it`);
  }

  #checkOverflow(i: number, { lastPage, pageSize }: { lastPage: number; pageSize: number }): void {
    const { first, transaction, pages, size } = this.overflow(i)!;
    const needed = Math.ceil((HEAD_BYTES + size) / pageSize);
    // More than are needed: a value that one transaction stored, and then a shorter one in its place.
    const isSound = first >= 2 && pages >= needed && first + pages - 1 <= lastPage;
    if (!isSound || transaction > this.transaction) throw this.#badNode(i);
  }

  #badNode(i: number): Damage {
    return new Damage(`node ${i} of page ${this.number} is unsound`);
  }

  #node(i: number): number {
    return HEAD_BYTES + this.#view.getUint16(HEAD_BYTES + 2 * i, true);
  }

  /** Returns a view of a node's key. That of a branch's first node means nothing. */
  key(i: number): Uint8Array {
    const at = this.#node(i);
    return this.#bytes.subarray(at + NODE_BYTES, at + NODE_BYTES + this.#view.getUint16(at + 6, true));
  }

  /** Compares a node's key with `key`. */
  compare(i: number, key: Uint8Array): number {
    const at = this.#node(i), start = at + NODE_BYTES, bytes = this.#bytes;
    const length = this.#view.getUint16(at + 6, true);
    const end = length < key.length ? length : key.length;
    let j = 0;
    while (j < end && bytes[start + j] === key[j]) j++;
    return j < end ? bytes[start + j]! - key[j]! : length - key.length;
  }

  /** Returns the page that a branch's node leads to. */
  child(i: number): number {
    const at = this.#node(i), view = this.#view;
    return view.getUint32(at, true) + view.getUint16(at + 4, true) * 4294967296;
  }

  /** Returns where the value of a leaf's node lies, unless it is in the page. */
  overflow(i: number): Overflow | undefined {
    const at = this.#node(i), view = this.#view;
    if (view.getUint16(at + 4, true) !== BIG_DATA) return undefined;
    const data = at + NODE_BYTES + view.getUint16(at + 6, true);
    return {
      first: u64(view, data),
      transaction: u64(view, data + 8),
      pages: u64(view, data + 16),
      size: view.getUint32(at, true),
    };
  }

  /** Returns a view of the value of a leaf's node that is in the page. */
  value(i: number): Uint8Array {
    const at = this.#node(i);
    const start = at + NODE_BYTES + this.#view.getUint16(at + 6, true);
    return this.#bytes.subarray(start, start + this.#view.getUint32(at, true));
  }

  /** Returns the first node whose key is not less than `key`, or `count`. */
  lowerBound(key: Uint8Array): number {
    let from = 0, to = this.count;
    while (from < to) {
      const middle = (from + to) >> 1;
      if (this.compare(middle, key) < 0) from = middle + 1;
      else to = middle;
    }
    return from;
  }

  /**
   * Returns the node of a branch under which `key` belongs. The keys are in order, so those between two that share bytes with
   * `key` share these too, and comparing begins behind them.
   */
  childOf(key: Uint8Array): number {
    const bytes = this.#bytes, view = this.#view;
    let from = 1, to = this.count, sharedBelow = 0, sharedAbove = 0;
    while (from < to) {
      const middle = (from + to) >> 1;
      const at = HEAD_BYTES + view.getUint16(HEAD_BYTES + 2 * middle, true), start = at + NODE_BYTES;
      const length = view.getUint16(at + 6, true);
      const end = length < key.length ? length : key.length;
      let i = sharedBelow < sharedAbove ? sharedBelow : sharedAbove;
      while (i < end && bytes[start + i] === key[i]) i++;
      if (i < end ? bytes[start + i]! < key[i]! : length <= key.length) {
        from = middle + 1;
        sharedBelow = i;
      } else {
        to = middle;
        sharedAbove = i;
      }
    }
    return from - 1;
  }

  /**
   * Fails with {@link Damage} unless the keys are in order. The runtime's own comparison: a loop of ours over thousands of bytes
   * would be compiled at once, which takes a short command longer than all else here.
   */
  proveOrder(): void {
    const buffer = this.#buffer, view = this.#view;
    let at = this.#node(this.isLeaf ? 0 : 1);
    for (let i = this.isLeaf ? 1 : 2; i < this.count; i++) {
      const next = this.#node(i);
      const end = at + NODE_BYTES + view.getUint16(at + 6, true);
      const nextEnd = next + NODE_BYTES + view.getUint16(next + 6, true);
      if (buffer.compare(buffer, next + NODE_BYTES, nextEnd, at + NODE_BYTES, end) >= 0) {
        throw new Damage(`the keys of page ${this.number} are out of order`);
      }
      at = next;
    }
  }

  /** Returns whether the page in the file is still the one that was read: each is written once in a transaction. */
  isStill(file: number): boolean {
    const head = HEAD;
    return readFully(file, head.bytes, this.number * this.#bytes.length) &&
      u64(head.view, 0) === this.number &&
      u64(head.view, 8) === this.transaction;
  }
}
