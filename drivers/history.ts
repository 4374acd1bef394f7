/** What is asked of history, and what it tells. */

import type { CommitInfo } from "./store.ts";

export interface LogOptions {
  readonly amount?: number;
  /** Follow all parents instead of first parents only. */
  readonly allParents?: boolean;
  /** Leave out commits before this time, in seconds since the epoch. */
  readonly since?: number;
  /** Only commits that changed one of these objects, or something under one of these prefixes (ending in "/"). */
  readonly paths?: readonly string[];
  /** Beside `paths`: objects, whatever their names end in. */
  readonly objects?: readonly string[];
  /** Beside `paths`: what the names of objects begin with. */
  readonly prefixes?: readonly string[];
  /** Leave out what this ref's commit is made on: its ancestors, not the commit itself. */
  readonly stopAt?: string;
}

export interface BlameOptions {
  /** Only these objects, and what lies under these prefixes (ending in "/"). */
  readonly paths?: readonly string[];
  /** Look for changes along all parents; a merge then counts only where it made something new. */
  readonly allParents?: boolean;
}

/** An object and the commit that last changed it. */
export interface BlameItem {
  readonly path: string;
  readonly commit: CommitInfo;
}

export interface ReflogItem {
  /** Names the move; of a deletion, what {@link Store.restoreRef} takes. */
  readonly id: string;
  readonly ref: string;
  readonly operation: string;
  readonly oldCommitId: string;
  readonly newCommitId: string;
  readonly who: string;
  /** Milliseconds since the epoch. */
  readonly timeMs: number;
  /** Of a restore: the id of the deletion that it took back. */
  readonly restored?: string;
}
