/** DeleteBucket removes a repository in which nothing is to be seen: no object on any branch, and no tag. */

import type { S3Operation } from "../call.ts";
import { S3Error } from "../errors.ts";
import { bucketOf } from "../places.ts";

export const deleteBucket: S3Operation = async (call) => {
  const { store, request, peer } = call;
  const { repository } = await bucketOf(call);
  if (repository !== request.bucket) {
    throw new S3Error(
      "MethodNotAllowed",
      "A bucket that is one branch of a repository is deleted by deleting the branch",
    );
  }
  peer.keepOpen();
  await store.deleteRepository(repository, { ifEmpty: true });
  return new Response(null, { status: 204 });
};
