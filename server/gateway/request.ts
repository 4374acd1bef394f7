/** A request to the S3 gateway: parsed once, its sender known, its body as it is to be stored. */

import type { ByteStream } from "../../drivers/object_store.ts";
import type { ServerContext } from "../context.ts";
import type { Peer } from "../listen.ts";
import { targetOfUrl } from "../raw_target.ts";
import { S3Error } from "./errors.ts";
import type { ChecksumAlgorithm } from "./payload/checksums.ts";
import type { ChunkSigner } from "./payload/chunked.ts";
import { checkPresence, Content, type VerifiedChecksum } from "./payload/content.ts";
import { bodyPlan, type BodyUse, type Payload, payloadOf } from "./payload/plan.ts";
import { operationOf, type S3OperationName } from "./routes.ts";
import { chunkSigner } from "./signatures/chunk_signer.ts";
import { isOldLink, userOfOldLink } from "./signatures/old_links.ts";
import { presentedSignature } from "./signatures/presented.ts";
import { verifySignature } from "./signatures/verify.ts";
import { ownHost, parseTarget, type S3Query, type S3Target } from "./target.ts";

export type { ChecksumAlgorithm } from "./payload/checksums.ts";
export type { VerifiedChecksum } from "./payload/content.ts";
export type { S3Query } from "./target.ts";

export interface S3Request {
  readonly method: string;
  /** Decoded once; `undefined` at the service's root. */
  readonly bucket: string | undefined;
  /** Decoded once and otherwise exact: `a//b`, `..`, `+`, `%2e` written `%252e`. Never empty; `undefined` at a bucket. */
  readonly key: string | undefined;
  readonly query: S3Query;
  /** With those that a signed URL carries, and without the encoding that the body no longer has. */
  readonly headers: Headers;
  /** The target of the request line, as it came. */
  readonly rawTarget: string;
  /** The user whose credential signed the request. */
  readonly user: string;
  /** The content without its chunks; fails at its end if its signature, checksum or length is not what was said. */
  readonly body: ByteStream;
  /** Returns the content: whole and checked if it is small, else as `body`. Either is to be read once. */
  content(): Promise<Uint8Array | ByteStream>;
  /** Reads the body whole: for documents. Fails with `MaxMessageLengthExceeded`. */
  wholeBody(mostBytes: number): Promise<Uint8Array>;
  /** How many bytes the content has, if that was said. */
  readonly bodyBytes: number | undefined;
  /** The checksum that the client sent. */
  readonly checksum: VerifiedChecksum | undefined;
  /**
   * Has a checksum computed while the body is read, which must not have begun. It is the client's own if that is of this
   * algorithm.
   */
  computeChecksum(algorithm: ChecksumAlgorithm): VerifiedChecksum;
  readonly signal: AbortSignal;
}

/**
 * Parses a request and checks who sent it. Fails with an `S3Error`: `AccessDenied` for one that is not signed,
 * `InvalidAccessKeyId`, `SignatureDoesNotMatch`, `RequestTimeTooSkewed` and others; with `too_many_logins` for who fails often.
 */
export async function openS3Request(
  request: Request,
  { context, peer }: { context: ServerContext; peer: Peer },
): Promise<S3Request> {
  const { method } = request;
  const host = ownHost(request.headers.get("host"), context.hosts);
  if (!host) {
    throw new S3Error("AccessDenied", "The request names a host that this server does not know itself by");
  }
  const rawTarget = peer.target?.() ?? targetOfUrl(request.url);
  const target = parseTarget(rawTarget, host.bucket);
  const address = () => peer.address() ?? "unknown";
  const sender = await senderOf(request, { context, address, target, rawTarget, hostBucket: host.bucket });
  const { headers, payload } = sender;
  checkPresence(request, payload);
  const operation = operationOf({ method, headers, ...target });
  const plan = bodyPlan(request, { headers, payload, use: bodyUse(operation, method) });
  const content = new Content(request, { plan, signer: sender.chunks, limits: context.limits });
  return {
    method,
    bucket: target.bucket,
    key: target.key,
    query: target.query,
    headers: withoutChunks(headers),
    rawTarget,
    user: sender.user,
    get body() {
      return content.stream();
    },
    content: () => content.wholeIfSmall(),
    wholeBody: (mostBytes) => content.whole(mostBytes),
    bodyBytes: plan.contentBytes,
    checksum: content.checksum,
    computeChecksum: (algorithm) => content.compute(algorithm),
    signal: request.signal,
  };
}

