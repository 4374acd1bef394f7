/**
 * Tasks: commits and merges that run on after their starter was told an ID.
 *
 * A task is known to all who use the store, and it runs in one process. That one says now and then that it still does
 * ({@link Tasks.beat}); of whom nothing is heard any more, the tasks have failed as `task_interrupted`: nobody knows whether
 * their change landed, and nothing of it is half done.
 */

import type { ErrorKind } from "../base/errors.ts";
import type { CommitOptions, MergeOptions } from "./store.ts";

export type TaskWork =
  | { readonly kind: "commit"; readonly branch: string; readonly options: CommitOptions }
  | {
    readonly kind: "merge";
    readonly source: string;
    readonly branch: string;
    readonly options: MergeOptions;
  };

export interface TaskInfo {
  readonly id: string;
  readonly kind: TaskWork["kind"];
  /** The branch that is changed. */
  readonly branch: string;
  /** Of a merge. */
  readonly source?: string;
  readonly state: "running" | "done" | "failed";
  /** Milliseconds since the epoch. */
  readonly updatedMs: number;
  /** The commit that the branch has got. */
  readonly commitId?: string;
  readonly error?: { readonly kind: ErrorKind; readonly code: string; readonly message: string };
}

export interface Tasks {
  /** How many run in this process. */
  readonly running: number;
  /** Starts a task and returns its ID. Fails with `branch_not_found`, `ref_not_found`, `too_many_tasks`. */
  start(repository: string, work: TaskWork): Promise<string>;
  /** Fails with `task_not_found`. */
  get(repository: string, id: string): Promise<TaskInfo>;
  /** Asks a task to give up, wherever it runs; it may end before it hears of it. Fails with `task_not_found`. */
  cancel(repository: string, id: string): Promise<void>;
  /** Says that the tasks of this process still run, and hears of cancels: to be called every second while any do. */
  beat(): Promise<void>;
}
