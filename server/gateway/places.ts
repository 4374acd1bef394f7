/**
 * What a bucket and a key are in a repository.
 *
 *     s3.buckets: repository      s3://repo/main/a/b          repository repo, ref main, path a/b
 *     s3.buckets: branch          s3://repo/a/b               repository repo, its default branch, path a/b
 *                                 s3://work-1.repo/a/b        repository repo, branch work-1, path a/b
 *
 * A ref is one segment of a key: refs with "/" in their names are not reached this way. A branch is a bucket only if its name
 * is one that DNS takes, so that each bucket is one branch and each such branch one bucket; nothing is tried.
 */

import { utf8 } from "../../base/bytes.ts";
import { MAX_KEY_BYTES } from "../../base/limits.ts";
import type { ObjectPlace } from "../downloads.ts";
import type { S3Call } from "./call.ts";
import { S3Error } from "./errors.ts";

const MAX_BUCKET_LENGTH = 63;
const BRANCH_LABEL = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

/** Whether a branch is a bucket of its own beside that of its repository. */
export function isBucketBranch(repository: string, branch: string): boolean {
  return BRANCH_LABEL.test(branch) && repository.length + 1 + branch.length <= MAX_BUCKET_LENGTH;
}

/** Returns what a bucket's name says where buckets are branches; without a branch it means the default one. */
function branchBucket(bucket: string): BucketPlace {
  const dot = bucket.indexOf(".");
  if (dot < 0) return { repository: bucket, branch: undefined };
  const branch = bucket.slice(0, dot), repository = bucket.slice(dot + 1);
  if (repository.includes(".") || !isBucketBranch(repository, branch)) throw noSuchBucket(bucket);
  return { repository, branch };
}

/** What a bucket is. */
export interface BucketPlace {
  readonly repository: string;
  /** The branch that the bucket is; `undefined` where buckets are repositories. */
  readonly branch: string | undefined;
}

/** Returns what the request's bucket is. Where it is a repository, that has not been looked for. Fails with `NoSuchBucket`. */
export async function bucketOf(call: S3Call): Promise<BucketPlace> {
  return await bucketNamed(call, call.request.bucket!);
}

/** Returns the header that tells a bucket's name as AWS writes it where all kinds of things have names. */
export function arnHeader(bucket: string): Record<string, string> {
  return { "x-amz-bucket-arn": `arn:aws:s3:::${bucket}` };
}

/** Fails with `NoSuchBucket`, or as the store does, unless the request's bucket is there. */
export async function checkBucket(call: S3Call): Promise<void> {
  const { repository, branch } = await bucketOf(call);
  if (branch === undefined) await call.store.getRepository(repository);
}

/** Returns the object that the request names, whether or not it is there. Fails with `NoSuchBucket`, `NoSuchKey`, `KeyTooLongError`. */
export async function objectPlace(call: S3Call): Promise<ObjectPlace> {
  return await placeOf(call, call.request.bucket!, call.request.key!);
}

/** Returns the object that a bucket and a key name. Fails as `objectPlace` does. */
export async function placeOf(call: S3Call, bucket: string, key: string): Promise<ObjectPlace> {
  const { repository, branch } = await bucketNamed(call, bucket);
  if (branch !== undefined) return { repository, ref: branch, path: checkedPath(key) };
  const slash = key.indexOf("/");
  const path = slash < 0 ? "" : key.slice(slash + 1);
  if (slash > 0 && path !== "") return { repository, ref: key.slice(0, slash), path: checkedPath(path) };
  throw new S3Error("NoSuchKey", `A key of bucket "${bucket}" is BRANCH/PATH: "${key}" names no path`);
}

function checkedPath(path: string): string {
  if (path.length * 3 <= MAX_KEY_BYTES || utf8(path).length <= MAX_KEY_BYTES) return path;
  throw new S3Error("KeyTooLongError");
}

async function bucketNamed({ store, context }: S3Call, bucket: string): Promise<BucketPlace> {
  if (context.s3.buckets === "repository") return { repository: bucket, branch: undefined };
  const { repository, branch } = branchBucket(bucket);
  const { defaultBranch } = await store.getRepository(repository);
  if (branch === undefined) return { repository, branch: defaultBranch };
  // Who moves what is in one bucket to another would delete it, were they the same.
  if (branch === defaultBranch) throw noSuchBucket(bucket);
  // A tag or a commit is no bucket, also where its name could be a branch's.
  await store.getBranch(repository, branch);
  return { repository, branch };
}

function noSuchBucket(bucket: string): S3Error {
  return new S3Error("NoSuchBucket", undefined, { details: { BucketName: bucket } });
}