interface Sender {
  readonly user: string;
  /** With those that a link carries. */
  readonly headers: Headers;
  readonly payload: Payload;
  readonly chunks: ChunkSigner | undefined;
}

interface SenderParts {
  readonly context: ServerContext;
  readonly address: () => string;
  readonly target: S3Target;
  readonly rawTarget: string;
  readonly hostBucket: string | undefined;
}

/** Finds out who sent a request, and what is said of its body. */
async function senderOf(
  { method, headers: given }: Request,
  { context: { auth, clock }, address, target, rawTarget, hostBucket }: SenderParts,
): Promise<Sender> {
  const { query } = target;
  const nowMs = clock.now();
  if (isOldLink(given, query)) {
    const headers = withHeadersOfQuery(given, query);
    const link = { method, headers, query, rawTarget, hostBucket };
    const user = await userOfOldLink(link, { auth, nowMs, address });
    const payload = payloadOf(headers, { isInQuery: true });
    if (payload.chunks?.areSigned) {
      throw new S3Error("InvalidRequest", "No chunk can be signed under this link");
    }
    return { user, headers, payload, chunks: undefined };
  }
  const presented = presentedSignature(given, { query, nowMs });
  const sent = presented.isInQuery ? withHeadersOfQuery(given, query) : given;
  const payload = payloadOf(sent, presented);
  const request = { method, headers: given, target, payloadHash: payload.text };
  const signature = await verifySignature(presented, { request, auth, address });
  const chunks = payload.chunks?.areSigned ? chunkSigner(signature) : undefined;
  const headers = presented.isInQuery ? withHeadersOfQuery(signature.headers, query) : signature.headers;
  return { user: signature.user, headers, payload, chunks };
}

function bodyUse(operation: S3OperationName, method: string): BodyUse {
  return {
    isContent: operation === "PutObject" || operation === "UploadPart",
    hasChecksum: (method === "PUT" || method === "POST") && !SPEAKS_OF_OBJECTS.has(operation),
  };
}

/** Their checksums are those of what they make, not of their bodies. */
const SPEAKS_OF_OBJECTS: ReadonlySet<S3OperationName> = new Set(
  ["CompleteMultipartUpload", "CopyObject", "UploadPartCopy"] as const,
);

/** Who signs a URL puts headers of S3 into its query, for whoever uses it would have to send them. */
function withHeadersOfQuery(given: Headers, { entries }: S3Query): Headers {
  const headers = new Headers(given);
  for (const [name, value] of entries) {
    if (!/^x-amz-/i.test(name) || OF_SIGNATURE.has(name) || headers.has(name)) continue;
    try {
      headers.set(name, value);
    } catch (error) {
      const details = { ArgumentName: name, ArgumentValue: value };
      throw new S3Error("InvalidArgument", "The query holds what no header may hold", {
        details,
        cause: error,
      });
    }
  }
  return headers;
}

const OF_SIGNATURE: ReadonlySet<string> = new Set(
  ["Algorithm", "Credential", "Date", "Expires", "Security-Token", "Signature", "SignedHeaders"].map((name) =>
    `X-Amz-${name}`
  ),
);

/** How a body was sent is no quality of the object. */
function withoutChunks(given: Headers): Headers {
  const encodings = given.get("content-encoding");
  if (!encodings?.toLowerCase().includes("aws-chunked")) return given;
  const isOwn = (encoding: string) => encoding.toLowerCase() !== "aws-chunked";
  const rest = encodings.split(",").map((one) => one.trim()).filter(isOwn).join(", ");
  const headers = new Headers(given);
  if (rest === "") headers.delete("content-encoding");
  else headers.set("content-encoding", rest);
  return headers;
}
