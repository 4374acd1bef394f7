/** Reading an object's bytes back, checked against its entry. */

import { hex } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { runningHash } from "../../base/hashes.ts";
import type { ByteRange, ByteStream, ObjectStore } from "../../drivers/object_store.ts";
import type { Entry } from "./entry.ts";

export interface DownloadOptions {
  readonly range?: ByteRange;
  readonly signal?: AbortSignal;
  /** What users know the object by, for messages. */
  readonly path?: string;
}

/** Opens an object. A whole read fails with `checksum_mismatch` before its last piece if the bytes are not the entry's. */
export async function downloadObject(
  objects: ObjectStore,
  entry: Entry,
  { path, ...options }: DownloadOptions = {},
): Promise<ByteStream> {
  const damaged = (why: string): never => refuseDamaged(entry, why, path);
  const key = addressKey(objects, entry);
  try {
    const { info, body } = await objects.get(key, options);
    if (info.sizeBytes !== entry.sizeBytes) {
      damaged(`it has ${info.sizeBytes} bytes instead of ${entry.sizeBytes}`);
    }
    return options.range ? body : checked(body, entry, damaged);
  } catch (error) {
    if (error instanceof CodedError && error.code === "object_not_found") {
      damaged("the file is missing in the storage namespace");
    }
    throw error;
  }
}

/** Returns the key of an entry's object in its storage namespace. */
export function addressKey(objects: ObjectStore, entry: Entry): string {
  const isFull = entry.addressType === 2 || (entry.addressType === 0 && entry.address.includes("://"));
  if (!isFull) return entry.address;
  const base = objects.locate("data").slice(0, -"data".length);
  if (entry.address.startsWith(base)) return entry.address.slice(base.length);
  throw new CodedError(
    "unsupported",
    "address_outside_namespace",
    `Cannot read object "${entry.address}": it lies outside the repository's storage namespace`,
  );
}

/** A piece that waits for the next one to come may be in memory that is used again: a copy of it is not. */
class HeldPiece {
  #memory: readonly [Uint8Array, Uint8Array] = [new Uint8Array(0), new Uint8Array(0)];

  /** Copies a piece; the copy is good until the call after the next. */
  hold(piece: Uint8Array): Uint8Array {
    const [spare, last] = this.#memory;
    const memory = spare.length >= piece.length ? spare : new Uint8Array(piece.length);
    memory.set(piece);
    this.#memory = [last, memory];
    return memory.subarray(0, piece.length);
  }
}

async function* checked(body: ByteStream, entry: Entry, damaged: (why: string) => never): ByteStream {
  // An MD5 of a simple upload is 32 hex digits; a multipart ETag ends in -N and says nothing of the bytes as a whole.
  const expected = entry.sha256
    ? hex(entry.sha256)
    : /^[0-9a-f]{32}$/.test(entry.etag)
    ? entry.etag
    : undefined;
  if (expected === undefined) return yield* body;
  const hash = runningHash(entry.sha256 ? "sha256" : "md5");
  const pieces = new HeldPiece();
  let held: Uint8Array | undefined;
  for await (const piece of body) {
    if (held) yield held;
    hash.update(piece);
    held = pieces.hold(piece);
  }
  if (hex(hash.digest()) !== expected) damaged("its bytes are not those that were stored");
  if (held) yield held;
}

function refuseDamaged({ address }: Entry, why: string, path: string | undefined): never {
  const what = path === undefined ? `"${address}"` : `"${path}" ("${address}")`;
  throw new CodedError("corrupt", "checksum_mismatch", `Cannot read object ${what}: ${why}`, {
    details: { address, ...(path === undefined ? {} : { path }) },
  });
}
