/** The two meta pages of the file, and which of them counts. */

import type { Buffer } from "node:buffer";
import { asBuffer } from "../../base/bytes.ts";
import { mapBeginning } from "../../base/platform.ts";
import { Damage, type Meta, META_BYTES, parseMeta, readFully } from "./page.ts";

/** Both meta pages as they are in the file, one behind the other. */
export type MetaPages = Uint8Array;

const USUAL_PAGE_BYTES = 4096;

/** How often the pages are read before they are mapped: a short command would gain nothing. */
const LOOKS_BEFORE_MAPPING = 64;

/** Looks at the meta pages of one file again and again. */
export class MetaPagesReader {
  readonly #file: number;
  readonly #scratch = new Uint8Array(USUAL_PAGE_BYTES + META_BYTES);
  #seen: Buffer | undefined;
  #other = asBuffer(new Uint8Array(2 * META_BYTES));
  #looksToMapping: number;
  /** Memory that shows both pages as they are now. */
  #mapped: Buffer | undefined;

  /** `mayMap` is false where memory may not show what another machine has written. */
  constructor(file: number, mayMap: boolean) {
    this.#file = file;
    this.#looksToMapping = mayMap ? LOOKS_BEFORE_MAPPING : Infinity;
  }

  /** The pages as they were when they were last looked at. */
  get seen(): MetaPages | undefined {
    return this.#seen;
  }

  /** Looks at the pages; returns whether they are others than those seen before. Fails with {@link Damage}. */
  look(): boolean {
    const seen = this.#seen;
    if (seen && this.#mapped && showsPages(this.#mapped, seen)) return false;
    const now = this.#other;
    readMetaPagesInto(now, { file: this.#file, scratch: this.#scratch });
    if (--this.#looksToMapping === 0) this.#map(now);
    // The runtime's own comparison.
    if (seen?.equals(now)) return false;
    this.#seen = now;
    this.#other = seen ?? asBuffer(new Uint8Array(2 * META_BYTES));
    return true;
  }

  #map(pages: MetaPages): void {
    if (metaIn(pages, 0)?.pageSize !== USUAL_PAGE_BYTES) return;
    const mapped = mapBeginning(this.#file, 2 * USUAL_PAGE_BYTES);
    this.#mapped = mapped && asBuffer(mapped);
  }
}

function showsPages(mapped: Buffer, pages: Buffer): boolean {
  const second = USUAL_PAGE_BYTES;
  return mapped.compare(pages, 0, META_BYTES, 0, META_BYTES) === 0 &&
    mapped.compare(pages, META_BYTES, 2 * META_BYTES, second, second + META_BYTES) === 0;
}

/** Reads the meta pages. Fails with {@link Damage} if they are missing. */
export function readMetaPages(file: number): MetaPages {
  const pages = new Uint8Array(2 * META_BYTES);
  readMetaPagesInto(pages, { file, scratch: new Uint8Array(USUAL_PAGE_BYTES + META_BYTES) });
  return pages;
}

/** Reads the meta pages into `pages`, with memory for one page and the beginning of the next. */
export function readMetaPagesInto(
  pages: MetaPages,
  { file, scratch }: { readonly file: number; readonly scratch: Uint8Array },
): void {
  if (!readFully(file, scratch, 0)) throw new Damage("the meta pages are missing");
  pages.set(scratch.subarray(0, META_BYTES));
  const pageSize = metaIn(pages, 0)?.pageSize ?? USUAL_PAGE_BYTES;
  const second = pages.subarray(META_BYTES);
  if (pageSize === USUAL_PAGE_BYTES) second.set(scratch.subarray(USUAL_PAGE_BYTES));
  else if (!readFully(file, second, pageSize)) throw new Damage("the second meta page is missing");
}

/** Returns the meta page that counts. */
export function newestMeta(pages: MetaPages): Meta {
  const first = metaIn(pages, 0), second = metaIn(pages, META_BYTES);
  if (!first) throw new Damage("the first meta page is none");
  if (!second || second.pageSize !== first.pageSize) throw new Damage("the second meta page is none");
  return checkedMeta(first, second);
}

/** Returns the meta page of a file that counts. */
export function readMeta(file: number): Meta {
  return newestMeta(readMetaPages(file));
}

function metaIn(pages: MetaPages, at: number): Meta | undefined {
  return parseMeta(new DataView(pages.buffer, pages.byteOffset + at, META_BYTES));
}

/** Transactions are numbered one after the other and write the two pages in turn; both begin at 0. */
function checkedMeta(first: Meta, second: Meta): Meta {
  const [newer, older] = second.transaction > first.transaction ? [second, first] : [first, second];
  const isInTurn = newer.transaction - older.transaction === 1 && first.transaction % 2 === 0;
  if (!isInTurn && newer.transaction > 0) throw new Damage("the meta pages do not follow one another");
  const isSound = newer.lastPage >= older.lastPage && newer.free.flags === 8 && newer.main.flags === 0;
  if (!isSound) throw new Damage("the meta page that counts is unsound");
  return newer;
}
