/** Turns the operating system's errors into ours. Messages name what was asked for, never a path of this machine. */

import { CodedError } from "../../base/errors.ts";

/** Returns the error to throw for one that a file call of the cache threw; anything else comes back as it is. */
export function cacheFailure(error: unknown, action: string, what: string): unknown {
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  const options = { details: { uri: what, errno }, cause: error };
  const message = (why: string) => `Cannot ${action} "${what}": ${why}`;
  if (isFull(error)) {
    return new CodedError("unavailable", "disk_full", message("the disk of the cache is full"), options);
  }
  if (isReadOnly(error)) {
    return new CodedError("forbidden", "file_forbidden", message("the cache may not be written"), options);
  }
  if (errno === "ENAMETOOLONG" || errno === "EILSEQ") {
    const why = errno === "EILSEQ"
      ? "the disk of the cache does not take its characters"
      : "its path is too long";
    return new CodedError("invalid", "unplaceable_key", message(why), options);
  }
  const why = `the cache cannot be used (${errno})`;
  return new CodedError("unavailable", "file_unavailable", message(why), options);
}

/** Returns the name of the operating system's error, such as `ENOENT`, or `undefined` for any other error. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof CodedError) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/** Whether a disk, or a quota on it, is full. */
export function isFull(error: unknown): boolean {
  return ["ENOSPC", "EDQUOT", "EFBIG"].includes(errnoOf(error) ?? "");
}

/** Whether a folder or file may only be read. */
export function isReadOnly(error: unknown): boolean {
  return ["EACCES", "EPERM", "EROFS"].includes(errnoOf(error) ?? "");
}

/** Whether something is not there, or something else stands on the way to it. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "");
}
