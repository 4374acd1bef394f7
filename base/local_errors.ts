/** What the system answers to calls on local files, translated once. */

import { CodedError, type ErrorKind } from "./errors.ts";

const WHY: Readonly<Record<string, readonly [ErrorKind, string, string]>> = {
  ENOENT: ["not_found", "file_not_found", "there is no such file or folder"],
  ENOTDIR: ["invalid", "file_in_the_way", "a file stands where a folder is expected"],
  EISDIR: ["invalid", "folder_in_the_way", "it is a folder"],
  EEXIST: ["invalid", "file_in_the_way", "a file is in the way"],
  EACCES: ["forbidden", "file_forbidden", "no permission"],
  EPERM: ["forbidden", "file_forbidden", "no permission"],
  EROFS: ["forbidden", "file_forbidden", "the disk is read-only"],
  ENOSPC: ["unavailable", "disk_full", "the disk is full"],
  EDQUOT: ["unavailable", "disk_full", "the disk quota is used up"],
  ELOOP: ["invalid", "file_unusable", "it is a symlink, or too many lead to it"],
  ENAMETOOLONG: ["invalid", "file_unusable", "its name is too long"],
  EILSEQ: ["invalid", "file_unusable", "this disk does not take its name"],
  EINVAL: ["invalid", "file_unusable", "this disk does not take its name"],
  EMFILE: ["unavailable", "file_unavailable", "too many files are open"],
  ENFILE: ["unavailable", "file_unavailable", "too many files are open"],
  ENXIO: ["invalid", "file_unusable", "it is a socket or device"],
};

/** Returns the error to show for one that a call on a local file threw; `what` is such as `Cannot read "x"`. */
export function localError(error: unknown, what: string): unknown {
  if (error instanceof CodedError) return error;
  const code = (error as { code?: unknown }).code;
  if (typeof code !== "string" || !/^E[A-Z0-9]+$/.test(code)) return error;
  const [kind, name, why] = WHY[code] ?? ["unavailable", "file_unavailable", `the system answered ${code}`];
  return new CodedError(kind, name, `${what}: ${why}`, { cause: error, details: { errno: code } });
}
