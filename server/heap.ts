/**
 * Keeps the memory of a server that runs for weeks near what it needs.
 *
 * The runtime collects what died young often, but the whole heap only once it is three times as large as what lived the last time.
 * What caches let go of has lived long. So of 130 MB that are needed there come to be 500, within minutes under load.
 */

import process from "node:process";
import type { Clock } from "../base/clock.ts";
import { collectGarbage } from "../base/platform.ts";

const LOOK_MS = 1000;
/** Collecting 130 MB takes some 50 ms, most of it beside other work. */
const GROWTH_BYTES = 48 * 1024 * 1024;
const GROWTH_PART = 0.25;

/** What is looked at and done: the runtime's own, but for tests. */
export interface Heap {
  /** Returns how large the heap was when it was last collected, in whole or in part. */
  readonly bytes: () => number;
  /** Has the whole heap collected, which has happened a second later. */
  readonly collect: () => void;
}

/** The runtime's heap, if it collects on demand. */
export const runtimeHeap: Heap | undefined = collectGarbage && {
  bytes: () => process.memoryUsage().heapUsed,
  collect: collectGarbage,
};

/** Has the whole heap collected whenever it has grown by a quarter, until told to stop. */
export async function keepHeapSmall(heap: Heap, clock: Clock, signal: AbortSignal): Promise<void> {
  let neededBytes = heap.bytes(), isCollecting = false;
  while (!signal.aborted) {
    await clock.sleep(LOOK_MS, signal).catch(() => {});
    const bytes = heap.bytes();
    if (isCollecting || bytes < neededBytes) neededBytes = bytes;
    isCollecting = bytes > neededBytes + Math.max(GROWTH_BYTES, neededBytes * GROWTH_PART);
    if (isCollecting) heap.collect();
  }
}
