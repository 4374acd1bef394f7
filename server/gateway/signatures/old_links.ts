/**
 * Links that are signed in S3's first way, version 2, in their query: what boto3 and the AWS CLI make unless they are told
 * otherwise. Only links; requests of that kind no client makes any more.
 *
 * ```
 * METHOD \n CONTENT-MD5 \n CONTENT-TYPE \n EXPIRES \n
 * x-amz-name:value \n …                                 each header of S3, sorted
 * /BUCKET/PATH?uploads&versionId=…                      the path as it came, and what of the query names a subresource
 * ```
 */

import { Buffer } from "node:buffer";
import type { Auth } from "../../auth/mod.ts";
import { S3Error } from "../errors.ts";
import type { S3Query } from "../target.ts";
import { sameText } from "./verify.ts";

/** The parameters that are signed. */
const SIGNED = new Set([
  "accelerate",
  "acl",
  "analytics",
  "cors",
  "defaultObjectAcl",
  "delete",
  "inventory",
  "lifecycle",
  "location",
  "logging",
  "metrics",
  "notification",
  "object-lock",
  "partNumber",
  "policy",
  "replication",
  "requestPayment",
  "response-cache-control",
  "response-content-disposition",
  "response-content-encoding",
  "response-content-language",
  "response-content-type",
  "response-expires",
  "restore",
  "select",
  "select-type",
  "storageClass",
  "tagging",
  "torrent",
  "uploadId",
  "uploads",
  "versionId",
  "versioning",
  "versions",
  "website",
]);

/** Whether a request has nothing but such a link to show who it is from. */
export function isOldLink(headers: Headers, query: S3Query): boolean {
  return query.has("AWSAccessKeyId") && query.has("Signature") && !query.has("X-Amz-Signature") &&
    !headers.has("authorization");
}

export interface LinkedRequest {
  readonly method: string;
  /** With those that stand in the query. */
  readonly headers: Headers;
  readonly query: S3Query;
  /** The target of the request line, as it came. */
  readonly rawTarget: string;
  /** The bucket that the host names. */
  readonly hostBucket: string | undefined;
}

/**
 * Returns the user who signed a link. Fails with `AccessDenied` when its time is over, `InvalidToken`,
 * `InvalidAccessKeyId`, `SignatureDoesNotMatch`, and `too_many_logins` for who fails often.
 */
export async function userOfOldLink(
  request: LinkedRequest,
  { auth, nowMs, address }: { auth: Auth; nowMs: number; address: () => string },
): Promise<string> {
  const { query } = request;
  const expires = query.get("Expires") ?? "";
  if (!/^[0-9]{1,11}$/.test(expires)) {
    throw new S3Error(
      "AccessDenied",
      "Query-string authentication requires the Signature, Expires and AWSAccessKeyId parameters",
    );
  }
  // Keys of ours are permanent: whoever sends a token means another key.
  if (request.headers.has("x-amz-security-token")) throw new S3Error("InvalidToken");
  if (Number(expires) * 1000 < nowMs) throw new S3Error("AccessDenied", "Request has expired");
  const accessKeyId = query.get("AWSAccessKeyId")!;
  const signer = await auth.signer(accessKeyId);
  const isRight = signer !== undefined && textsToSign(request, expires).some((text) => {
    const mac = signer.keys.oldSignature(Buffer.from(text, "latin1"));
    return sameText(query.get("Signature")!, Buffer.from(mac).toString("base64"));
  });
  auth.signed(isRight, { accessKeyId, address });
  if (isRight) return signer.user.id;
  throw new S3Error(signer ? "SignatureDoesNotMatch" : "InvalidAccessKeyId");
}

/** Returns what may have been signed: a bucket's own path also with the slash that boto3 signs and does not send. */
function textsToSign(
  { method, headers, query, rawTarget, hostBucket }: LinkedRequest,
  expires: string,
): string[] {
  const plain = (name: string) => headers.get(name) ?? query.get(name) ?? "";
  let text = `${method}\n${plain("content-md5")}\n${plain("content-type")}\n${expires}\n`;
  const own = [...headers].filter(([name]) => name.startsWith("x-amz-")).sort(([a], [b]) => a < b ? -1 : 1);
  for (const [name, value] of own) text += `${name}:${value}\n`;
  const signed = query.entries.filter(([name]) => SIGNED.has(name)).sort(([a], [b]) => a < b ? -1 : 1)
    .map(([name, value]) => value === "" ? name : `${name}=${value}`);
  const path = (hostBucket === undefined ? "" : `/${hostBucket}`) + rawTarget.split("?", 1)[0];
  const paths = path.indexOf("/", 1) < 0 && path !== "/" ? [path, `${path}/`] : [path];
  return paths.map((one) => text + one + (signed.length > 0 ? `?${signed.join("&")}` : ""));
}
