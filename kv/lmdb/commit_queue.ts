/**
 * Group commit: writes that are asked for in one turn of the event loop share one transaction, and so one flush.
 *
 * A write is answered when its transaction is on disk. Writes keep the order in which they were asked for. If a shared
 * transaction fails, each write is tried alone, so that one that does not fit cannot take the others with it.
 */

import { setImmediate } from "node:timers";
import type { CodedError } from "../../base/errors.ts";

/** At most this many writes share a transaction: other processes wait for it. */
const MAX_GROUP = 1000;

/** Writes through the open transaction; returns an error instead when it refuses to, having written nothing. */
export type Write = () => CodedError | undefined;

interface Waiting {
  readonly write: Write;
  readonly settle: (error: unknown) => void;
}

export class CommitQueue {
  readonly #transaction: (body: () => void) => void;
  #waiting: Waiting[] = [];

  /** `transaction` runs a body and commits it durably before it returns; it rolls back and throws if either fails. */
  constructor(transaction: (body: () => void) => void) {
    this.#transaction = transaction;
  }

  /** Carries out a write; resolves when it is durable, rejects with its refusal or with what kept it from disk. */
  commit(write: Write): Promise<void> {
    return new Promise((resolve, reject) => {
      if (this.#waiting.length === 0) setImmediate(() => this.flush());
      this.#waiting.push({ write, settle: (error) => error === undefined ? resolve() : reject(error) });
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
      this.#transaction(() => {
        refusals = group.map(({ write }) => write());
      });
    } catch (error) {
      if (group.length === 1) group[0]!.settle(error);
      return false;
    }
    group.forEach(({ settle }, at) => settle(refusals[at]));
    return true;
  }
}
