/** Turns the operating system's errors into those of the catalog's file store. Messages name the URI. */

import { CodedError } from "../../base/errors.ts";
import { formatUri, type Uri } from "../../base/uri.ts";
import { nothingAt } from "../catalog_base.ts";
import { errnoOf } from "./failures.ts";

/** Returns the error for something that stands where a file or folder is to be. */
export function inTheWay(
  uri: Uri,
  code: "file_in_the_way" | "folder_in_the_way",
  why: string,
  cause?: unknown,
): CodedError {
  const text = formatUri(uri);
  return new CodedError("invalid", code, `Cannot put "${text}": ${why}`, { details: { uri: text }, cause });
}

type Action = "read" | "list" | "fetch" | "put" | "delete";

/** Runs file calls and translates what they throw. */
export async function attempt<T>(uri: Uri, action: Action, calls: () => Promise<T>): Promise<T> {
  try {
    return await calls();
  } catch (error) {
    throw translated(error, { uri, action });
  }
}

/** Like {@link attempt}, for calls that take no time. */
export function attemptNow<T>(uri: Uri, action: Action, calls: () => T): T {
  try {
    return calls();
  } catch (error) {
    throw translated(error, { uri, action });
  }
}

function translated(error: unknown, { uri, action }: { uri: Uri; action: Action }): unknown {
  const errno = errnoOf(error);
  if (errno === undefined) return error;
  const text = formatUri(uri);
  const options = { details: { uri: text, errno }, cause: error };
  const message = (why: string) => `Cannot ${action} "${text}": ${why}`;
  switch (errno) {
    case "ENOENT":
    case "ENOTDIR":
      if (action === "put") {
        return inTheWay(uri, "file_in_the_way", "no folder can be where it needs one", error);
      }
      return nothingAt(uri, error);
    case "EACCES":
    case "EPERM":
      return new CodedError("forbidden", "file_forbidden", message("permission denied"), options);
    case "EROFS":
      return new CodedError("forbidden", "file_forbidden", message("the disk is read-only"), options);
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return new CodedError("unavailable", "disk_full", message("the disk is full"), options);
    default:
      return new CodedError(
        "unavailable",
        "file_unavailable",
        message(`the system answered ${errno}`),
        options,
      );
  }
}
