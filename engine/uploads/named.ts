/** The parts that a completion names. */

import { EMPTY_BYTES, fromHex, hex } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import type { CompletedUpload, NamedPart } from "../../drivers/uploads.ts";
import { decodeEntry } from "../objects/mod.ts";
import { statsOfEntry } from "../operations/stats.ts";
import type { Repository } from "../repository.ts";
import { etagOfParts, partNotFound } from "./object.ts";
import type { UploadRecord } from "./records.ts";
import { type NumberedPart, partsOf, type UploadName, uploadNotFound } from "./upload.ts";

/** Returns the answer to a completion of an upload that has ended: once more what it was, if it is the same. */
export function repeated(
  repository: Repository,
  record: UploadRecord,
  named: readonly NamedPart[],
): CompletedUpload {
  const md5s = named.map(({ checksum }) => fromHex(checksum) ?? EMPTY_BYTES);
  if (record.state !== "completed" || etagOfParts(md5s) !== record.etag) throw uploadNotFound(record);
  return { stats: statsOfEntry(repository, record.path, decodeEntry(record.entry)), note: record.note };
}

/** Fails with `invalid_part_order` unless parts are named in order, each once. */
export function checkOrder(named: readonly NamedPart[]): void {
  const isOrdered = named.every(({ number }, i) => i === 0 || number > named[i - 1]!.number);
  if (isOrdered && named.length > 0) return;
  throw new CodedError(
    "invalid",
    "invalid_part_order",
    `Cannot complete the upload: ${isOrdered ? "no part is named" : "its parts are not in order"}`,
  );
}

/** Returns the parts named, as they are now. Fails with `part_not_found`. */
export async function findParts(
  repository: Repository,
  { id }: UploadName,
  named: readonly NamedPart[],
): Promise<readonly NumberedPart[]> {
  const known = new Map<number, NumberedPart>();
  for await (const page of partsOf(repository, id)) for (const part of page) known.set(part.number, part);
  return named.map(({ number, checksum }) => {
    const part = known.get(number);
    if (!part) throw partNotFound(number, "it was not uploaded");
    if (hex(part.md5) === checksum.toLowerCase()) return part;
    throw partNotFound(number, "it has another ETag");
  });
}
