/** PutBucketAcl and PutObjectAcl: taken if they ask for what holds anyway, that everything is its owner's alone. */

import type { S3Operation } from "../call.ts";
import { S3Error } from "../errors.ts";
import { OWNER_ID } from "../owner.ts";
import { bucketOf, checkBucket, objectPlace } from "../places.ts";
import { checkAcl } from "../writes.ts";
import { readXml, type XmlNode } from "../xml_reader.ts";

const MOST_BYTES = 64 * 1024;

export const putAcl: S3Operation = async (call) => {
  const { request, store } = call;
  await (request.key === undefined ? checkBucket(call) : bucketOf(call));
  checkAcl(request.headers, "AccessControlListNotSupported");
  const body = await request.wholeBody(MOST_BYTES);
  if (body.length === 0 && !request.headers.has("x-amz-acl")) throw new S3Error("MissingSecurityHeader");
  if (body.length > 0) checkPolicy(readXml(body, "AccessControlPolicy"));
  if (request.key !== undefined) {
    const { repository, ref, path } = await objectPlace(call);
    await store.stat(repository, ref, path);
  }
  return new Response(null, { status: 200 });
};

function checkPolicy(policy: XmlNode): void {
  for (const list of policy.all("AccessControlList")) {
    for (const grant of list.all("Grant")) {
      const isOwner = grant.all("Grantee").every((grantee) => grantee.text("ID") === OWNER_ID);
      if (!isOwner || grant.text("Permission") !== "FULL_CONTROL") {
        throw new S3Error("AccessControlListNotSupported");
      }
    }
  }
}
