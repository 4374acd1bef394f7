/** Storing an object's bytes: SHA-256 and MD5 in the same pass, never held in memory. */

import { hex } from "../../base/bytes.ts";
import { type Clock, timestampOf } from "../../base/clock.ts";
import { runningHash } from "../../base/hashes.ts";
import type { Randomness } from "../../base/randomness.ts";
import type { ByteStream, ObjectStore } from "../../drivers/object_store.ts";
import { newAddress } from "./address.ts";
import { DEFAULT_CONTENT_TYPE, type Entry } from "./entry.ts";

export interface UploadOptions {
  readonly contentType?: string;
  readonly metadata?: Readonly<Record<string, string>>;
}

export interface UploadPlace {
  readonly objects: ObjectStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/** Stores bytes under a fresh address; returns the entry for them. Nothing is flushed, nothing refers to it yet. */
export async function uploadObject(
  place: UploadPlace,
  body: Uint8Array | ByteStream,
  options: UploadOptions = {},
): Promise<Entry> {
  const address = newAddress(place.clock, place.randomness);
  const sha256 = runningHash("sha256"), md5 = runningHash("md5");
  let sizeBytes = 0;
  function look(piece: Uint8Array): void {
    sha256.update(piece);
    md5.update(piece);
    sizeBytes += piece.length;
  }
  async function* passing(stream: ByteStream): ByteStream {
    for await (const piece of stream) {
      look(piece);
      yield piece;
    }
  }
  if (body instanceof Uint8Array) look(body);
  await place.objects.put(address, body instanceof Uint8Array ? body : passing(body), { mode: "fresh" });
  return {
    address,
    addressType: 1,
    lastModified: timestampOf(place.clock.now()),
    sizeBytes,
    etag: hex(md5.digest()),
    metadata: options.metadata ?? {},
    contentType: options.contentType || DEFAULT_CONTENT_TYPE,
    sha256: sha256.digest(),
  };
}
