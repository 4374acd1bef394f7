/** What a request says of its body: how it is encoded, how long it is, and which digests it has. */

import { contentLength } from "../../body.ts";
import { S3Error } from "../errors.ts";
import {
  algorithmOfHeader,
  type ChecksumAlgorithm,
  checksumAlgorithm,
  checksumHeader,
  isBase64Of,
  isChecksum,
} from "./checksums.ts";

/** What `x-amz-content-sha256` says. */
export interface Payload {
  /** As it is signed. */
  readonly text: string;
  readonly sha256?: string;
  readonly chunks?: { readonly areSigned: boolean; readonly hasTrailer: boolean };
}

export interface BodyPlan {
  readonly payload: Payload;
  /** Of the content, without its chunks; `undefined` if that is not said. */
  readonly contentBytes: number | undefined;
  readonly md5: string | undefined;
  /** The checksum of the content; without a value it comes in a trailer. */
  readonly checksum:
    | { readonly algorithm: ChecksumAlgorithm; readonly value: string | undefined }
    | undefined;
}

const SHA256 = /^[0-9a-f]{64}$/;
const UNSIGNED = "UNSIGNED-PAYLOAD";
const CHUNKED: Readonly<Record<string, Payload["chunks"]>> = {
  "STREAMING-AWS4-HMAC-SHA256-PAYLOAD": { areSigned: true, hasTrailer: false },
  "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER": { areSigned: true, hasTrailer: true },
  "STREAMING-UNSIGNED-PAYLOAD-TRAILER": { areSigned: false, hasTrailer: true },
};
/** What S3 takes; the two of version 4A we do not. */
const OF_S3 = [
  "STREAMING-UNSIGNED-PAYLOAD-TRAILER",
  "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
  "STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER",
  "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD",
  "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD-TRAILER",
];

/** Returns what a request says of its payload: of one signed in its URL nothing has to be said. Fails with S3's codes. */
export function payloadOf(headers: Headers, { isInQuery }: { isInQuery: boolean }): Payload {
  const text = headers.get("x-amz-content-sha256") ?? (isInQuery ? UNSIGNED : undefined);
  if (text === undefined) throw invalid("Missing required header for this request: x-amz-content-sha256");
  if (text === UNSIGNED) return { text };
  if (Object.hasOwn(CHUNKED, text)) return { text, chunks: CHUNKED[text] };
  if (SHA256.test(text.toLowerCase())) return { text, sha256: text.toLowerCase() };
  throw new S3Error(
    "InvalidArgument",
    `x-amz-content-sha256 must be ${UNSIGNED}, ${OF_S3.join(", ")} or a valid sha256 value.`,
    { details: { ArgumentName: "x-amz-content-sha256", ArgumentValue: text } },
  );
}

/** What a body may be is said by what it is for. */
export interface BodyUse {
  /** Whether it is an object's, or a part's: only these come in chunks. */
  readonly isContent: boolean;
  /** Whether the checksum that is sent is the body's: that which completes an upload is not. */
  readonly hasChecksum: boolean;
}

/** Returns what a request says of its body. Fails with S3's codes where it contradicts itself, or says what we cannot check. */
export function bodyPlan(request: Request, { headers, payload, use }: {
  headers: Headers;
  payload: Payload;
  use: BodyUse;
}): BodyPlan {
  const isEncoded = /(?:^|,)\s*aws-chunked\s*(?:,|$)/i.test(headers.get("content-encoding") ?? "");
  if (use.isContent ? isEncoded && !payload.chunks : payload.chunks) {
    throw invalid("The value of x-amz-content-sha256 header is invalid.");
  }
  const md5 = headers.get("content-md5") ?? undefined;
  if (md5 !== undefined && !isBase64Of(md5, 16)) {
    throw new S3Error("InvalidDigest", undefined, { details: { "Content-MD5": md5 } });
  }
  return {
    payload,
    contentBytes: payload.chunks ? decodedLength(headers) : plainLength(request, use),
    md5,
    checksum: use.hasChecksum ? checksumOf(headers, payload) : undefined,
  };
}

function decodedLength(headers: Headers): number {
  const text = headers.get("x-amz-decoded-content-length") ?? "";
  if (!/^[0-9]{1,15}$/.test(text)) throw new S3Error("MissingContentLength");
  return Number(text);
}

function plainLength(request: Request, { isContent }: BodyUse): number | undefined {
  const length = contentLength(request);
  if (length !== undefined) return length;
  // HTTP's own chunks end by themselves; without them there is no body.
  if (request.headers.has("transfer-encoding")) return undefined;
  if (isContent) throw new S3Error("MissingContentLength");
  return 0;
}

function checksumOf(headers: Headers, { chunks }: Payload): BodyPlan["checksum"] {
  const found: { algorithm: ChecksumAlgorithm; value: string | undefined }[] = [];
  headers.forEach((value, name) => {
    const algorithm = algorithmOfHeader(name);
    if (algorithm) found.push({ algorithm, value });
    else if (isUnknownChecksum(name)) {
      throw invalid("The algorithm type you specified in x-amz-checksum- header is invalid.");
    }
  });
  const trailer = headers.get("x-amz-trailer");
  if (trailer !== null) {
    const algorithm = algorithmOfHeader(trailer.trim().toLowerCase());
    if (!algorithm || !chunks?.hasTrailer) {
      throw invalid("The value specified in the x-amz-trailer header is not supported");
    }
    found.push({ algorithm, value: undefined });
  }
  if (found.length > 1) {
    throw invalid("Expecting a single x-amz-checksum- header. Multiple checksum Types are not allowed.");
  }
  const [checksum] = found;
  if (checksum?.value !== undefined && !isChecksum(checksum.value, checksum.algorithm)) {
    throw invalid(`Value for ${checksumHeader(checksum.algorithm)} header is invalid.`);
  }
  checkAnnounced(headers.get("x-amz-sdk-checksum-algorithm"), checksum?.algorithm);
  return checksum;
}

function isUnknownChecksum(name: string): boolean {
  return /^x-amz-checksum-(?!(?:algorithm|mode|type)$)/.test(name);
}

/** An SDK says which checksum it computes: one that is missing was lost on the way. */
function checkAnnounced(name: string | null, algorithm: ChecksumAlgorithm | undefined): void {
  if (name === null) return;
  if (!algorithm) {
    throw invalid(
      "x-amz-sdk-checksum-algorithm specified, but no corresponding x-amz-checksum-* or x-amz-trailer headers were found.",
    );
  }
  if (checksumAlgorithm(name) !== algorithm) {
    throw invalid("Value for x-amz-sdk-checksum-algorithm header is invalid.");
  }
}

function invalid(message: string): S3Error {
  return new S3Error("InvalidRequest", message);
}
