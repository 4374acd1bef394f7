/** What a failure is answered with: S3's code and status for each of ours, in S3's XML. */

import { CodedError, type ErrorDetails, type ErrorKind } from "../../base/errors.ts";
import { S3Error, type S3ErrorCode } from "./errors.ts";
import { errorDocument } from "./xml.ts";

const BY_KIND: Record<ErrorKind, S3ErrorCode> = {
  invalid: "InvalidRequest",
  unauthenticated: "AccessDenied",
  forbidden: "AccessDenied",
  not_found: "NoSuchKey",
  exists: "InvalidRequest",
  // Clients of S3 try again by themselves.
  conflict: "SlowDown",
  gone: "NoSuchKey",
  precondition: "PreconditionFailed",
  throttled: "SlowDown",
  canceled: "RequestTimeout",
  internal: "InternalError",
  corrupt: "InternalError",
  unsupported: "NotImplemented",
  unavailable: "ServiceUnavailable",
};

/** The codes of the store that S3 has a name of its own for. */
const BY_CODE: Readonly<Record<string, S3ErrorCode>> = {
  body_too_large: "MaxMessageLengthExceeded",
  body_too_slow: "RequestTimeout",
  branch_exists: "BucketAlreadyOwnedByYou",
  branch_not_found: "NoSuchBucket",
  invalid_content_type: "InvalidArgument",
  invalid_metadata: "InvalidArgument",
  invalid_part_number: "InvalidArgument",
  invalid_part_order: "InvalidPartOrder",
  invalid_path: "InvalidArgument",
  invalid_range: "InvalidRange",
  invalid_repository_name: "InvalidBucketName",
  limit_exceeded: "MetadataTooLarge",
  not_a_branch: "AccessDenied",
  object_exists: "PreconditionFailed",
  part_not_found: "InvalidPart",
  repository_exists: "BucketAlreadyOwnedByYou",
  repository_not_empty: "BucketNotEmpty",
  repository_not_found: "NoSuchBucket",
  upload_not_found: "NoSuchUpload",
};

/** What S3 says by these codes says little: our own message says what is wrong. */
const OWN_MESSAGE: ReadonlySet<S3ErrorCode> = new Set([
  "AccessDenied",
  "InvalidArgument",
  "InvalidRequest",
  "NotImplemented",
]);

/** Nor does it say which branch is none, or which names buckets may have. */
const OWN_MESSAGE_OF: ReadonlySet<string> = new Set(["branch_not_found", "invalid_repository_name"]);

/** A client that asks less often is not helped by that. */
const FULL_MESSAGE = "The server has no room left to write to";
const FULL: ReadonlySet<string> = new Set(["storage_full", "kv_full"]);

/** Returns a failure as S3 has it. One of ours that is the server's own is named, not described: the log has the rest. */
export function s3ErrorOf(error: unknown): S3Error {
  if (error instanceof S3Error) return error;
  if (!(error instanceof CodedError)) return new S3Error("InternalError", undefined, { cause: error });
  const code = error.details["is_missing"] === true
    ? "NoSuchKey"
    : BY_CODE[error.code] ?? BY_KIND[error.kind];
  // What is forbidden to us, and not to the client, may speak of this machine.
  const isOwn = OWN_MESSAGE_OF.has(error.code) ||
    (OWN_MESSAGE.has(code) && (error.kind !== "forbidden" || error.code === "branch_protected"));
  const message = FULL.has(error.code) ? FULL_MESSAGE : isOwn ? error.message : undefined;
  return new S3Error(code, message, { cause: error, details: error.details });
}

export interface FailureParts {
  readonly requestId: string;
  readonly hostId: string;
  /** The path of the request, as it came. */
  readonly resource: string;
  readonly method: string;
}

/** Answers a failure in S3's XML; one of a HEAD, and what was not modified, without a body. */
export function failureResponse(
  error: unknown,
  { requestId, hostId, resource, method }: FailureParts,
): Response {
  const failure = s3ErrorOf(error);
  const { status, code, message, details } = failure;
  const headers: Record<string, string> = {};
  const size = details["size_bytes"];
  if (code === "InvalidRange" && size !== undefined) headers["content-range"] = `bytes */${size}`;
  const etag = details["etag"];
  if (typeof etag === "string") headers["etag"] = etag;
  if (status === 503) headers["retry-after"] = textOf(details["retry_after_seconds"]) ?? "1";
  if (method === "HEAD" || status === 304) return new Response(null, { status, headers });
  headers["content-type"] = "application/xml";
  const document = errorDocument({
    Code: code,
    Message: message,
    ...factsOf(details),
    ActualObjectSize: code === "InvalidRange" ? textOf(size) : undefined,
    Resource: resource,
    RequestId: requestId,
    HostId: hostId,
  });
  return new Response(document, { status, headers });
}

/** Details by S3's names, which begin with a capital, are told as they are; those by ours are for the log. */
function factsOf(details: ErrorDetails): Record<string, string | undefined> {
  const named = Object.entries(details).filter(([name]) => /^[A-Z]/.test(name));
  return Object.fromEntries(named.map(([name, value]) => [name, textOf(value)]));
}

function textOf(detail: unknown): string | undefined {
  return detail === undefined ? undefined : String(detail);
}
