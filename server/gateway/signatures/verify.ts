/** Whether a request was signed by who it says: SigV4 with our copy of the secret. */

import { createHmac, timingSafeEqual } from "node:crypto";
import { Buffer } from "node:buffer";
import { hex, utf8 } from "../../../base/bytes.ts";
import { sha256 } from "../../../base/hashes.ts";
import type { Auth } from "../../auth/mod.ts";
import { S3Error } from "../errors.ts";
import type { S3Target } from "../target.ts";
import { canonicalRequest } from "./canonical.ts";
import type { Credential } from "./credential.ts";
import { ALGORITHM, type PresentedSignature } from "./presented.ts";

/** Who signed a request, and what its chunks are signed with. */
export interface VerifiedSignature {
  readonly user: string;
  readonly key: Uint8Array;
  /** What the first chunk's signature follows on. */
  readonly signature: string;
  readonly time: string;
  readonly scope: string;
  /** The request's headers as they were signed: see {@link withJoinedMetadata}. */
  readonly headers: Headers;
}

export interface SignedRequest {
  readonly method: string;
  readonly headers: Headers;
  readonly target: S3Target;
  readonly payloadHash: string;
}

/**
 * Checks a request's signature. Fails with `AccessDenied` when what matters was left unsigned, `InvalidAccessKeyId`,
 * `SignatureDoesNotMatch`, and `too_many_logins` for who fails often.
 */
export async function verifySignature(
  presented: PresentedSignature,
  { request, auth, address }: { request: SignedRequest; auth: Auth; address: () => string },
): Promise<VerifiedSignature> {
  checkSignedHeaders(presented, request.headers);
  const { credential, time, signature } = presented;
  const { accessKeyId } = credential;
  const signer = await auth.signer(accessKeyId);
  if (!signer) {
    auth.signed(false, { accessKeyId, address });
    throw new S3Error("InvalidAccessKeyId", undefined, { details: { AWSAccessKeyId: accessKeyId } });
  }
  const key = signer.keys.of(credential);
  const scope = scopeOf(credential);
  const canonical = canonicalOf(presented, request);
  const isSigned = (form: string) =>
    encodingsOf(form).some((bytes) =>
      isSignature(signature, { key, text: textToSign({ time, scope, bytes }) })
    );
  const verified = { user: signer.user.id, key, signature, time, scope };
  if (isSigned(canonical) || listForms(canonical).some(isSigned)) {
    auth.signed(true, { accessKeyId, address });
    return { ...verified, headers: request.headers };
  }
  const headers = withJoinedMetadata(request.headers);
  const isRight = headers !== undefined && isSigned(canonicalOf(presented, { ...request, headers }));
  auth.signed(isRight, { accessKeyId, address });
  if (isRight) return { ...verified, headers };
  const [bytes] = encodingsOf(canonical);
  throw new S3Error("SignatureDoesNotMatch", undefined, {
    details: {
      AWSAccessKeyId: accessKeyId,
      StringToSign: textToSign({ time, scope, bytes: bytes! }),
      SignatureProvided: signature,
      CanonicalRequest: canonical,
    },
  });
}

/** Compares a signature with the right one, in a time that tells nothing of it. */
export function isSignature(signature: string, { key, text }: { key: Uint8Array; text: string }): boolean {
  return sameText(signature, createHmac("sha256", key).update(text).digest("hex"));
}

/** Compares what is given with what is right, in a time that tells nothing of it but its length. */
export function sameText(given: string, right: string): boolean {
  const a = utf8(given), b = utf8(right);
  return a.length === b.length && timingSafeEqual(a, b);
}

/** Whoever changes a header that S3 acts upon must not keep the signature: these have to be signed, and the host. */
function checkSignedHeaders({ signedHeaders }: PresentedSignature, headers: Headers): void {
  const missing: string[] = [];
  headers.forEach((_, name) => {
    if ((name.startsWith("x-amz-") || name === "host") && !signedHeaders.includes(name)) missing.push(name);
  });
  if (missing.length === 0) return;
  throw new S3Error("AccessDenied", "There were headers present in the request which were not signed", {
    details: { HeadersNotSigned: missing.join(", ") },
  });
}

function scopeOf({ date, region }: Credential): string {
  return `${date}/${region}/s3/aws4_request`;
}

function canonicalOf(
  { signedHeaders, isInQuery }: PresentedSignature,
  { method, headers, target, payloadHash }: SignedRequest,
): string {
  const { entries } = target.query;
  return canonicalRequest({
    method,
    path: target.canonicalPath,
    query: isInQuery ? entries.filter(([name]) => name !== "X-Amz-Signature") : entries,
    headers,
    signedHeaders,
    payloadHash,
  });
}

/** A list that came as several headers reaches us joined by `, `, and was signed joined by `,` (as Go's clients do). */
function listForms(canonical: string): string[] {
  const list = /\nx-amz-object-attributes:[^\n]*, [^\n]*/.exec(canonical)?.[0];
  return list === undefined ? [] : [canonical.replace(list, () => list.replaceAll(", ", ","))];
}

/**
 * Metadata that came in several headers of one name reaches us joined by `, `, and is joined by `,` to S3 and to who signed it.
 * Returns `undefined` where there is none that may have come so.
 */
function withJoinedMetadata(given: Headers): Headers | undefined {
  const lists = [...given].filter(([name, value]) => name.startsWith("x-amz-meta-") && value.includes(", "));
  if (lists.length === 0) return undefined;
  const headers = new Headers(given);
  for (const [name, value] of lists) headers.set(name, value.replaceAll(", ", ","));
  return headers;
}

/** The bytes as they came; and, where a client sends ISO 8859-1 and signs UTF-8 (as node's does), those that it signed. */
function encodingsOf(canonical: string): Uint8Array[] {
  const encoded = utf8(canonical);
  return encoded.length === canonical.length ? [encoded] : [Buffer.from(canonical, "latin1"), encoded];
}

function textToSign({ time, scope, bytes }: { time: string; scope: string; bytes: Uint8Array }): string {
  return `${ALGORITHM}\n${time}\n${scope}\n${hex(sha256(bytes))}`;
}
