/** What merges, reverts and cherry-picks take and give. */

import type { ByteStream } from "./object_store.ts";
import type { ChangeType, DiffItem, ObjectStats } from "./store.ts";

/** A path on which both sides of a merge, revert or cherry-pick made different changes. */
export interface MergeConflict {
  readonly path: string;
  readonly base?: ObjectStats;
  readonly source?: ObjectStats;
  readonly destination?: ObjectStats;
}

export interface MergeResult {
  /** The commit that the destination now points at (also when nothing changed). */
  readonly reference: string;
  readonly summary: Readonly<Record<ChangeType, number>>;
}

export type MergeStrategy = "source-wins" | "dest-wins";

export type MergeSide = "base" | "source" | "destination";

/** What a conflicting path becomes. A side that has no object there means its deletion. */
export type MergeResolution =
  | { readonly kind: MergeSide | "delete" }
  /** An object of the same repository: its entry is copied, no bytes move. */
  | { readonly kind: "object"; readonly ref: string; readonly path: string }
  /** New content. It is stored before the merge lands; of a merge that then fails only garbage stays. */
  | {
    readonly kind: "content";
    readonly body: Uint8Array | ByteStream;
    readonly contentType?: string;
    readonly metadata?: Readonly<Record<string, string>>;
  };

/** Reads the bytes of a side that is there. */
export type ReadMergeSide = (side: MergeSide) => Promise<ByteStream>;

/** Settles conflicts of a merge one by one. */
export interface ConflictResolver {
  /**
   * Returns what a path becomes; `undefined` leaves it to the strategy, and without one the merge fails. Called in key
   * order, and again when the destination has moved meanwhile: content that was given for the same three sides is then
   * kept, and not asked for again.
   */
  resolve(
    conflict: MergeConflict,
    read: ReadMergeSide,
  ): MergeResolution | undefined | Promise<MergeResolution | undefined>;
  /** Called when all conflicts of an attempt were seen, before anything lands; throws to give up. */
  finish?(): void;
}

/** A difference that a merge makes to its destination, or a conflict that stays, with its three sides. */
export interface MergePreviewItem extends DiffItem {
  readonly conflict?: MergeConflict;
}

export interface MergeOptions {
  readonly committer: string;
  readonly message?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Decides the conflicts that `resolver` leaves. */
  readonly strategy?: MergeStrategy;
  readonly resolver?: ConflictResolver;
  /** Makes one commit with the destination as its only parent, which names the source's commit in its metadata. */
  readonly squash?: boolean;
  /** Allows staged changes on the destination, if the merge changes none of their paths; they stay staged. */
  readonly keepStaged?: boolean;
  /**
   * What to do when the source has nothing to bring. By default the merge fails with `nothing_to_merge` only if the destination
   * has every commit of the source. `refuse` fails also if the source's content is the destination's or that of their base;
   * `commit` makes a merge commit all the same.
   */
  readonly ifSame?: "refuse" | "commit";
  /** Gives up, having changed nothing: fails with `canceled`. */
  readonly signal?: AbortSignal;
}

export interface PickOptions {
  readonly committer: string;
  readonly message?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Which parent to compare with, from 1; needed for merge commits, `parent_required` otherwise. */
  readonly parent?: number;
  /** Makes a commit even if nothing changes. */
  readonly allowEmpty?: boolean;
  /** Settles conflicts: the source is what the commit, or its undoing, would make of a path. */
  readonly resolver?: ConflictResolver;
}
