/** Reading an object's bytes back, checked against its entry. */

import { hex } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { runningHash } from "../../base/hashes.ts";
import type { ByteRange, ByteStream, ObjectStore } from "../../drivers/object_store.ts";
import type { Entry } from "./entry.ts";

/** Opens an object. A whole read fails with `checksum_mismatch` before its last piece if the bytes are not the entry's. */
export async function downloadObject(
  objects: ObjectStore,
  entry: Entry,
  options: { range?: ByteRange; signal?: AbortSignal } = {},
): Promise<ByteStream> {
  const key = addressKey(objects, entry);
  try {
    const { info, body } = await objects.get(key, options);
    if (info.sizeBytes !== entry.sizeBytes) {
      damaged(entry, `it has ${info.sizeBytes} bytes instead of ${entry.sizeBytes}`);
    }
    return options.range ? body : checked(body, entry);
  } catch (error) {
    if (error instanceof CodedError && error.code === "object_not_found") {
      damaged(entry, "the file is missing in the storage namespace");
    }
    throw error;
  }
}

/** Returns the key of an entry's object in its storage namespace. */
function addressKey(objects: ObjectStore, entry: Entry): string {
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

async function* checked(body: ByteStream, entry: Entry): ByteStream {
  // An MD5 of a simple upload is 32 hex digits; a multipart ETag ends in -N and says nothing of the bytes as a whole.
  const expected = entry.sha256
    ? hex(entry.sha256)
    : /^[0-9a-f]{32}$/.test(entry.etag)
    ? entry.etag
    : undefined;
  if (expected === undefined) return yield* body;
  const hash = runningHash(entry.sha256 ? "sha256" : "md5");
  let held: Uint8Array | undefined;
  for await (const piece of body) {
    if (held) yield held;
    hash.update(piece);
    held = piece.slice();
  }
  if (hex(hash.digest()) !== expected) damaged(entry, "its bytes are not those that were stored");
  if (held) yield held;
}

function damaged(entry: Entry, why: string): never {
  throw new CodedError("corrupt", "checksum_mismatch", `Cannot read object "${entry.address}": ${why}`, {
    details: { address: entry.address },
  });
}
