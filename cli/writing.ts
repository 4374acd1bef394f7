/** Writing so that what is not finished leaves nothing behind. */

import type { BranchWriter, Store } from "../drivers/store.ts";
import { beforeInterrupt } from "./signals.ts";

export interface BranchToWrite {
  readonly store: Store;
  readonly repository: string;
  readonly branch: string;
}

/** Runs what stops at a signal, and takes away what it has not finished: an interrupt raises it, and waits for the end. */
export async function stopping<T>(work: (signal: AbortSignal) => Promise<T>): Promise<T> {
  const stop = new AbortController();
  const running = work(stop.signal);
  const forget = beforeInterrupt(async () => {
    stop.abort();
    await running.catch(() => {});
  });
  return await running.finally(forget);
}

/**
 * Runs `work` with a writer, and closes that: then all is staged. On a failure, and when the program is interrupted, what
 * was stored and not yet staged is taken away.
 */
export async function withWriter<T>(
  { store, repository, branch }: BranchToWrite,
  work: (writer: BranchWriter) => Promise<T>,
): Promise<T> {
  const stop = new AbortController();
  const writer = await store.writer(repository, branch, { signal: stop.signal });
  const abandon = async () => {
    stop.abort();
    await writer.abandon();
  };
  const forget = beforeInterrupt(abandon);
  try {
    const done = await work(writer);
    await writer.close();
    return done;
  } catch (error) {
    await abandon();
    throw error;
  } finally {
    forget();
  }
}
