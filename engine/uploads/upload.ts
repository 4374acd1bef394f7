/** Finding and changing the records of one upload. Every change of an upload is one compare-and-set of its record. */

import { utf8 } from "../../base/bytes.ts";
import { CodedError, isCoded } from "../../base/errors.ts";
import type { UploadPlace } from "../../drivers/uploads.ts";
import type { KvValue } from "../../kv/store.ts";
import { repositoryPartition } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import {
  decodePart,
  decodeUpload,
  encodeUpload,
  partKey,
  partNumberOf,
  partPrefix,
  type PartRecord,
  uploadKey,
  type UploadRecord,
} from "./records.ts";

/** Which upload of a repository that is known. */
export type UploadName = Omit<UploadPlace, "repository">;

export interface SeenUpload {
  readonly record: UploadRecord;
  readonly stored: KvValue;
}

export interface NumberedPart extends PartRecord {
  readonly number: number;
}

/** The partition that all uploads of a repository lie in. */
export function uploadsPartition({ record }: Pick<Repository, "record">): Uint8Array {
  return utf8(`${repositoryPartition(record)}/uploads`);
}

/** Returns an upload in any state, or `undefined`. */
export async function seeUpload(repository: Repository, id: string): Promise<SeenUpload | undefined> {
  if (!/^[0-9a-v]{26}$/.test(id)) return undefined;
  const stored = await repository.kv.get(uploadsPartition(repository), uploadKey(id));
  return stored && { record: decodeUpload(stored.value), stored };
}

/** Returns an upload in any state, if it is one of this branch and path. Fails with `upload_not_found`. */
export async function findUpload(repository: Repository, name: UploadName): Promise<SeenUpload> {
  const seen = await seeUpload(repository, name.id);
  if (seen && seen.record.branch === name.branch && seen.record.path === name.path) return seen;
  throw uploadNotFound(name);
}

/** Returns an open upload. Fails with `upload_not_found`. */
export async function findOpen(repository: Repository, name: UploadName): Promise<SeenUpload> {
  const seen = await findUpload(repository, name);
  if (seen.record.state === "open") return seen;
  throw uploadNotFound(name);
}

/** Changes an upload if it still is what was seen; returns it as it is then, `undefined` when it was not. */
export async function changeUpload(
  repository: Repository,
  { record, stored }: SeenUpload,
  changes: Partial<UploadRecord>,
): Promise<UploadRecord | undefined> {
  const changed = { ...record, ...changes };
  try {
    const partition = uploadsPartition(repository);
    await repository.kv.setIf(partition, uploadKey(record.id), encodeUpload(changed), stored.predicate);
    return changed;
  } catch (error) {
    if (isCoded(error, "predicate_failed")) return undefined;
    throw error;
  }
}

/** Yields the parts of an upload in order of their numbers, from behind `after`. */
export async function* partsOf(
  repository: Repository,
  id: string,
  after = 0,
): AsyncGenerator<readonly NumberedPart[]> {
  const options = { prefix: partPrefix(id), start: partKey(id, after + 1) };
  for await (const page of repository.kv.scan(uploadsPartition(repository), options)) {
    yield page.map(({ key, value }) => ({ ...decodePart(value), number: partNumberOf(key) }));
  }
}

/** Deletes the file of a part that is no longer wanted, unless others use it or it may have become the object. */
export async function dropBytes(
  { objects }: Repository,
  { adopted }: UploadRecord,
  { address, source, isInSlab }: PartRecord,
): Promise<void> {
  if (!source && !isInSlab && !adopted.includes(address)) await objects.delete(address);
}

export function uploadNotFound({ branch, path }: UploadName): CodedError {
  return new CodedError(
    "not_found",
    "upload_not_found",
    `Cannot find the upload of "${path}": there is none of that ID, or it was completed or dropped`,
    { details: { branch, path } },
  );
}
