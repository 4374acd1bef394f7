/**
 * Notes of what is to be committed without anybody asking for it: which branches a server wrote to, and for whom. A note
 * outlives its server, so that another one can commit what that one left.
 */

export interface CommitNote {
  readonly repository: string;
  readonly branch: string;
  /** The server that keeps the note: each has its own for a branch. */
  readonly server: string;
  /** Who wrote, the latest last. */
  readonly writers: readonly string[];
  /** Grows while the server is at work: whoever sees it stay the same knows that nobody keeps the note any more. */
  readonly beats: number;
}

export interface CommitNotes {
  /** Writes a note, over the one that the server has of the branch; durable when it returns. Fails with `repository_not_found`. */
  put(note: CommitNote): Promise<void>;
  /** Removes a server's note of a branch, if there is one. */
  remove(note: Pick<CommitNote, "repository" | "branch" | "server">): Promise<void>;
  /** Returns all notes; those of repositories that are gone are removed. */
  all(): Promise<readonly CommitNote[]>;
}
