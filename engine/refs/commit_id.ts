/** Commit IDs: SHA-256 over a typed stream of the commit's fields. */

import { hex } from "../../base/bytes.ts";
import { TypedStream } from "../objects/mod.ts";
import type { CommitRecord } from "./records.ts";

/** Returns the bytes that are hashed. Of the date only whole seconds count. */
export function commitPreimage(commit: Omit<CommitRecord, "generation">): Uint8Array {
  return stream(commit).finish();
}

/** Returns the commit ID in lower-case hex. */
export function commitId(commit: Omit<CommitRecord, "generation">): string {
  return hex(stream(commit).sha256());
}

function stream(commit: Omit<CommitRecord, "generation">): TypedStream {
  return new TypedStream()
    .string("commit:v1")
    .string(commit.committer)
    .string(commit.message)
    .string(commit.metaRangeId)
    .int64(commit.creationDate.seconds)
    .map(commit.metadata)
    .embedded(new TypedStream().list(commit.parents));
}
