import { Buffer } from "node:buffer";
import { compareBytes, concatBytes, isWellFormed, startsWithBytes, utf8 } from "../../base/bytes.ts";
import { type Clock, systemClock } from "../../base/clock.ts";
import { CodedError, throwIfAborted } from "../../base/errors.ts";
import { encodePath } from "../../base/uri.ts";
import { abortable, checkExtent, isParts, resolveRange } from "../byte_streams.ts";
import type {
  ByteRange,
  ByteStream,
  ListOptions,
  NewObject,
  ObjectInfo,
  ObjectPage,
  ObjectStore,
  PutOptions,
} from "../object_store.ts";

const PIECE_BYTES = 256 * 1024;
const DEFAULT_PAGE_SIZE = 1000;

export interface MemoryObjectStoreOptions {
  /** The URI prefix that `locate` puts before keys; default `mem://store`. */
  readonly address?: string;
  readonly clock?: Clock;
}

/** Opens an empty store. Any text without lone surrogates is a key, but the empty one. */
export function openMemoryObjectStore(options: MemoryObjectStoreOptions = {}): ObjectStore {
  return new MemoryObjectStore(options.address ?? "mem://store", options.clock ?? systemClock);
}

interface StoredObject {
  readonly info: ObjectInfo;
  readonly keyBytes: Uint8Array;
  readonly content: Uint8Array;
}

class MemoryObjectStore implements ObjectStore {
  readonly #address: string;
  readonly #clock: Clock;
  readonly #objects = new Map<string, StoredObject>();
  /** All objects in byte order of keys; made by the first listing after a change. */
  #sorted: readonly StoredObject[] | undefined;

  constructor(address: string, clock: Clock) {
    this.#address = address;
    this.#clock = clock;
  }

  locate(key: string): string {
    checkKey(key);
    return `${this.#address}/${encodePath(key)}`;
  }

  async head(key: string): Promise<ObjectInfo | undefined> {
    checkKey(key);
    return this.#objects.get(key)?.info;
  }

  async *pages(options: ListOptions = {}): AsyncGenerator<ObjectPage> {
    const pageSize = Math.max(1, options.pageSize ?? DEFAULT_PAGE_SIZE);
    let objects: ObjectInfo[] = [];
    let prefixes: string[] = [];
    for (const item of fold(this.#select(options), options)) {
      if (typeof item === "string") prefixes.push(item);
      else objects.push(item);
      if (objects.length + prefixes.length < pageSize) continue;
      yield { objects, prefixes };
      objects = [];
      prefixes = [];
    }
    if (objects.length + prefixes.length > 0) yield { objects, prefixes };
  }

  async get(
    key: string,
    options: { range?: ByteRange; signal?: AbortSignal } = {},
  ): Promise<{ info: ObjectInfo; body: ByteStream }> {
    throwIfAborted(options.signal);
    const { info, content } = this.#find(key);
    const { start, length } = resolveRange(info, options.range);
    return { info, body: pieces(content.subarray(start, start + length), options.signal) };
  }

  async read(key: string, offset: number, length: number): Promise<Uint8Array> {
    checkExtent(key, offset, length);
    return this.#find(key).content.slice(offset, offset + length);
  }

  async put(
    key: string,
    body: Uint8Array | readonly Uint8Array[] | ByteStream,
    options: PutOptions = {},
  ): Promise<ObjectInfo> {
    checkKey(key);
    throwIfAborted(options.signal);
    // `slice` of a Buffer would share its memory.
    const content = body instanceof Uint8Array
      ? new Uint8Array(body)
      : isParts(body)
      ? concatBytes(...body)
      : await gather(abortable(body, options.signal));
    if ((options.mode ?? "replace") !== "replace" && this.#objects.has(key)) {
      throw new CodedError("exists", "object_exists", `Cannot put "${key}": the object exists`, {
        details: { key },
      });
    }
    const info = { key, sizeBytes: content.length, modifiedMs: this.#clock.now() };
    this.#objects.set(key, { info, keyBytes: utf8(key), content });
    this.#sorted = undefined;
    return info;
  }

  async putAt(key: string, offset: number, body: Uint8Array | ByteStream): Promise<void> {
    checkExtent(key, offset, 0);
    const written = body instanceof Uint8Array ? body : await gather(body);
    const { content } = this.#find(key);
    const grown = new Uint8Array(Math.max(content.length, offset + written.length));
    grown.set(content);
    grown.set(written, offset);
    await this.put(key, grown);
  }

  async putMany(objects: readonly NewObject[]): Promise<void> {
    for (const { key } of objects) checkKey(key);
    for (const { key, body } of objects) await this.put(key, body, { mode: "fresh" });
  }

  async flush(keys: readonly string[]): Promise<void> {
    for (const key of keys) this.#find(key);
  }

  async delete(key: string): Promise<boolean> {
    checkKey(key);
    const existed = this.#objects.delete(key);
    if (existed) this.#sorted = undefined;
    return existed;
  }

  #find(key: string): StoredObject {
    checkKey(key);
    const found = this.#objects.get(key);
    if (found) return found;
    throw new CodedError("not_found", "object_not_found", `Cannot find object "${key}"`, {
      details: { key },
    });
  }

  *#select(options: ListOptions): Generator<StoredObject> {
    this.#sorted ??= [...this.#objects.values()].sort((a, b) => compareBytes(a.keyBytes, b.keyBytes));
    const prefix = utf8(options.prefix ?? "");
    const after = options.after === undefined ? undefined : utf8(options.after);
    for (const object of this.#sorted) {
      if (!startsWithBytes(object.keyBytes, prefix)) continue;
      if (after && compareBytes(object.keyBytes, after) <= 0) continue;
      yield object;
    }
  }
}

/** Yields infos of objects, and texts for the common prefixes that stand for several. */
function* fold(objects: Iterable<StoredObject>, options: ListOptions): Generator<ObjectInfo | string> {
  const prefixLength = options.prefix?.length ?? 0;
  let folded: string | undefined;
  for (const { info } of objects) {
    const at = options.delimiter ? info.key.indexOf(options.delimiter, prefixLength) : -1;
    if (at < 0) {
      yield info;
      continue;
    }
    const common = info.key.slice(0, at + options.delimiter!.length);
    if (common !== folded) yield common;
    folded = common;
  }
}

async function* pieces(content: Uint8Array, signal: AbortSignal | undefined): ByteStream {
  for (let at = 0; at < content.length; at += PIECE_BYTES) {
    throwIfAborted(signal);
    // A copy: whoever is handed a piece may write into it.
    yield content.slice(at, at + PIECE_BYTES);
  }
}

async function gather(body: ByteStream): Promise<Uint8Array> {
  const copies: Uint8Array[] = [];
  for await (const piece of body) copies.push(new Uint8Array(piece));
  return new Uint8Array(Buffer.concat(copies));
}

function checkKey(key: string): void {
  if (key !== "" && isWellFormed(key)) return;
  const why = key === "" ? "a key has at least one character" : "it has no UTF-8 form";
  throw new CodedError("invalid", "unplaceable_key", `Cannot use key "${key}": ${why}`, { details: { key } });
}
