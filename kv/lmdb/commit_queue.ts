/**
 * Group commit: writes that are asked for in one turn of the event loop share one transaction, and so one flush.
 *
 * A write is answered when its transaction is on disk. Writes keep the order in which they were asked for. If a shared
 * transaction fails, each write is tried alone, so that one that does not fit cannot take the others with it. Where all of a
 * group are relaxed, they share an addition to the journal in place of a transaction, if that is to be had.
 */

import { setImmediate } from "node:timers";
import type { CodedError } from "../../base/errors.ts";
import type { StoredEntry } from "./page_tree.ts";

/** At most this many writes share a transaction: other processes wait for it. */
const MAX_GROUP = 1000;

/** Writes through the open transaction; returns an error instead when it refuses to, having written nothing. */
export type Write = () => CodedError | undefined;

export interface CommitWays {
  /** Runs a body and commits it durably before it returns; it rolls back and throws if either fails. */
  readonly transaction: (body: () => void) => void;
  /** Adds what relaxed writes put to the journal, all or nothing; returns `false` when a transaction is to do it. */
  readonly append?: (entries: readonly StoredEntry[]) => boolean;
}

interface Waiting {
  readonly write: Write;
  /** What a relaxed write puts. */
  readonly relaxed: readonly StoredEntry[] | undefined;
  readonly settle: (error: unknown) => void;
}

export class CommitQueue {
  readonly #ways: CommitWays;
  #waiting: Waiting[] = [];

  constructor(ways: CommitWays) {
    this.#ways = ways;
  }

  /**
   * Carries out a write; resolves when it is durable, rejects with its refusal or with what kept it from disk. One that puts
   * but `relaxed` entries may be resolved when it is in the journal.
   */
  commit(write: Write, relaxed?: readonly StoredEntry[]): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.flush());
      this.#waiting.push({
        write,
        relaxed,
        settle: (error) => error === undefined ? resolve() : reject(error),
      });
    });
  }

  /** Carries out at once whatever waits. */
  flush(): void {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, MAX_GROUP);
      if (this.#commitGroup(group) || group.length === 1) continue;
      for (const alone of group) this.#commitGroup([alone]);
    }
  }

  /** Returns whether the group is settled; one of several writes that failed is not. */
  #commitGroup(group: readonly Waiting[]): boolean {
    let refusals: (CodedError | undefined)[] = [];
    try {
      if (!this.#append(group)) {
        this.#ways.transaction(() => {
          refusals = group.map(({ write }) => write());
        });
      }
    } catch (error) {
      if (group.length === 1) group[0]!.settle(error);
      return false;
    }
    group.forEach(({ settle }, at) => settle(refusals[at]));
    return true;
  }

  #append(group: readonly Waiting[]): boolean {
    if (!this.#ways.append || !group.every(({ relaxed }) => relaxed)) return false;
    return this.#ways.append(group.flatMap(({ relaxed }) => relaxed!));
  }
}
