/** Storing an object's bytes: SHA-256 and MD5 in the same pass, never held in memory. */

import { hex } from "../../base/bytes.ts";
import { type Clock, timestampOf } from "../../base/clock.ts";
import { md5Hex, runningHash, sha256 } from "../../base/hashes.ts";
import type { Randomness } from "../../base/randomness.ts";
import type { ByteStream, ObjectStore } from "../../drivers/object_store.ts";
import type { CheckedFiles } from "./checked_files.ts";
import { newAddress } from "./address.ts";
import { DEFAULT_CONTENT_TYPE, type Entry } from "./entry.ts";
import type { ReadyAddresses } from "./ready_address.ts";

export interface UploadOptions {
  readonly contentType?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  readonly signal?: AbortSignal;
}

export interface UploadPlace {
  readonly objects: Pick<ObjectStore, "put" | "putMany" | "delete">;
  /** Told of what was hashed on its way. */
  readonly checkedFiles?: Pick<CheckedFiles, "storedRight">;
  /** Knows addresses at which a small object is stored faster. */
  readonly addresses?: Pick<ReadyAddresses, "next">;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

/** Stores bytes under a fresh address; returns the entry for them. Nothing is flushed, nothing refers to it yet. */
export async function uploadObject(
  place: UploadPlace,
  body: Uint8Array | ByteStream,
  options: UploadOptions = {},
): Promise<Entry> {
  const { signal } = options;
  if (body instanceof Uint8Array) {
    const address = place.addresses?.next(body.length) ?? newAddress(place.clock, place.randomness);
    await place.objects.put(address, body, { mode: "fresh", signal });
    return entryOf(place, { address, ...contentOf(body) }, options);
  }
  const address = newAddress(place.clock, place.randomness);
  const sha256 = runningHash("sha256"), md5 = runningHash("md5");
  let sizeBytes = 0;
  async function* passing(stream: ByteStream): ByteStream {
    for await (const piece of stream) {
      sha256.update(piece);
      md5.update(piece);
      sizeBytes += piece.length;
      yield piece;
    }
  }
  await place.objects.put(address, passing(body), { mode: "fresh", signal });
  await place.checkedFiles?.storedRight(address);
  const content = { sizeBytes, etag: hex(md5.digest()), sha256: sha256.digest() };
  return entryOf(place, { address, ...content }, options);
}

/** Stores many small bodies, each under a fresh address, and returns their entries in order; else as {@link uploadObject}. */
export async function uploadObjects(
  place: UploadPlace,
  bodies: readonly Uint8Array[],
  options: UploadOptions = {},
): Promise<Entry[]> {
  const objects = bodies.map((body) => ({ key: newAddress(place.clock, place.randomness), body }));
  // Files are made while we hash.
  const stored = place.objects.putMany(objects);
  const contents = objects.map(({ key, body }) => ({ address: key, ...contentOf(body) }));
  try {
    await stored;
  } catch (error) {
    // Some may be there, and nobody will hear of them.
    await Promise.allSettled(objects.map(({ key }) => place.objects.delete(key)));
    throw error;
  }
  return contents.map((content) => entryOf(place, content, options));
}

type Content = Pick<Entry, "sizeBytes" | "etag"> & { readonly sha256: Uint8Array };

function contentOf(body: Uint8Array): Content {
  return { sizeBytes: body.length, etag: md5Hex(body), sha256: sha256(body) };
}

function entryOf(
  { clock }: UploadPlace,
  { address, sizeBytes, etag, sha256 }: Content & { readonly address: string },
  { metadata = {}, contentType }: UploadOptions,
): Entry {
  return {
    address,
    addressType: 1,
    lastModified: timestampOf(clock.now()),
    sizeBytes,
    etag,
    metadata,
    contentType: contentType || DEFAULT_CONTENT_TYPE,
    sha256,
  };
}
