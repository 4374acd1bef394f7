/** What `-r` means: a folder of keys, and options that go with it only. */

import { CodedError } from "../../base/errors.ts";
import type { ParsedArguments } from "../arguments.ts";

/** Returns what all keys in the folder of a URI's key begin with; nothing for a whole version. */
export function folderPrefix(key: string | undefined): string {
  return key === undefined || key.endsWith("/") ? key ?? "" : `${key}/`;
}

const FOLDER_OPTIONS = ["exclude", "follow-symlinks", "reread", "dry-run"];

/** Options of folders that make no sense for one file: taken silently, they would do what nobody meant. */
export function checkNotRecursive(given: ParsedArguments): void {
  const misplaced = FOLDER_OPTIONS.find((name) => given.flag(name));
  if (misplaced === undefined) return;
  throw new CodedError("invalid", "invalid_argument", `Cannot use "--${misplaced}": it goes with -r`);
}
