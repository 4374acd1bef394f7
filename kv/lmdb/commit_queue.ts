/**
 * Group commit: writes that are asked for in one turn of the event loop share one transaction, and so its flushes.
 *
 * A write is answered when its transaction is on disk. Writes keep the order in which they were asked for. If a shared
 * transaction fails, each write is tried alone, so that one that does not fit cannot take the others with it. A group that only
 * puts may share one addition to the journal in place of a transaction.
 */

import { setImmediate } from "node:timers";
import type { CodedError } from "../../base/errors.ts";
import type { Puts, Removals } from "./records.ts";

/** At most this many writes share a transaction: other processes wait for it. */
const MAX_GROUP = 1000;

/**
 * Reads and writes, in a transaction or for the journal; returns an error instead when it refuses to, having written nothing.
 * It may be called again if nothing came of it.
 */
export type Write<R> = (records: R) => CodedError | undefined;

export interface CommitWays {
  /** Runs a body and commits it durably before it returns; it rolls back and throws if either fails. */
  readonly transaction: (body: (records: Removals) => void) => void;
  /**
   * Runs a body and adds what it puts to the journal, all or nothing, on disk before it returns if `isDurable`; returns `false`
   * when a transaction is to do it. When it throws there is no telling what of it is kept.
   */
  readonly journal?: (body: (records: Puts) => void, isDurable: boolean) => boolean;
}

interface Waiting {
  readonly write: Write<Removals>;
  /** The same, if it only puts. */
  readonly put?: Write<Puts>;
  readonly isRelaxed: boolean;
  readonly settle: (error: unknown) => void;
}

export class CommitQueue {
  readonly #ways: CommitWays;
  #waiting: Waiting[] = [];

  constructor(ways: CommitWays) {
    this.#ways = ways;
  }

  /** Carries out a write; resolves when it is durable, rejects with its refusal or with what kept it from disk. */
  commit(write: Write<Removals>): Promise<void> {
    return this.#enqueue({ write, isRelaxed: false });
  }

  /** As {@link commit} one that only puts; a relaxed one may be resolved when it is in the journal. */
  put(put: Write<Puts>, isRelaxed = false): Promise<void> {
    return this.#enqueue({ write: put, put, isRelaxed });
  }

  #enqueue(asked: Omit<Waiting, "settle">): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.flush());
      this.#waiting.push({
        ...asked,
        settle: (error) => error === undefined ? resolve() : reject(error),
      });
    });
  }

  /** Carries out at once whatever waits. */
  flush(): void {
    while (this.#waiting.length > 0) {
      const group = this.#waiting.splice(0, MAX_GROUP);
      if (this.#journal(group) || this.#transaction(group) || group.length === 1) continue;
      for (const alone of group) this.#transaction([alone]);
    }
  }

  /** Returns whether the group is settled. */
  #journal(group: readonly Waiting[]): boolean {
    const puts = group.flatMap(({ put }) => put ?? []);
    if (!this.#ways.journal || puts.length < group.length) return false;
    let refusals: (CodedError | undefined)[] = [];
    try {
      const isDurable = !group.every(({ isRelaxed }) => isRelaxed);
      const isDone = this.#ways.journal((records) => {
        refusals = puts.map((put) => put(records));
      }, isDurable);
      if (!isDone) return false;
      group.forEach(({ settle }, at) => settle(refusals[at]));
    } catch (error) {
      // Tried again, a compare-and-set might meet what it has itself written.
      for (const { settle } of group) settle(error);
    }
    return true;
  }

  /** Returns whether the group is settled; one of several writes that failed is not. */
  #transaction(group: readonly Waiting[]): boolean {
    let refusals: (CodedError | undefined)[] = [];
    try {
      this.#ways.transaction((records) => {
        refusals = group.map(({ write }) => write(records));
      });
    } catch (error) {
      if (group.length === 1) group[0]!.settle(error);
      return false;
    }
    group.forEach(({ settle }, at) => settle(refusals[at]));
    return true;
  }
}
