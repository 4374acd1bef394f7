/**
 * Whether a file changed while it was read: then what was read may be one half of one version and one half of another, which
 * nobody ever wrote.
 */

import type { Stats } from "node:fs";
import { CodedError } from "./errors.ts";

/** An open file before its bytes are read and after, and how many there were. */
export interface ReadFile {
  readonly before: Stats;
  readonly after: Stats;
  readonly bytesRead: number;
}

/** Fails with `source_changed` where a regular file was written to, or cut, while it was read. */
export function requireUnchanged(path: string, { before, after, bytesRead }: ReadFile): void {
  const isSame = before.ino === after.ino && before.size === after.size &&
    before.mtimeMs === after.mtimeMs && before.ctimeMs === after.ctimeMs;
  // What the system makes up as it is read, as in `/proc`, occupies no blocks, and its size says nothing.
  if (isSame && (bytesRead === before.size || !before.blocks)) return;
  throw new CodedError("conflict", "source_changed", `Cannot put "${path}": it changed while it was read`);
}
