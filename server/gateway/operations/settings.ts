/**
 * What is set beside buckets and objects. Nothing is kept of it: what holds anyway is taken, to take away what is not there
 * is no failure, and all else is refused as S3 would refuse it, or not built.
 */

import type { S3Call, S3Operation } from "../call.ts";
import { S3Error } from "../errors.ts";
import { noLocks } from "../locks.ts";
import { checkBucket, objectPlace } from "../places.ts";
import { subresourceOf } from "../routes.ts";
import { readXml } from "../xml_reader.ts";

const MOST_BYTES = 64 * 1024;

/** What a bucket of S3 has or has not, and nobody misses. */
const REMOVABLE: ReadonlySet<string> = new Set([
  "cors",
  "encryption",
  "lifecycle",
  "policy",
  "publicAccessBlock",
  "replication",
  "website",
]);

const OWNERSHIPS = ["BucketOwnerEnforced", "BucketOwnerPreferred", "ObjectWriter"];

export const putBucketSubresource: S3Operation = async (call) => {
  await checkBucket(call);
  const subresource = subresourceOf(call.request);
  if (subresource !== "ownershipControls") throw notBuilt(call);
  const rules = readXml(await call.request.wholeBody(MOST_BYTES), "OwnershipControls").all("Rule");
  const ownership = rules[0]?.text("ObjectOwnership");
  if (rules.length !== 1 || !OWNERSHIPS.includes(ownership ?? "")) throw new S3Error("MalformedXML");
  // Whoever writes an object, the bucket's owner has it.
  if (ownership !== "BucketOwnerEnforced") throw notBuilt(call);
  return new Response(null, { status: 200 });
};

export const deleteBucketSubresource: S3Operation = async (call) => {
  await checkBucket(call);
  if (!REMOVABLE.has(subresourceOf(call.request))) throw notBuilt(call);
  return new Response(null, { status: 204 });
};

export const putObjectSubresource: S3Operation = async (call) => {
  const { repository } = await objectPlace(call);
  await call.store.getRepository(repository);
  const lock = LOCKS[subresourceOf(call.request)];
  if (lock === undefined) throw notBuilt(call);
  const [root, element, known] = lock;
  const text = readXml(await call.request.wholeBody(MOST_BYTES), root).text(element);
  throw known.includes(text ?? "") ? noLocks() : new S3Error("MalformedXML");
};

/** The root of what asks for a lock, and what its first element may be. */
const LOCKS: Readonly<Record<string, readonly [root: string, element: string, known: readonly string[]]>> = {
  "legal-hold": ["LegalHold", "Status", ["ON", "OFF"]],
  retention: ["Retention", "Mode", ["GOVERNANCE", "COMPLIANCE", ""]],
};

function notBuilt({ request }: S3Call): S3Error {
  return new S3Error("NotImplemented", `What "?${subresourceOf(request)}" would set is not built`);
}
