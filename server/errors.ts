/** What an error is answered with: the status by its kind, the few codes where lakeFS answers otherwise, the API's form. */

import { CodedError, type ErrorKind, isCoded } from "../base/errors.ts";

const BY_KIND: Record<ErrorKind, number> = {
  invalid: 400,
  unauthenticated: 401,
  forbidden: 403,
  not_found: 404,
  exists: 409,
  conflict: 409,
  gone: 410,
  precondition: 412,
  throttled: 429,
  // Nobody is there any more to read it.
  canceled: 499,
  internal: 500,
  corrupt: 500,
  unsupported: 501,
  unavailable: 503,
};

/** The codes whose status is not that of their kind. */
const BY_CODE: Readonly<Record<string, number>> = {
  body_too_large: 413,
  // A conflict's answer speaks of paths that both sides changed; this is none.
  branch_dirty: 400,
  body_too_slow: 408,
  invalid_range: 416,
  misdirected_request: 421,
  namespace_in_use: 400,
  no_changes: 400,
  // Under that name lakeFS finds no branch, whatever else it is.
  not_a_branch: 404,
  nothing_to_merge: 400,
  // The conditional upload is all that fails with it here.
  object_exists: 412,
};

/** What lakeFS says of a protected branch, by what was tried: its clients read it. */
const OF_PROTECTED: Readonly<Record<string, string>> = {
  "write to": "cannot write to protected branch",
  commit: "cannot commit to protected branch",
};

/** Returns the status that an error is answered with; what is no {@link CodedError} counts as internal. */
export function statusOf(error: unknown): number {
  if (!(error instanceof CodedError)) return BY_KIND.internal;
  return BY_CODE[error.code] ?? BY_KIND[error.kind];
}

/**
 * Returns what a client is told. A failure of ours is named by its code alone, since its message may speak of this machine;
 * the log has the rest under the same request ID.
 */
export function messageOf(error: unknown): string {
  if (!(error instanceof CodedError)) return "internal error";
  if (error.code === "branch_protected") return OF_PROTECTED[String(error.details["verb"])] ?? error.message;
  return statusOf(error) >= 500 && error.kind !== "unsupported"
    ? `internal error: ${error.code}`
    : error.message;
}

/** Answers an error in the API's form. */
export function errorResponse(error: unknown): Response {
  const headers: Record<string, string> = {};
  const details = error instanceof CodedError ? error.details : {};
  if (isCoded(error, "too_many_logins")) headers["retry-after"] = String(details["retry_after_seconds"]);
  if (isCoded(error, "invalid_range")) headers["content-range"] = `bytes */${details["size_bytes"]}`;
  if (statusOf(error) === 401) headers["www-authenticate"] = 'Basic realm="tarn"';
  return Response.json({ message: messageOf(error) }, { status: statusOf(error), headers });
}
