/**
 * Turns what DynamoDB, the SDK and the network say into our errors: once, here, by name, status or errno. No text of an error
 * of ours comes from the service, so that none can hold a credential.
 */

import { CodedError, type ErrorKind } from "../../base/errors.ts";
import type { Failure } from "../retrying.ts";

interface Meaning {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly why: string;
  readonly isPassing?: boolean;
  readonly mayHaveLanded?: boolean;
}

const DENIED: Meaning = {
  kind: "unauthenticated",
  code: "kv_unauthenticated",
  why: "the service refuses the credentials, or there are none",
};
const THROTTLED: Meaning = {
  kind: "throttled",
  code: "kv_throttled",
  why: "the service takes no more requests now",
  isPassing: true,
};
const UNREACHED: Meaning = {
  kind: "unavailable",
  code: "kv_unavailable",
  why: "the service cannot be reached",
  isPassing: true,
};
const LOST: Meaning = {
  kind: "unavailable",
  code: "kv_unavailable",
  why: "the answer was lost",
  isPassing: true,
  mayHaveLanded: true,
};
const FAILED: Meaning = { ...LOST, why: "the service failed" };
const FOREIGN: Meaning = {
  kind: "corrupt",
  code: "kv_corrupt",
  why: "the service refuses the request; the table may be no key-value store",
};

const MEANINGS: Readonly<Record<string, Meaning>> = {
  AccessDeniedException: { kind: "forbidden", code: "kv_forbidden", why: "the credentials may not do that" },
  CredentialsProviderError: DENIED,
  ExpiredTokenException: DENIED,
  IncompleteSignatureException: DENIED,
  InvalidSignatureException: DENIED,
  MissingAuthenticationTokenException: DENIED,
  UnrecognizedClientException: DENIED,
  LimitExceededException: THROTTLED,
  ProvisionedThroughputExceededException: THROTTLED,
  RequestLimitExceeded: THROTTLED,
  ThrottlingException: THROTTLED,
  TransactionConflictException: { ...THROTTLED, why: "other writers were in the way" },
  ResourceNotFoundException: { ...UNREACHED, why: "the table is not there" },
  ResourceInUseException: { ...UNREACHED, why: "the table is being made or changed" },
  ValidationException: FOREIGN,
  ECONNREFUSED: UNREACHED,
  ENOTFOUND: UNREACHED,
  EAI_AGAIN: UNREACHED,
  EHOSTUNREACH: UNREACHED,
  ENETUNREACH: UNREACHED,
  ConnectionRefused: UNREACHED,
};

/** Returns the failure of an `action`, such as `Cannot read from the key-value store`. */
export function dynamoFailure(action: string, error: unknown): Failure {
  if (error instanceof CodedError) {
    return { error, isPassing: error.kind === "throttled", mayHaveLanded: false };
  }
  const { kind, code, why, isPassing = false, mayHaveLanded = false } = meaningOf(error);
  return {
    error: new CodedError(kind, code, `${action}: ${why}`, { cause: error }),
    isPassing,
    mayHaveLanded,
  };
}

/** Returns the error of a batch of which the service kept giving some back. */
export function throttled(action: string): CodedError {
  return new CodedError("throttled", "kv_throttled", `${action}: ${THROTTLED.why}`);
}

/** Returns whether an error has a name of the service's. */
export function isNamed(error: unknown, name: string): boolean {
  return (error as { name?: unknown } | undefined)?.name === name;
}

interface SdkError {
  readonly name?: string;
  readonly code?: string;
  readonly message?: string;
  readonly $metadata?: { readonly httpStatusCode?: number };
}

function meaningOf(error: unknown): Meaning {
  const { name = "", code = "", message = "", $metadata } = (error ?? {}) as SdkError;
  const known = MEANINGS[name] ?? MEANINGS[code];
  if (known) return known;
  // The SDK has no name for these two.
  if (message === "Region is missing") {
    return { kind: "invalid", code: "invalid_kv_address", why: "no region is named" };
  }
  const status = $metadata?.httpStatusCode;
  if (status === 429) return THROTTLED;
  // Without a status there was no answer: a time-out, or a connection that broke.
  if (status === undefined || status < 400) return LOST;
  if (status >= 500) return FAILED;
  return { kind: "internal", code: "internal", why: `unexpected failure (status ${status})` };
}
