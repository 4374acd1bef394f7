/**
 * The signature that a request presents: in its `Authorization` header, or, when its URL was signed for others to use, in its
 * query. Read and checked for form and time here; whether it is right, `verify.ts` finds out.
 */

import { S3Error } from "../errors.ts";
import type { S3Query } from "../target.ts";
import { type Credential, parseCredential } from "./credential.ts";
import { parseBasicTime, parseTime } from "./times.ts";

export const ALGORITHM = "AWS4-HMAC-SHA256";

export interface PresentedSignature {
  readonly credential: Credential;
  /** In lower case, as the client ordered them. */
  readonly signedHeaders: readonly string[];
  readonly signature: string;
  /** When it was signed, as the signature has it: `20130524T000000Z`. */
  readonly time: string;
  readonly isInQuery: boolean;
}

const MAX_SKEW_MS = 15 * 60_000;
const MAX_EXPIRES_SECONDS = 7 * 24 * 3600;

/**
 * Returns what a request presents. Fails with `AccessDenied` for one that presents nothing, or whose time is over, and with
 * S3's codes for what is not well-formed, not supported or too far from our clock.
 */
export function presentedSignature(
  headers: Headers,
  { query, nowMs }: { query: S3Query; nowMs: number },
): PresentedSignature {
  const authorization = headers.get("authorization");
  const isInQuery = query.has("X-Amz-Algorithm") || query.has("X-Amz-Signature");
  if (authorization !== null && (isInQuery || query.has("Signature"))) {
    throw new S3Error(
      "InvalidArgument",
      "Only one auth mechanism allowed; only the X-Amz-Algorithm query parameter, Signature query string parameter or the Authorization header should be specified",
      { details: { ArgumentName: "Authorization", ArgumentValue: authorization } },
    );
  }
  if (authorization === null && !isInQuery) {
    throw new S3Error("AccessDenied");
  }
  if (headers.get("x-amz-security-token") || query.get("X-Amz-Security-Token")) {
    // Keys of ours are permanent: whoever sends a token means another key.
    throw new S3Error("InvalidToken");
  }
  return authorization === null ? fromQuery(query, nowMs) : fromHeader(authorization, { headers, nowMs });
}

function unsupportedMechanism(): S3Error {
  return new S3Error(
    "InvalidRequest",
    `The authorization mechanism you have provided is not supported. Please use ${ALGORITHM}.`,
  );
}

function malformed(why: string): S3Error {
  return new S3Error("AuthorizationHeaderMalformed", `The authorization header is malformed; ${why}`);
}

function fromHeader(
  authorization: string,
  { headers, nowMs }: { headers: Headers; nowMs: number },
): PresentedSignature {
  const parts = componentsOf(authorization);
  const credential = parseCredential(parts.credential, malformed);
  const time = parseTime(headers.get("x-amz-date") ?? headers.get("date"));
  if (!time) {
    throw new S3Error("AccessDenied", "AWS authentication requires a valid Date or x-amz-date header.");
  }
  if (!time.text.startsWith(credential.date)) {
    throw malformed("Invalid credential date. Date is not the same as X-Amz-Date.");
  }
  if (Math.abs(time.ms - nowMs) > MAX_SKEW_MS) {
    throw new S3Error("RequestTimeTooSkewed", undefined, {
      details: {
        RequestTime: time.text,
        ServerTime: isoTime(nowMs),
        MaxAllowedSkewMilliseconds: MAX_SKEW_MS,
      },
    });
  }
  return { credential, ...signedBy(parts), time: time.text, isInQuery: false };
}

interface Components {
  readonly credential: string;
  readonly signedHeaders: string;
  readonly signature: string;
}

