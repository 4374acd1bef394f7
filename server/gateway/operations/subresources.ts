/**
 * What S3 keeps beside buckets and objects, and is not here. What is asked for is answered as S3 answers where nothing of it was
 * set, so that clients that look at it go on; setting it is not built.
 */

import type { S3Call, S3Operation } from "../call.ts";
import { S3Error, type S3ErrorCode } from "../errors.ts";
import { noLocks } from "../locks.ts";
import { OWNER, OWNER_ID } from "../owner.ts";
import { checkBucket, objectPlace } from "../places.ts";
import { REGION } from "../region.ts";
import { subresourceOf } from "../routes.ts";
import { textElement, xmlResponse } from "../xml.ts";

const FULL_CONTROL = `${OWNER}<AccessControlList><Grant>` +
  '<Grantee xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:type="CanonicalUser">' +
  `${textElement("ID", OWNER_ID)}${textElement("DisplayName", OWNER_ID)}</Grantee>` +
  "<Permission>FULL_CONTROL</Permission></Grant></AccessControlList>";

/** The document of each subresource of a bucket, and what it holds; or the code of the failure. */
const OF_BUCKETS: Readonly<Record<string, readonly [root: string, content: string] | S3ErrorCode>> = {
  accelerate: ["AccelerateConfiguration", ""],
  acl: ["AccessControlPolicy", FULL_CONTROL],
  cors: "NoSuchCORSConfiguration",
  encryption: "ServerSideEncryptionConfigurationNotFoundError",
  lifecycle: "NoSuchLifecycleConfiguration",
  // S3 names this region by nothing.
  location: ["LocationConstraint", REGION === "us-east-1" ? "" : REGION],
  logging: ["BucketLoggingStatus", ""],
  notification: ["NotificationConfiguration", ""],
  "object-lock": "ObjectLockConfigurationNotFoundError",
  ownershipControls: [
    "OwnershipControls",
    "<Rule><ObjectOwnership>BucketOwnerEnforced</ObjectOwnership></Rule>",
  ],
  policy: "NoSuchBucketPolicy",
  policyStatus: "NoSuchBucketPolicy",
  publicAccessBlock: "NoSuchPublicAccessBlockConfiguration",
  replication: "ReplicationConfigurationNotFoundError",
  requestPayment: ["RequestPaymentConfiguration", "<Payer>BucketOwner</Payer>"],
  versioning: ["VersioningConfiguration", ""],
  website: "NoSuchWebsiteConfiguration",
};

const OF_OBJECTS: typeof OF_BUCKETS = {
  acl: ["AccessControlPolicy", FULL_CONTROL],
};

const OF_LOCKS: ReadonlySet<string> = new Set(["legal-hold", "retention"]);

export const getBucketSubresource: S3Operation = async (call) => {
  await checkBucket(call);
  return answer(call, OF_BUCKETS);
};

export const getObjectSubresource: S3Operation = async (call) => {
  const { repository, ref, path } = await objectPlace(call);
  await call.store.stat(repository, ref, path);
  if (OF_LOCKS.has(subresourceOf(call.request))) throw noLocks();
  return answer(call, OF_OBJECTS);
};

function answer({ request }: S3Call, known: typeof OF_BUCKETS): Response {
  const found = known[subresourceOf(request)];
  if (found === undefined) throw new S3Error("NotImplemented");
  if (typeof found === "string") throw new S3Error(found);
  return xmlResponse(...found as [string, string]);
}
