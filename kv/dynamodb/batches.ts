/**
 * Many writes at a time: 25 a request, several requests at once. The service may give back a part of a batch when it has had
 * enough for the moment; that part is sent again after a pause.
 */

import { pause, type RetryOptions } from "../retrying.ts";
import { throttled } from "./errors.ts";
import type { BatchedWrite } from "./vendor.ts";

const BATCH_WRITES = 25;
const BATCHES_AT_ONCE = 8;
/** How often in a row a batch may come back whole. */
const MOST_REFUSALS = 8;

export interface BatchOptions extends RetryOptions {
  /** Sends a batch and returns what of it was not written. */
  readonly send: (batch: readonly BatchedWrite[]) => Promise<readonly BatchedWrite[]>;
  /** What fails when it fails. */
  readonly action: string;
}

/** Carries out all writes, in no particular order. Fails with `kv_throttled` and what `send` fails with. */
export async function writeBatches(writes: readonly BatchedWrite[], options: BatchOptions): Promise<void> {
  let next = 0;
  let isFailed = false;
  async function work(): Promise<void> {
    while (next < writes.length && !isFailed) {
      const batch = writes.slice(next, next += BATCH_WRITES);
      await writeBatch(batch, options).catch((error) => {
        isFailed = true;
        throw error;
      });
    }
  }
  // All have ended before this does: nothing may be written after the failure was told.
  const workers = Math.min(BATCHES_AT_ONCE, Math.ceil(writes.length / BATCH_WRITES));
  const outcomes = await Promise.allSettled(Array.from({ length: workers }, work));
  for (const outcome of outcomes) if (outcome.status === "rejected") throw outcome.reason;
}

async function writeBatch(batch: readonly BatchedWrite[], options: BatchOptions): Promise<void> {
  for (let rest = batch, refusals = 0; rest.length > 0;) {
    const unwritten = await options.send(rest);
    refusals = unwritten.length < rest.length ? 0 : refusals + 1;
    if (refusals >= MOST_REFUSALS) throw throttled(options.action);
    rest = unwritten;
    if (rest.length > 0) await pause(refusals + 1, options);
  }
}
