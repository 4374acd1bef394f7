/**
 * Writing parts.
 *
 * The bytes first, then the part's record, then the upload is looked at again: if it has ended meanwhile, whoever ended it may
 * not have seen the part, so its writer deletes it.
 *
 * **What takes a part's place deletes its bytes, unless they may have become the object.** Who completes says in the upload's
 * record that they may, and looks at the part's record after that; who replaces a part changes its record, and looks at the
 * upload's after that. So one of the two sees the other.
 */

import { fromHex, hex } from "../../base/bytes.ts";
import { millisecondsOf, timestampOf } from "../../base/clock.ts";
import { assertInvariant, CodedError, isCoded } from "../../base/errors.ts";
import { runningHash } from "../../base/hashes.ts";
import type { ByteRange, ByteStream } from "../../drivers/object_store.ts";
import {
  type CopyPartOptions,
  MAX_PART_NUMBER,
  type PartInfo,
  type PartSource,
  type PutPartOptions,
} from "../../drivers/uploads.ts";
import type { ObjectStats } from "../../drivers/store.ts";
import { decodeEntry, downloadObject, type Entry, pathKey, uploadObject } from "../objects/mod.ts";
import { statsOfEntry } from "../operations/stats.ts";
import { checkRange, lookUp, objectNotFound } from "../operations/view.ts";
import type { Repository } from "../repository.ts";
import { decodePart, encodePart, partKey, type PartRecord } from "./records.ts";
import { type Slot, takeSlot } from "./slab.ts";
import {
  dropBytes,
  findOpen,
  type NumberedPart,
  seeUpload,
  type UploadName,
  uploadNotFound,
  uploadsPartition,
} from "./upload.ts";

/** Stores a part. Fails with `upload_not_found`, `invalid_part_number`, or as its body does. */
export async function putPart(
  repository: Repository,
  { upload, number }: PartName,
  body: Uint8Array | ByteStream,
  { durability = "strict", sizeBytes, note }: PutPartOptions = {},
): Promise<PartInfo> {
  checkNumber(number);
  await findOpen(repository, upload);
  const size = body instanceof Uint8Array ? body.length : sizeBytes;
  const slot = await takeSlot(repository, upload, { number, sizeBytes: size });
  const isUnflushed = durability === "relaxed" && !repository.objects.isFar;
  let isReferred = false;
  try {
    const bounded = body instanceof Uint8Array ? body : within(body, sizeBytes ?? Infinity);
    const stored = slot ? await storeIn(slot, bounded) : await storeAlone(repository, bounded);
    const part = {
      ...stored,
      stored: timestampOf(repository.clock.now()),
      note: note?.() ?? "",
      isUnflushed,
    };
    try {
      if (isUnflushed) repository.lateFlush.add([part.address]);
      else await repository.objects.flush([part.address]);
      await findOpen(repository, upload);
    } catch (error) {
      // Nothing refers to the bytes yet.
      if (!slot) await repository.objects.delete(part.address);
      else if (!isCoded(error, "upload_not_found")) slot.spoil();
      throw error;
    }
    isReferred = true;
    await record(repository, { upload, number }, part);
    return partInfo({ ...part, number });
  } finally {
    slot?.end(isReferred);
  }
}

type StoredPart = Pick<PartRecord, "address" | "offset" | "sizeBytes" | "md5" | "sha256" | "isInSlab">;

async function storeIn(slot: Slot, body: Uint8Array | ByteStream): Promise<StoredPart> {
  const hashes = new PartHashes();
  if (body instanceof Uint8Array) hashes.update(body);
  const written = body instanceof Uint8Array ? body : passing(body, (piece) => hashes.update(piece));
  await slot.write(written);
  return { ...hashes.digest(), address: slot.address, offset: slot.offset, isInSlab: true };
}

async function storeAlone(repository: Repository, body: Uint8Array | ByteStream): Promise<StoredPart> {
  const { address, sizeBytes, etag, sha256 } = await uploadObject(repository, body);
  return { address, offset: 0, sizeBytes, md5: fromHex(etag)!, sha256: sha256!, isInSlab: false };
}

/** A part that is longer than it was said to be could go over the next one. */
async function* within(body: ByteStream, sizeBytes: number): ByteStream {
  let size = 0;
  for await (const piece of body) {
    size += piece.length;
    assertInvariant(size <= sizeBytes, "a part is no longer than was said");
    yield piece;
  }
}

/** What is to be known of a part's bytes. */
class PartHashes {
  readonly #md5 = runningHash("md5");
  readonly #sha256 = runningHash("sha256");
  #sizeBytes = 0;

  update(piece: Uint8Array): void {
    this.#md5.update(piece);
    this.#sha256.update(piece);
    this.#sizeBytes += piece.length;
  }

