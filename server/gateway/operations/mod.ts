/** The operations that are built, by name; the others answer NotImplemented. A new one is one line here. */

import type { S3Operation } from "../call.ts";
import type { S3OperationName } from "../routes.ts";
import { abortMultipartUpload } from "./abort_multipart_upload.ts";
import { headBucket, listBuckets } from "./buckets.ts";
import { completeMultipartUpload } from "./complete_multipart_upload.ts";
import { copyObject } from "./copy_object.ts";
import { createBucket } from "./create_bucket.ts";
import { createMultipartUpload } from "./create_multipart_upload.ts";
import { deleteBucket } from "./delete_bucket.ts";
import { deleteObject, deleteObjects } from "./delete_objects.ts";
import { getObject, headObject } from "./get_object.ts";
import { getObjectAttributes } from "./get_object_attributes.ts";
import { listMultipartUploads } from "./list_multipart_uploads.ts";
import { listObjects, listObjectsV2, listObjectVersions } from "./list_objects.ts";
import { listParts } from "./list_parts.ts";
import { putAcl } from "./put_acl.ts";
import { putObject } from "./put_object.ts";
import { withRefFolder } from "./ref_folder.ts";
import { getBucketSubresource, getObjectSubresource } from "./subresources.ts";
import { deleteBucketSubresource, putBucketSubresource, putObjectSubresource } from "./settings.ts";
import {
  deleteBucketTagging,
  deleteObjectTagging,
  getBucketTagging,
  getObjectTagging,
  putBucketTagging,
  putObjectTagging,
} from "./tagging.ts";
import { uploadPart } from "./upload_part.ts";
import { uploadPartCopy } from "./upload_part_copy.ts";

export const S3_OPERATIONS: Partial<Readonly<Record<S3OperationName, S3Operation>>> = {
  AbortMultipartUpload: abortMultipartUpload,
  CompleteMultipartUpload: completeMultipartUpload,
  CopyObject: copyObject,
  CreateBucket: createBucket,
  CreateMultipartUpload: createMultipartUpload,
  DeleteBucket: deleteBucket,
  DeleteBucketSubresource: deleteBucketSubresource,
  DeleteBucketTagging: deleteBucketTagging,
  DeleteObject: withRefFolder(deleteObject),
  DeleteObjects: deleteObjects,
  DeleteObjectTagging: deleteObjectTagging,
  GetBucketSubresource: getBucketSubresource,
  GetBucketTagging: getBucketTagging,
  GetObject: withRefFolder(getObject),
  GetObjectAttributes: getObjectAttributes,
  GetObjectSubresource: getObjectSubresource,
  GetObjectTagging: getObjectTagging,
  HeadBucket: headBucket,
  HeadObject: withRefFolder(headObject),
  ListBuckets: listBuckets,
  ListMultipartUploads: listMultipartUploads,
  ListObjects: listObjects,
  ListObjectsV2: listObjectsV2,
  ListObjectVersions: listObjectVersions,
  ListParts: listParts,
  PutAcl: putAcl,
  PutBucketSubresource: putBucketSubresource,
  PutBucketTagging: putBucketTagging,
  PutObject: withRefFolder(putObject),
  PutObjectSubresource: putObjectSubresource,
  PutObjectTagging: putObjectTagging,
  UploadPart: uploadPart,
  UploadPartCopy: uploadPartCopy,
};
