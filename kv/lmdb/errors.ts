/** Turns what LMDB and the file system say into our errors: once, here, by number. */

import { CodedError, type ErrorKind } from "../../base/errors.ts";

const MDB_NOTFOUND_PAGE = -30797;
const MDB_CORRUPTED = -30796;
const MDB_PANIC = -30795;
const MDB_VERSION_MISMATCH = -30794;
const MDB_INVALID = -30793;
const MDB_MAP_FULL = -30792;
const MDB_READERS_FULL = -30790;
const MDB_MAP_RESIZED = -30785;
const EPERM = 1;
const EACCES = 13;
const EFBIG = 27;
const ENOSPC = 28;
const EROFS = 30;
const EDQUOT_LINUX = 122;
const EDQUOT_DARWIN = 69;

interface Meaning {
  readonly kind: ErrorKind;
  readonly code: string;
  readonly why: string;
}

const FULL_DISK: Meaning = { kind: "unavailable", code: "kv_full", why: "the disk is full" };
const FULL_FILE: Meaning = {
  kind: "unavailable",
  code: "kv_full",
  why: "its file may not grow any further",
};
const DAMAGED: Meaning = { kind: "corrupt", code: "kv_corrupt", why: "its file is damaged" };
const FOREIGN: Meaning = {
  kind: "corrupt",
  code: "kv_corrupt",
  why: "its file is no key-value store of this version",
};
const FORBIDDEN: Meaning = { kind: "forbidden", code: "kv_forbidden", why: "permission denied" };
const READ_ONLY: Meaning = { kind: "forbidden", code: "kv_read_only", why: "the file system is read-only" };

const MEANINGS = new Map<number | string, Meaning>([
  [MDB_MAP_FULL, { kind: "unavailable", code: "kv_full", why: "it has reached its greatest size" }],
  [MDB_READERS_FULL, {
    kind: "unavailable",
    code: "kv_readers_full",
    why: "too many processes are using it",
  }],
  [MDB_MAP_RESIZED, {
    kind: "unavailable",
    code: "kv_unavailable",
    why: "another process has made it larger",
  }],
  [MDB_PANIC, {
    kind: "unavailable",
    code: "kv_unavailable",
    why: "an earlier write failed; it must be opened again",
  }],
  [MDB_NOTFOUND_PAGE, DAMAGED],
  [MDB_CORRUPTED, DAMAGED],
  [MDB_VERSION_MISMATCH, FOREIGN],
  [MDB_INVALID, FOREIGN],
  [ENOSPC, FULL_DISK],
  [EDQUOT_LINUX, FULL_DISK],
  [EDQUOT_DARWIN, FULL_DISK],
  [EFBIG, FULL_FILE],
  [EPERM, FORBIDDEN],
  [EACCES, FORBIDDEN],
  [EROFS, READ_ONLY],
  ["ENOSPC", FULL_DISK],
  ["EDQUOT", FULL_DISK],
  ["EFBIG", FULL_FILE],
  ["EPERM", FORBIDDEN],
  ["EACCES", FORBIDDEN],
  ["EROFS", READ_ONLY],
  ["ENOTDIR", { kind: "invalid", code: "kv_no_folder", why: "the place is not a folder" }],
  ["EEXIST", { kind: "invalid", code: "kv_no_folder", why: "the place is not a folder" }],
]);

/** Returns the error for a failed `action`, such as `Cannot read from the key-value store`. */
export function kvError(action: string, error: unknown): CodedError {
  if (error instanceof CodedError) return error;
  const code = (error as { code?: number | string } | undefined)?.code;
  const meaning = code === undefined ? undefined : MEANINGS.get(code);
  if (meaning) {
    return new CodedError(meaning.kind, meaning.code, `${action}: ${meaning.why}`, { cause: error });
  }
  // A number or an errno name is the system's or LMDB's word; anything else would be a mistake of ours.
  if (code === undefined) {
    return new CodedError("internal", "internal", `${action}: unexpected failure`, { cause: error });
  }
  const text = error instanceof Error ? error.message : String(error);
  return new CodedError("unavailable", "kv_unavailable", `${action}: ${text}`, { cause: error });
}

/** Returns the error of a `setIf` that found something else. */
export function predicateFailed(): CodedError {
  return new CodedError("precondition", "predicate_failed", "Cannot store the value: the key has changed");
}