  digest(): Pick<PartRecord, "md5" | "sha256" | "sizeBytes"> {
    return { md5: this.#md5.digest(), sha256: this.#sha256.digest(), sizeBytes: this.#sizeBytes };
  }
}

export interface PartName {
  readonly upload: UploadName;
  readonly number: number;
}

/**
 * Makes a part of an object, or of a range of it, in `from`. If that is the same repository, nothing is written: the part lies
 * where the object does. Fails as {@link putPart} does, with `object_not_found`, `invalid_range`, `checksum_mismatch`.
 */
export async function copyPart(
  { from, to }: { readonly from: Repository; readonly to: Repository },
  name: PartName,
  { ref, path, range, check }: Omit<PartSource, "repository">,
  { durability = "strict", signal, watch }: CopyPartOptions = {},
): Promise<{ part: PartInfo; source: ObjectStats }> {
  checkNumber(name.number);
  await findOpen(to, name.upload);
  const { record: found, view } = await lookUp(from, ref, pathKey(path));
  if (!found) throw objectNotFound({ ref, path });
  const entry = decodeEntry(found.data);
  const source = statsOfEntry(from, path, entry);
  check?.(source);
  if (range) checkRange(path, range, entry.sizeBytes);
  const isWhole = !range || (range.start === 0 && (range.end ?? Infinity) >= entry.sizeBytes - 1);
  const body = await downloadObject(from.objects, entry, {
    path,
    ...(isWhole ? {} : { range }),
    ...(signal ? { signal } : {}),
  });
  const watched = watch ? passing(body, (piece) => watch.update(piece)) : body;
  const isSame = from.record.instanceUid === to.record.instanceUid;
  if (!isSame || entry.addressType !== 1 || entry.sizeBytes === 0) {
    const note = watch ? { note: () => watch.note() } : {};
    const sizeBytes = lengthOf(range, entry);
    return { part: await putPart(to, name, watched, { durability, sizeBytes, ...note }), source };
  }
  const hashes = new PartHashes();
  for await (const piece of watched) hashes.update(piece);
  const part = {
    ...hashes.digest(),
    stored: timestampOf(to.clock.now()),
    address: entry.address,
    offset: range?.start ?? 0,
    note: watch?.note() ?? "",
    // As with any copy: what is only staged may be somebody's unflushed upload.
    isUnflushed: view.tokens.length > 0,
    isInSlab: false,
    source: sourceOf(entry),
  };
  await record(to, name, part);
  return { part: partInfo({ ...part, number: name.number }), source };
}

function lengthOf(range: ByteRange | undefined, { sizeBytes }: Entry): number {
  return range ? Math.min(range.end ?? Infinity, sizeBytes - 1) - range.start + 1 : sizeBytes;
}

function sourceOf({ sizeBytes, sha256 = new Uint8Array(0) }: Entry): NonNullable<PartRecord["source"]> {
  return { sizeBytes, sha256 };
}

/** Returns a part as the contract shows it. */
export function partInfo({ number, sizeBytes, md5, stored, note }: NumberedPart): PartInfo {
  return { number, sizeBytes, checksum: hex(md5), storedMs: millisecondsOf(stored), note };
}

/** Puts a part's record in the place of what was there. Fails with `upload_not_found` when the upload has ended by then. */
async function record(repository: Repository, { upload, number }: PartName, part: PartRecord): Promise<void> {
  const { kv } = repository;
  const partition = uploadsPartition(repository), key = partKey(upload.id, number);
  let replaced: PartRecord | undefined;
  while (true) {
    const found = await kv.get(partition, key);
    replaced = found && decodePart(found.value);
    try {
      await kv.setIf(partition, key, encodePart(part), found?.predicate);
      break;
    } catch (error) {
      if (!isCoded(error, "predicate_failed")) throw error;
    }
  }
  const seen = await seeUpload(repository, upload.id);
  // Whether an upload that is forgotten by now has become the object nobody could tell: then its bytes stay.
  if (replaced && seen && replaced.address !== part.address) {
    await dropBytes(repository, seen.record, replaced);
  }
  if (seen?.record.state === "open") return await repository.checkLive();
  if (!part.source && !part.isInSlab && !seen?.record.adopted.includes(part.address)) {
    await repository.objects.delete(part.address);
  }
  await kv.delete(partition, key);
  throw uploadNotFound(upload);
}

function checkNumber(number: number): void {
  if (Number.isInteger(number) && number >= 1 && number <= MAX_PART_NUMBER) return;
  throw new CodedError(
    "invalid",
    "invalid_part_number",
    `Cannot use "${number}" as a part number: it must be a whole number from 1 to ${MAX_PART_NUMBER}`,
  );
}

async function* passing(body: ByteStream, watch: (piece: Uint8Array) => void): ByteStream {
  for await (const piece of body) {
    watch(piece);
    yield piece;
  }
}
