/**
 * Making one object of parts.
 *
 * Where all bytes lie in one file already, one behind the other and nothing else, that file is it: a single part, the parts of a
 * copy within the repository, a slab. Otherwise the parts are written to a new one: bytes move once, and never lie in memory.
 * But for a copy, whose content is known, each part is read and held against what it was stored as.
 */

import { equalBytes } from "../../base/bytes.ts";
import { timestampOf } from "../../base/clock.ts";
import { CodedError, isCoded } from "../../base/errors.ts";
import { md5Hex, runningHash } from "../../base/hashes.ts";
import type { ByteStream, ObjectStore } from "../../drivers/object_store.ts";
import { DEFAULT_CONTENT_TYPE, type Entry, newAddress } from "../objects/mod.ts";
import type { Repository } from "../repository.ts";
import type { UploadRecord } from "./records.ts";
import { areWholeSlab } from "./slab.ts";
import type { NumberedPart, UploadName } from "./upload.ts";

const PIECE_BYTES = 512 * 1024;

export interface MadeObject {
  readonly address: string;
  readonly sha256: Uint8Array;
  /** `new`: written for this; `part`, `slab`: it was a part of the upload, or several; `source`: it is another object's. */
  readonly origin: "new" | "part" | "slab" | "source";
}

/** Makes the object of parts. Fails with `part_not_found` when the bytes of one are not those that were stored. */
export async function makeObject(
  repository: Repository,
  upload: UploadName,
  parts: readonly NumberedPart[],
): Promise<MadeObject> {
  const first = parts[0]!;
  const { address } = first;
  if (parts.length === 1 && !first.source && !first.isInSlab) {
    // Power may have been lost since it was written.
    if (first.isUnflushed) await readAll(checkedPart(repository, first));
    return { address, sha256: first.sha256, origin: "part" };
  }
  if (first.source && areWhole(parts, first.source)) {
    return { address, sha256: first.source.sha256, origin: "source" };
  }
  const sha256 = runningHash("sha256");
  if (first.isInSlab && await areWholeSlab(repository, upload, parts)) {
    await readAll(joined(repository, parts, sha256));
    await repository.checkedFiles.storedRight(address);
    return { address, sha256: sha256.digest(), origin: "slab" };
  }
  const fresh = newAddress(repository.clock, repository.randomness);
  await repository.objects.put(fresh, joined(repository, parts, sha256), { mode: "fresh" });
  await repository.checkedFiles.storedRight(fresh);
  return { address: fresh, sha256: sha256.digest(), origin: "new" };
}

async function readAll(body: ByteStream): Promise<void> {
  for await (const _ of body);
}

/** Returns the entry of an object that was made. */
export function entryOfParts(
  { clock }: Repository,
  { contentType, metadata }: UploadRecord,
  { made, parts }: { readonly made: MadeObject; readonly parts: readonly NumberedPart[] },
): Entry {
  return {
    address: made.address,
    addressType: 1,
    lastModified: timestampOf(clock.now()),
    sizeBytes: parts.reduce((sum, { sizeBytes }) => sum + sizeBytes, 0),
    etag: etagOfParts(parts.map(({ md5 }) => md5)),
    metadata,
    contentType: contentType || DEFAULT_CONTENT_TYPE,
    sha256: made.sha256,
  };
}

/** Returns the ETag of an object made of parts: the MD5 of their MD5s, and how many there are. */
export function etagOfParts(md5s: readonly Uint8Array[]): string {
  const all = new Uint8Array(16 * md5s.length);
  md5s.forEach((md5, i) => all.set(md5, 16 * i));
  return `${md5Hex(all)}-${md5s.length}`;
}

/** Whether parts are all of one object, in order. */
function areWhole(parts: readonly NumberedPart[], whole: NonNullable<NumberedPart["source"]>): boolean {
  const { address } = parts[0]!;
  let end = 0;
  for (const part of parts) {
    if (!part.source || part.address !== address || part.offset !== end) return false;
    end += part.sizeBytes;
  }
  return end === whole.sizeBytes && whole.sha256.length > 0;
}

async function* joined(
  repository: Repository,
  parts: readonly NumberedPart[],
  sha256: { update(piece: Uint8Array): void },
): ByteStream {
  const memory = new Uint8Array(PIECE_BYTES);
  for (const part of parts) {
    for await (const piece of checkedPart(repository, part, memory)) {
      sha256.update(piece);
      yield piece;
    }
  }
}

/** Yields a part's bytes; fails with `part_not_found` if they are others than were stored. */
async function* checkedPart(
  { objects }: Repository,
  part: NumberedPart,
  memory: Uint8Array = new Uint8Array(PIECE_BYTES),
): ByteStream {
  const sha256 = runningHash("sha256");
  let size = 0;
  try {
    for await (const piece of objects.isFar ? streamed(objects, part) : readInto(memory, objects, part)) {
      sha256.update(piece);
      size += piece.length;
      yield piece;
    }
  } catch (error) {
    const isLost = isCoded(error, "object_not_found", "invalid_range", "short_object");
    throw isLost ? partNotFound(part.number, "its bytes are gone", error) : error;
  }
  if (size !== part.sizeBytes || !equalBytes(sha256.digest(), part.sha256)) {
    throw partNotFound(part.number, "its bytes are not those that were stored");
  }
}

async function* streamed(objects: ObjectStore, { address, offset, sizeBytes }: NumberedPart): ByteStream {
  const range = { start: offset, end: offset + sizeBytes - 1 };
  yield* (await objects.get(address, sizeBytes === 0 ? {} : { range })).body;
}

/** Reads into the same memory again and again: gigabytes of pieces that are thrown away would take some of it for a while. */
async function* readInto(
  memory: Uint8Array,
  objects: ObjectStore,
  { address, offset, sizeBytes }: NumberedPart,
): ByteStream {
  for (let at = 0; at < sizeBytes;) {
    const length = Math.min(memory.length, sizeBytes - at);
    const piece = await objects.read(address, offset + at, length, memory);
    if (piece.length === 0) return;
    yield piece;
    at += piece.length;
  }
}

export function partNotFound(number: number, why: string, cause?: unknown): CodedError {
  return new CodedError(
    "invalid",
    "part_not_found",
    `Cannot complete the upload with part ${number}: ${why}`,
    { details: { part_number: number }, ...(cause === undefined ? {} : { cause }) },
  );
}
