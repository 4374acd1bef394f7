/** CreateBucket makes a repository. */

import type { S3Operation } from "../call.ts";
import { S3Error } from "../errors.ts";
import { checkWrite } from "../writes.ts";
import { readXml } from "../xml_reader.ts";

const MOST_BYTES = 64 * 1024;

export const createBucket: S3Operation = async ({ request, store, peer, context }) => {
  const { headers, user } = request;
  const bucket = request.bucket!;
  checkWrite(headers);
  if (headers.get("x-amz-bucket-object-lock-enabled")?.toLowerCase() === "true") {
    throw new S3Error("NotImplemented", "Locking objects is not built");
  }
  const body = await request.wholeBody(MOST_BYTES);
  // Where the bucket is to be is told by clients that think they speak to AWS: it is here.
  if (body.length > 0) readXml(body, "CreateBucketConfiguration");
  if (context.s3.buckets === "branch" && bucket.includes(".")) {
    throw new S3Error("InvalidBucketName", `A bucket of a branch is made by making the branch: "${bucket}"`);
  }
  peer.keepOpen();
  await store.createRepository(bucket, { committer: user });
  return new Response(null, { status: 200, headers: { location: `/${bucket}` } });
};
