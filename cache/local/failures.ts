/** Turns the operating system's errors into ours. Messages name what was asked for, never a path of this machine. */

import { CodedError } from "../../base/errors.ts";

/** Returns the error to throw for one that a file call of the cache threw; anything else comes back as it is. */
export function cacheFailure(error: unknown, action: string, what: string): unknown {
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  const options = { details: { uri: what, errno }, cause: error };
  const message = (why: string) => `Cannot ${action} "${what}": ${why}`;
  switch (errno) {
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return new CodedError("unavailable", "disk_full", message("the disk of the cache is full"), options);
    case "EACCES":
    case "EPERM":
    case "EROFS":
      return new CodedError("forbidden", "file_forbidden", message("the cache may not be written"), options);
    default:
      return new CodedError(
        "unavailable",
        "file_unavailable",
        message(`the cache cannot be used (${errno})`),
        options,
      );
  }
}

/** Returns the name of the operating system's error, such as `ENOENT`, or `undefined` for any other error. */
export function errnoOf(error: unknown): string | undefined {
  if (!(error instanceof Error) || error instanceof CodedError) return undefined;
  const { code } = error as { code?: unknown };
  return typeof code === "string" && /^E[A-Z0-9]+$/.test(code) ? code : undefined;
}

/** Whether a folder or file may only be read. */
export function isReadOnly(error: unknown): boolean {
  return ["EACCES", "EPERM", "EROFS"].includes(errnoOf(error) ?? "");
}

/** Whether something is not there, or something else stands on the way to it. */
export function isMissing(error: unknown): boolean {
  return ["ENOENT", "ENOTDIR"].includes(errnoOf(error) ?? "");
}
