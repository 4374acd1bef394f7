/** Making folders that belong to something larger, and must not outlive it. */

import { mkdirSync } from "node:fs";
import { join, relative, sep } from "node:path";

/** A folder somewhere below another one, which must be there when this one is made. */
export interface FolderWithin {
  readonly folder: string;
  /** Such as a home: once it was moved or deleted, who still works in it must not make a new, empty one in its place. */
  readonly within: string;
}

/**
 * Makes a folder and those above it, mode 0700, but nothing above `within`. Returns the topmost that was made, as `mkdir`
 * does. Fails as the system does, with `ENOENT` when `within` is not there.
 */
export function makeFolderWithin({ folder, within }: FolderWithin): string | undefined {
  let first: string | undefined;
  let at = within;
  for (const part of relative(within, folder).split(sep)) {
    at = join(at, part);
    try {
      mkdirSync(at, { mode: 0o700 });
      first ??= at;
    } catch (error) {
      if ((error as { code?: unknown }).code !== "EEXIST") throw error;
    }
  }
  return first;
}
