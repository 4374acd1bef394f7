/** A file that is open: pinned, fetched whole, and read in blocks from the local copy, whatever happens to its name. */

import * as fs from "node:fs";
import { CodedError } from "../base/errors.ts";
import { localError } from "../base/local_errors.ts";
import type { HeldCache } from "../cache/mod.ts";
import type { CallOptions } from "../drivers/catalog_store.ts";
import type { Calls } from "./calls.ts";
import { type Target, targetOf } from "./targets.ts";

/** What one block may hold. */
export const MOST_BLOCK_BYTES = 4 * 1024 * 1024;

export interface CatalogFile {
  readonly sizeBytes: number;
  /** Returns the bytes from `offset` on, fewer than `length` at the file's end alone. Fails with `invalid_range`. */
  readBlock(offset: number, length: number): Promise<Uint8Array>;
  close(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/** Opens a file. Fails as `fetch` does, and with `folder_in_the_way` for a folder. */
export async function openCatalogFile(
  calls: Calls,
  target: Target,
  { cache, ...options }: CallOptions & { readonly cache: HeldCache },
): Promise<CatalogFile> {
  const { path } = await calls.hooks.run(calls.request("open", target), async (request) => {
    const pinned = await calls.pin(targetOf(target, request), options);
    const path = await calls.fetch(pinned, cache, options);
    return { path, sizeBytes: fs.statSync(path).size };
  });
  return new OpenedFile(calls, target, openLocal(path, target.asked));
}

interface OpenLocal {
  readonly descriptor: number;
  readonly sizeBytes: number;
}

function openLocal(path: string, asked: string): OpenLocal {
  let descriptor: number;
  try {
    descriptor = fs.openSync(path, "r");
  } catch (error) {
    throw localError(error, `Cannot open "${asked}"`);
  }
  const stat = fs.fstatSync(descriptor);
  if (stat.isFile()) return { descriptor, sizeBytes: stat.size };
  fs.closeSync(descriptor);
  throw new CodedError("invalid", "folder_in_the_way", `Cannot open "${asked}": it is a folder`, {
    details: { uri: asked },
  });
}

class OpenedFile implements CatalogFile {
  readonly sizeBytes: number;
  readonly #calls: Calls;
  readonly #target: Target;
  readonly #descriptor: number;
  #isClosed = false;

  constructor(calls: Calls, target: Target, { descriptor, sizeBytes }: OpenLocal) {
    this.#calls = calls;
    this.#target = target;
    this.#descriptor = descriptor;
    this.sizeBytes = sizeBytes;
  }

  async readBlock(offset: number, length: number): Promise<Uint8Array> {
    this.#check(offset, length);
    const request = this.#calls.request("read_block", this.#target, { offset, length });
    return await this.#calls.hooks.run(request, async ({ offset, length }) => {
      this.#check(offset!, length!);
      return await this.#read(offset!, length!);
    });
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    try {
      await this.#calls.hooks.run(this.#calls.request("close", this.#target), async () => undefined);
    } finally {
      fs.closeSync(this.#descriptor);
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.close();
  }

  #check(offset: number, length: number): void {
    const isRange = Number.isSafeInteger(offset) && offset >= 0 && Number.isSafeInteger(length) &&
      length >= 0;
    const why = this.#isClosed
      ? "the file is closed"
      : !isRange
      ? "it is no range of bytes"
      : length > MOST_BLOCK_BYTES
      ? `a block has at most ${MOST_BLOCK_BYTES} bytes`
      : undefined;
    if (why === undefined) return;
    throw new CodedError(
      "invalid",
      "invalid_range",
      `Cannot read ${length} bytes at ${offset} of "${this.#target.asked}": ${why}`,
    );
  }

  async #read(offset: number, length: number): Promise<Uint8Array> {
    const block = new Uint8Array(Math.min(length, Math.max(0, this.sizeBytes - offset)));
    let filled = 0;
    while (filled < block.length) {
      const count = await this.#readInto(block.subarray(filled), offset + filled);
      if (count === 0) break;
      filled += count;
    }
    return block.subarray(0, filled);
  }

  #readInto(into: Uint8Array, position: number): Promise<number> {
    return new Promise((resolve, reject) => {
      fs.read(this.#descriptor, into, 0, into.length, position, (error, count) => {
        if (error) reject(localError(error, `Cannot read "${this.#target.asked}"`));
        else resolve(count);
      });
    });
  }
}
