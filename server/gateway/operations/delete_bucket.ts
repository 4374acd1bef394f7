/** DeleteBucket removes a repository in which nothing is to be seen: no object on any branch, and no tag. */

import type { Store } from "../../../drivers/store.ts";
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
  await store.getRepository(repository);
  peer.keepOpen();
  if (!(await isEmpty(store, repository))) throw new S3Error("BucketNotEmpty");
  await store.deleteRepository(repository);
  return new Response(null, { status: 204 });
};

async function isEmpty(store: Store, repository: string): Promise<boolean> {
  for await (const tags of store.listTags(repository)) if (tags.length > 0) return false;
  for await (const branches of store.listBranches(repository)) {
    for (const { id } of branches) {
      for await (const items of store.list(repository, id, { amount: 1 })) if (items.length > 0) return false;
    }
  }
  return true;
}
