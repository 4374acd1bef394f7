/** Whether all is there that a repository's refs lead to, and sound: for who has copied it, or lost a disk. */

import type { CodedError } from "../base/errors.ts";

export interface CheckOptions {
  /** Every commit, and not those alone that a branch or tag is at. */
  readonly allCommits?: boolean;
  /** Told now and then how far it is. */
  readonly onProgress?: (counts: CheckCounts) => void;
}

/** What was looked at, each once. */
export interface CheckCounts {
  readonly refs: number;
  readonly commits: number;
  /** Ranges and metaranges, read whole. */
  readonly tables: number;
  /** Found with the size that their entries say; their bytes are not read. */
  readonly objects: number;
}

/** Something that is missing, damaged, or that may not be looked at. */
export interface Damage {
  readonly what: "record" | "commit" | "table" | "object";
  /** A branch, tag or commit that leads to it. */
  readonly ref?: string;
  /** Of an object. */
  readonly path?: string;
  readonly error: CodedError;
}
