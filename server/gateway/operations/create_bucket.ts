/** CreateBucket makes a repository. */

import type { S3Operation } from "../call.ts";
import { invalidArgument } from "../encoding.ts";
import { S3Error } from "../errors.ts";
import { arnHeader } from "../places.ts";
import { tagsOfNodes } from "../tags.ts";
import { checkAcl } from "../writes.ts";
import { readXml } from "../xml_reader.ts";
import { setBucketTags } from "./tagging.ts";

const MOST_BYTES = 64 * 1024;

export const createBucket: S3Operation = async (call) => {
  const { request, store, peer, context } = call;
  const { headers, user } = request;
  const bucket = request.bucket!;
  checkAcl(headers, "InvalidBucketAclWithObjectOwnership");
  if (headers.get("x-amz-bucket-object-lock-enabled")?.toLowerCase() === "true") {
    throw new S3Error("NotImplemented", "Locking objects is not built");
  }
  checkOwnership(headers.get("x-amz-object-ownership"));
  const body = await request.wholeBody(MOST_BYTES);
  // Where the bucket is to be is told by clients that think they speak to AWS: it is here.
  const configuration = body.length > 0 ? readXml(body, "CreateBucketConfiguration") : undefined;
  const tags = tagsOfNodes(configuration?.all("Tags").flatMap((list) => list.all("Tag")) ?? [], "bucket");
  if (context.s3.buckets === "branch" && bucket.includes(".")) {
    throw new S3Error("InvalidBucketName", `A bucket of a branch is made by making the branch: "${bucket}"`);
  }
  peer.keepOpen();
  await store.createRepository(bucket, { committer: user });
  if (tags.length > 0) await setBucketTags(call, tags);
  return new Response(null, { status: 200, headers: { location: `/${bucket}`, ...arnHeader(bucket) } });
};

/** Whoever writes an object, the bucket's owner has it: there are no ACLs. */
function checkOwnership(asked: string | null): void {
  if (asked === null || asked === "BucketOwnerEnforced") return;
  if (asked === "BucketOwnerPreferred" || asked === "ObjectWriter") throw new S3Error("NotImplemented");
  throw invalidArgument("x-amz-object-ownership", asked, `Invalid x-amz-object-ownership header: ${asked}`);
}
