/** What drivers share about byte streams: resolving ranges and stopping a stream by its signal. */

import { CodedError, throwIfAborted } from "../base/errors.ts";
import type { ByteRange, ByteStream, ObjectInfo } from "./object_store.ts";

/** The bytes of an object that a range stands for. */
export interface ResolvedRange {
  readonly start: number;
  readonly length: number;
}

/** Returns which bytes of an object a range asks for; all of them when there is none. Fails with `invalid_range`. */
export function resolveRange(info: ObjectInfo, range: ByteRange | undefined): ResolvedRange {
  if (!range) return { start: 0, length: info.sizeBytes };
  const { start, end = info.sizeBytes - 1 } = range;
  if (!isOffset(start) || (range.end !== undefined && (!isOffset(end) || end < start))) {
    refuse(info, range, "it is no range of bytes");
  }
  if (start >= info.sizeBytes) refuse(info, range, `the object has ${info.sizeBytes} bytes`);
  return { start, length: Math.min(end, info.sizeBytes - 1) - start + 1 };
}

/** Whether a body lies in memory in parts. */
export function isParts(body: readonly Uint8Array[] | ByteStream): body is readonly Uint8Array[] {
  return Array.isArray(body);
}

/** Fails with `invalid_range` unless both are whole numbers from 0. */
export function checkExtent(key: string, offset: number, length: number): void {
  if (isOffset(offset) && isOffset(length)) return;
  throw new CodedError("invalid", "invalid_range", `Cannot read "${key}": no such offset or length`, {
    details: { key, offset, length },
  });
}

/**
 * Returns `body` so that it fails with `canceled` once `signal` is raised, even if the source never answers. The source
 * is told to stop; what it does about it is not awaited.
 */
export function abortable(body: ByteStream, signal: AbortSignal | undefined): ByteStream {
  return signal ? untilAborted(body, signal) : body;
}

async function* untilAborted(body: ByteStream, signal: AbortSignal): ByteStream {
  throwIfAborted(signal);
  const source = body[Symbol.asyncIterator]();
  let ended = false;
  try {
    while (true) {
      const step = await unlessAborted(source.next(), signal);
      if (step.done) {
        ended = true;
        return;
      }
      yield step.value;
    }
  } finally {
    // A generator that waits for its own source answers return() only after it, which may be never.
    if (!ended) source.return?.()?.catch(() => {});
  }
}

function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const stop = () => reject(new CodedError("canceled", "canceled", "Canceled"));
    signal.addEventListener("abort", stop, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
    if (signal.aborted) stop();
  });
}

function isOffset(value: number): boolean {
  return Number.isSafeInteger(value) && value >= 0;
}

function refuse(info: ObjectInfo, range: ByteRange, why: string): never {
  const text = `${range.start}-${range.end ?? ""}`;
  throw new CodedError("invalid", "invalid_range", `Cannot read bytes ${text} of "${info.key}": ${why}`, {
    details: { key: info.key, start: range.start, end: range.end, sizeBytes: info.sizeBytes },
  });
}
