/** The tags of objects and buckets: read, set as a whole, and removed. */

import type { S3Call, S3Operation } from "../call.ts";
import { S3Error } from "../errors.ts";
import { bucketOf, checkBucket, objectPlace } from "../places.ts";
import { type Tags, TAGS_NAME, tagSet, tagsOf, tagsOfDocument, tagsText, withTags } from "../tags.ts";
import { checkVersion } from "../versions.ts";
import { openWriter } from "../writes.ts";
import { xmlResponse } from "../xml.ts";

const MOST_BYTES = 256 * 1024;

export const getObjectTagging: S3Operation = async (call) => {
  checkVersion(call.request);
  const { repository, ref, path } = await objectPlace(call);
  const { metadata } = await call.store.stat(repository, ref, path);
  return xmlResponse("Tagging", tagSet(tagsOf(metadata)));
};

export const putObjectTagging: S3Operation = async (call) => {
  checkVersion(call.request);
  const tags = tagsOfDocument(await call.request.wholeBody(MOST_BYTES), "object");
  await setObjectTags(call, tags);
  return new Response(null, { status: 200 });
};

export const deleteObjectTagging: S3Operation = async (call) => {
  checkVersion(call.request);
  await setObjectTags(call, []);
  return new Response(null, { status: 204 });
};

async function setObjectTags(call: S3Call, tags: Tags): Promise<void> {
  const { path, ...branch } = await objectPlace(call);
  const writer = await openWriter(call, branch);
  call.peer.keepOpen();
  await writer.setMetadata(path, ({ metadata }) => withTags(metadata, tags));
  await writer.close();
}

export const getBucketTagging: S3Operation = async (call) => {
  const { repository, branch } = await bucketOf(call);
  // A bucket that is one branch of a repository cannot have any.
  const isWhole = branch === undefined || repository === call.request.bucket;
  const tags = isWhole ? tagsOf(await call.store.getRepositoryMetadata(repository)) : [];
  if (tags.length === 0) throw new S3Error("NoSuchTagSet");
  return xmlResponse("Tagging", tagSet(tags));
};

export const putBucketTagging: S3Operation = async (call) => {
  await checkBucket(call);
  const tags = tagsOfDocument(await call.request.wholeBody(MOST_BYTES), "bucket");
  await setBucketTags(call, tags);
  return new Response(null, { status: 204 });
};

export const deleteBucketTagging: S3Operation = async (call) => {
  await setBucketTags(call, []);
  return new Response(null, { status: 204 });
};

/** Fails with `NotImplemented` for a bucket that is one branch of a repository. */
export async function setBucketTags(call: S3Call, tags: Tags): Promise<void> {
  const { repository, branch } = await bucketOf(call);
  if (branch !== undefined && repository !== call.request.bucket) {
    throw new S3Error(
      "NotImplemented",
      "Tags are a repository's: a bucket that is one branch of it has none",
    );
  }
  call.peer.keepOpen();
  const change = tags.length === 0 ? { remove: [TAGS_NAME] } : { set: { [TAGS_NAME]: tagsText(tags) } };
  await call.store.changeRepositoryMetadata(repository, change);
}
