/**
 * Turns what PostgreSQL and the network say into our errors: once, here, by SQLSTATE or errno. No text of an error of ours
 * comes from the server or from the connection's settings, so that none can hold a password.
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

const PASSING = { kind: "unavailable", code: "kv_unavailable", isPassing: true } as const;
const DENIED: Meaning = {
  kind: "unauthenticated",
  code: "kv_unauthenticated",
  why: "the server refuses the user or the password",
};
const FULL: Meaning = { kind: "unavailable", code: "kv_full", why: "the server's disk is full" };
const FORBIDDEN: Meaning = { kind: "forbidden", code: "kv_forbidden", why: "the user may not do that" };
const READ_ONLY: Meaning = {
  kind: "forbidden",
  code: "kv_read_only",
  why: "the server, or the user's transactions, are read-only",
};
const DAMAGED: Meaning = { kind: "corrupt", code: "kv_corrupt", why: "the server's data is damaged" };
const FOREIGN: Meaning = {
  kind: "corrupt",
  code: "kv_corrupt",
  why: "the table is no key-value store of this version",
};
const STOPPING: Meaning = { ...PASSING, why: "the server is stopping or starting", mayHaveLanded: true };
const LOST: Meaning = { ...PASSING, why: "the connection was lost", mayHaveLanded: true };
const UNREACHED: Meaning = { ...PASSING, why: "the server cannot be reached" };
const UNTRUSTED: Meaning = {
  kind: "forbidden",
  code: "kv_forbidden",
  why: "the server's certificate cannot be trusted",
};

/** By SQLSTATE, by its class (the first two characters), or by errno. */
const MEANINGS: Readonly<Record<string, Meaning>> = {
  "08": LOST,
  "28": DENIED,
  "3D000": { kind: "not_found", code: "kv_missing", why: "there is no such database" },
  "3F000": { kind: "not_found", code: "kv_missing", why: "there is no such schema" },
  "25006": READ_ONLY,
  "40": { ...PASSING, why: "other writers were in the way" },
  "40003": LOST,
  "42501": FORBIDDEN,
  "42703": FOREIGN,
  "42P01": { ...PASSING, why: "its table has gone" },
  "42P10": FOREIGN,
  "53": { ...PASSING, why: "the server has no room for it now" },
  "53100": FULL,
  "55P03": { ...PASSING, why: "other writers were in the way for too long" },
  "57014": { ...PASSING, why: "it took too long", mayHaveLanded: true },
  "57P": STOPPING,
  "57P04": { kind: "not_found", code: "kv_missing", why: "the database was dropped" },
  "57P05": LOST,
  "58": { kind: "unavailable", code: "kv_unavailable", why: "the server's system failed" },
  "XX001": DAMAGED,
  "XX002": DAMAGED,
  ECONNREFUSED: UNREACHED,
  ENOTFOUND: UNREACHED,
  EAI_AGAIN: UNREACHED,
  EHOSTUNREACH: UNREACHED,
  ENETUNREACH: UNREACHED,
  ENOENT: UNREACHED,
  DEPTH_ZERO_SELF_SIGNED_CERT: UNTRUSTED,
  SELF_SIGNED_CERT_IN_CHAIN: UNTRUSTED,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: UNTRUSTED,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: UNTRUSTED,
  CERT_HAS_EXPIRED: UNTRUSTED,
  ERR_TLS_CERT_ALTNAME_INVALID: UNTRUSTED,
};

/** Returns the failure of an `action`, such as `Cannot read from the key-value store`. */
export function pgFailure(action: string, error: unknown): Failure {
  if (error instanceof CodedError) return { error, isPassing: false, mayHaveLanded: false };
  if (error instanceof Unsent) {
    const { meaning, cause } = error.isLate
      ? { meaning: UNREACHED, cause: undefined }
      : { meaning: meaningOf(error.cause), cause: error.cause };
    // Whatever became of the connection, the statement was never on it.
    return { ...failureOf(action, { meaning, cause }), mayHaveLanded: false };
  }
  return failureOf(action, { meaning: meaningOf(error), cause: error });
}

/** A failure before the statement was sent: while a connection was made. */
export class Unsent extends Error {
  override name = "Unsent";
  readonly isLate: boolean;

  constructor(cause: unknown, { isLate = false } = {}) {
    super("the connection could not be made", { cause });
    this.isLate = isLate;
  }
}

/** Returns whether an error says something about the connection, which then cannot be used again. */
export function isOfConnection(error: unknown): boolean {
  if (error instanceof CodedError) return false;
  const meaning = meaningOf(error);
  return meaning === LOST || meaning === STOPPING || meaning === UNREACHED;
}

/** Returns whether the table is not there. */
export function isMissingTable(error: unknown): boolean {
  return (error as { code?: unknown } | undefined)?.code === "42P01";
}

function failureOf(action: string, { meaning, cause }: { meaning: Meaning; cause: unknown }): Failure {
  const { kind, code, why, isPassing = false, mayHaveLanded = false } = meaning;
  return { error: new CodedError(kind, code, `${action}: ${why}`, { cause }), isPassing, mayHaveLanded };
}

function meaningOf(error: unknown): Meaning {
  const code = (error as { code?: unknown } | undefined)?.code;
  if (typeof code !== "string") return LOST;
  const known = MEANINGS[code] ?? MEANINGS[code.slice(0, 3)] ?? MEANINGS[code.slice(0, 2)];
  if (known) return known;
  if (!/^[0-9A-Z]{5}$/.test(code) || /^E[A-Z]+$/.test(code)) return LOST;
  return { kind: "internal", code: "internal", why: `unexpected failure (SQLSTATE ${code})` };
}
