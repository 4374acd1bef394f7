/** Turns the operating system's errors into ours, once. Messages name the key, never a path of this machine. */

import { CodedError, isCoded } from "../../base/errors.ts";
import { unplaceable } from "./placement.ts";

/** What was being done with which key, for the message: `Cannot put "x": …`. */
export interface Attempt {
  readonly action: "put" | "read" | "list" | "flush" | "delete" | "prepare";
  readonly key: string;
}

/** Returns the error to throw for one that a file call threw; anything that is no file error comes back as it is. */
export function translated(error: unknown, { action, key }: Attempt): unknown {
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  const failure = (kind: "unavailable" | "forbidden" | "not_found", code: string, why: string) =>
    new CodedError(kind, code, `Cannot ${action} "${key}": ${why}`, {
      details: { key, errno, why },
      cause: error,
    });
  switch (errno) {
    case "ENOSPC":
      return failure("unavailable", "storage_full", "no space is left");
    case "EDQUOT":
      return failure("unavailable", "storage_full", "the quota is used up");
    case "EFBIG":
      return failure("unavailable", "storage_full", "the object is larger than a file may be here");
    case "EACCES":
    case "EPERM":
      return failure("forbidden", "storage_forbidden", "permission denied");
    case "EROFS":
      return failure("forbidden", "storage_forbidden", "the file system is read-only");
    case "EMFILE":
    case "ENFILE":
      return failure("unavailable", "storage_unavailable", "too many files are open");
    case "ENAMETOOLONG":
      return unplaceable(key, "its path would be too long", error);
    case "EILSEQ":
      return unplaceable(key, "the file system does not take its characters", error);
  }
  if (action === "put") {
    if (errno === "ENOTDIR") return unplaceable(key, "an object stands where it needs a folder", error);
    if (errno === "EISDIR") return unplaceable(key, "a folder stands under its name", error);
  } else if (
    action !== "prepare" &&
    (errno === "ENOENT" || errno === "ENOTDIR" || errno === "EISDIR" || errno === "ELOOP")
  ) {
    return notFound(key, error);
  }
  return failure("unavailable", "storage_unavailable", `the file system answered ${errno}`);
}

const ABOUT_STORAGE = ["storage_full", "storage_forbidden", "storage_unavailable"];
const DOING: Readonly<Record<string, string>> = { put: "write to", flush: "write to", delete: "delete in" };

/**
 * Returns the error to show for one of a store: what fails for every object names the store's address, since the keys of
 * objects may be names that nobody has given; the details keep the key.
 */
export function ofStorage(error: unknown, action: Attempt["action"], storage: string): unknown {
  if (!isCoded(error, ...ABOUT_STORAGE) || typeof error.details["why"] !== "string") return error;
  const { kind, code, details } = error;
  return new CodedError(kind, code, `Cannot ${DOING[action] ?? action} "${storage}": ${details["why"]}`, {
    details: { ...details, storage },
    cause: error.cause,
  });
}

/** Runs file calls and translates what they throw. */
export function attempt<T>(what: Attempt, calls: () => T): T {
  try {
    return calls();
  } catch (error) {
    throw translated(error, what);
  }
}

/** Like {@link attempt}, for calls that take their time. */
export async function attemptAsync<T>(what: Attempt, calls: () => Promise<T>): Promise<T> {
  try {
    return await calls();
  } catch (error) {
    throw translated(error, what);
  }
}

/** Returns the name of the operating system's error, such as `ENOENT`, or `undefined` for any other error. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof CodedError) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/** Returns the error for an object that is not there. */
export function notFound(key: string, cause?: unknown): CodedError {
  return new CodedError("not_found", "object_not_found", `Cannot find object "${key}"`, {
    details: { key },
    cause,
  });
}

/** Returns the error for a name that is taken. */
export function alreadyExists(key: string): CodedError {
  return new CodedError("exists", "object_exists", `Cannot put "${key}": the object exists`, {
    details: { key },
  });
}
