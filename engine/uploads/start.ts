/** Starting an upload: its record, where listings find it, and when it is to be looked after. */

import { EMPTY_BYTES } from "../../base/bytes.ts";
import { millisecondsOf, timestampOf } from "../../base/clock.ts";
import { checkObjectText } from "../../drivers/object_text.ts";
import type { StartUploadOptions, UploadInfo } from "../../drivers/uploads.ts";
import { findBranch } from "../operations/landing.ts";
import { refuseProtected } from "../operations/protection.ts";
import { newId, pathKey } from "../objects/mod.ts";
import type { Repository } from "../repository.ts";
import { dueKey, encodeUpload, listedKey, uploadKey, type UploadRecord } from "./records.ts";
import { uploadsPartition } from "./upload.ts";

/** How long an upload may be left alone before it counts as abandoned. */
export const OPEN_MS = 7 * 24 * 60 * 60 * 1000;

/** Fails with `branch_not_found`, `not_a_branch`, `branch_protected`, `invalid_path`, `invalid_content_type`, `invalid_metadata`, `limit_exceeded`. */
export async function startUpload(
  repository: Repository,
  { branch, path }: { readonly branch: string; readonly path: string },
  { who, contentType = "", metadata = {}, notes = {} }: StartUploadOptions,
): Promise<UploadInfo> {
  pathKey(path);
  checkObjectText({ contentType, metadata });
  await findBranch(repository, branch);
  await refuseProtected(repository, branch, "write to");
  const { clock, randomness, kv } = repository;
  const now = clock.now();
  const record: UploadRecord = {
    id: newId(clock, randomness),
    branch,
    path,
    started: timestampOf(now),
    who,
    contentType,
    metadata,
    notes,
    state: "open",
    due: Math.floor(now + OPEN_MS),
    landing: EMPTY_BYTES,
    adopted: [],
    slabs: [],
    entry: EMPTY_BYTES,
    note: "",
    etag: "",
  };
  const listed = listedKey(record);
  await kv.setMany(uploadsPartition(repository), [
    { key: dueKey(record), value: listed },
    { key: listed, value: EMPTY_BYTES },
    { key: uploadKey(record.id), value: encodeUpload(record) },
  ]);
  await repository.checkLive();
  return uploadInfo(record);
}

/** Returns an upload as the contract shows it. */
export function uploadInfo({ id, branch, path, who, started, notes }: UploadRecord): UploadInfo {
  return { id, branch, path, who, startedMs: millisecondsOf(started), notes };
}