/** Splits `AWS4-HMAC-SHA256 Credential=…, SignedHeaders=…, Signature=…`; blanks behind the commas are optional. */
function componentsOf(authorization: string): Components {
  const argument = (value: string) => ({ details: { ArgumentName: "Authorization", ArgumentValue: value } });
  const space = authorization.indexOf(" ");
  if (space < 0) {
    const why = "Authorization header is invalid -- one and only one ' ' (space) required.";
    throw new S3Error("InvalidArgument", why, argument(authorization));
  }
  const algorithm = authorization.slice(0, space);
  if (algorithm === "AWS" || algorithm.startsWith("AWS4-ECDSA")) throw unsupportedMechanism();
  if (algorithm !== ALGORITHM) {
    throw new S3Error("InvalidArgument", "Unsupported Authorization Type", argument(algorithm));
  }
  const components = authorization.slice(space + 1).split(",").map((one) => one.trim());
  if (components.length !== 3) {
    throw malformed(
      "the authorization header requires three components: Credential, SignedHeaders, and Signature.",
    );
  }
  const named = new Map(components.map((one) => {
    const equals = one.indexOf("=");
    if (equals < 0) throw malformed(`the authorization component "${one}" is malformed.`);
    return [one.slice(0, equals), one.slice(equals + 1)] as const;
  }));
  const component = (name: string) => {
    const value = named.get(name);
    if (!value) throw malformed(`missing ${name}.`);
    return value;
  };
  return {
    credential: component("Credential"),
    signedHeaders: component("SignedHeaders"),
    signature: component("Signature"),
  };
}

function signedBy({ signedHeaders, signature }: Components): { signedHeaders: string[]; signature: string } {
  return { signedHeaders: signedHeaders.toLowerCase().split(";"), signature };
}

function badQuery(why: string): S3Error {
  return new S3Error("AuthorizationQueryParametersError", why);
}

function fromQuery(query: S3Query, nowMs: number): PresentedSignature {
  const [algorithm, credentialText, signature, date, signedHeaders, expires] = [
    "X-Amz-Algorithm",
    "X-Amz-Credential",
    "X-Amz-Signature",
    "X-Amz-Date",
    "X-Amz-SignedHeaders",
    "X-Amz-Expires",
  ].map((name) => query.get(name));
  if (!algorithm || !credentialText || !signature || !date || !signedHeaders || !expires) {
    throw badQuery(
      "Query-string authentication version 4 requires the X-Amz-Algorithm, X-Amz-Credential, X-Amz-Signature, X-Amz-Date, X-Amz-SignedHeaders, and X-Amz-Expires parameters.",
    );
  }
  if (algorithm !== ALGORITHM) throw badQuery(`X-Amz-Algorithm only supports "${ALGORITHM}"`);
  const credential = parseCredential(
    credentialText,
    (why) => badQuery(`Error parsing the X-Amz-Credential parameter; ${why}`),
  );
  const time = parseBasicTime(date);
  if (!time) throw badQuery(`X-Amz-Date must be in the ISO8601 Long Format "yyyyMMdd'T'HHmmss'Z'"`);
  if (!time.text.startsWith(credential.date)) {
    const day = time.text.slice(0, 8);
    throw badQuery(
      `Invalid credential date "${credential.date}". This date is not the same as X-Amz-Date: "${day}".`,
    );
  }
  checkExpiry(expires, { fromMs: time.ms, nowMs });
  return {
    credential,
    ...signedBy({ credential: credentialText, signedHeaders, signature }),
    time: time.text,
    isInQuery: true,
  };
}

/** A URL is good from when it was signed, which may be in the near future by our clock, for as long as it says. */
function checkExpiry(text: string, { fromMs, nowMs }: { fromMs: number; nowMs: number }): void {
  if (!/^-?[0-9]{1,15}$/.test(text)) throw badQuery("X-Amz-Expires should be a number");
  const seconds = Number(text);
  if (seconds < 0) throw badQuery("X-Amz-Expires must be non-negative");
  if (seconds > MAX_EXPIRES_SECONDS) {
    throw badQuery(
      "X-Amz-Expires must be less than a week (in seconds); that is, the given X-Amz-Expires must be less than 604800 seconds",
    );
  }
  if (fromMs - nowMs > MAX_SKEW_MS) throw new S3Error("AccessDenied", "Request is not valid yet.");
  const untilMs = fromMs + seconds * 1000;
  if (untilMs < nowMs) {
    throw new S3Error("AccessDenied", "Request has expired.", {
      details: { "X-Amz-Expires": seconds, Expires: isoTime(untilMs), ServerTime: isoTime(nowMs) },
    });
  }
}

function isoTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19)}Z`;
}
