/** Writing to branches as all operations of the gateway do. */

import type { BranchWriter } from "../../drivers/store.ts";
import type { ObjectPlace } from "../downloads.ts";
import type { S3Call } from "./call.ts";
import { invalidArgument } from "./encoding.ts";
import { S3Error, type S3ErrorCode } from "./errors.ts";
import { checkLocks } from "./locks.ts";

type Branch = Pick<ObjectPlace, "repository" | "ref">;

/** Opens a writer for a request. Fails with `branch_not_found`, `not_a_branch`, `branch_protected`. */
export async function openWriter(call: S3Call, { repository, ref }: Branch): Promise<BranchWriter> {
  const { store, context } = call;
  const writer = await store.writer(repository, ref, { durability: context.durability, sharesFlushes: true });
  await noteWrite(call, { repository, ref });
  return writer;
}

/** Notes that a request is about to stage something on a branch, where that is to be committed by itself. */
export async function noteWrite(call: S3Call, { repository, ref }: Branch): Promise<void> {
  const { autoCommit } = call.context;
  if (autoCommit) call.onEnd(await autoCommit.begin({ repository, branch: ref }, call.request.user));
}

/** What a write may say of who may do what with it: what holds anyway. */
const KNOWN_ACLS = new Set(["private", "bucket-owner-full-control", "bucket-owner-read"]);
const OTHER_ACLS = new Set([
  "public-read",
  "public-read-write",
  "authenticated-read",
  "aws-exec-read",
  "log-delivery-write",
]);
const NOT_BUILT = /^x-amz-(?:server-side-encryption|write-offset-bytes)/;

/**
 * Refuses what a write asks for beside the object itself, rather than pass over it. Fails with `NotImplemented`,
 * `InvalidStorageClass`, `InvalidArgument`, `InvalidRequest`, `AccessControlListNotSupported`.
 */
export function checkWrite({ request: { headers }, context }: S3Call): void {
  const storageClass = headers.get("x-amz-storage-class");
  if (storageClass !== null && storageClass !== "STANDARD") throw new S3Error("InvalidStorageClass");
  checkAcl(headers, "AccessControlListNotSupported");
  headers.forEach((value, name) => {
    if (value !== "" && NOT_BUILT.test(name)) {
      throw new S3Error("NotImplemented", `What the header ${name} asks for is not built`);
    }
  });
  checkLocks(headers, context.clock.now());
}

/** Fails with `InvalidArgument`, and with `refusal` for an ACL that gives anything to anybody but the owner. */
export function checkAcl(headers: Headers, refusal: S3ErrorCode): void {
  const acl = headers.get("x-amz-acl");
  if (acl !== null && OTHER_ACLS.has(acl)) throw new S3Error(refusal);
  if (acl !== null && !KNOWN_ACLS.has(acl)) throw invalidArgument("x-amz-acl", acl, "Invalid Argument");
  headers.forEach((value, name) => {
    if (value !== "" && name.startsWith("x-amz-grant-")) throw new S3Error(refusal);
  });
}
