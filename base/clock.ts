/** The seam through which wall-clock time comes in, so that tests can hold it still. */

export interface Clock {
  /** Milliseconds since 1970-01-01 UTC, with a fraction where the machine gives one. */
  now(): number;
  /** Waits; rejects with the signal's reason if it is raised. */
  sleep(milliseconds: number, signal?: AbortSignal): Promise<void>;
}

/** The machine's clock. */
export const systemClock: Clock = {
  now: () => performance.timeOrigin + performance.now(),
  sleep: (milliseconds, signal) =>
    new Promise((resolve, reject) => {
      if (signal?.aborted) return reject(signal.reason);
      const timer = setTimeout(done, milliseconds);
      function done() {
        signal?.removeEventListener("abort", stop);
        resolve();
      }
      function stop() {
        clearTimeout(timer);
        reject(signal!.reason);
      }
      signal?.addEventListener("abort", stop, { once: true });
    }),
};

/** A time as protobuf keeps it. */
export interface Timestamp {
  readonly seconds: number;
  readonly nanos: number;
}

/** Returns milliseconds since the epoch as seconds and nanoseconds. */
export function timestampOf(milliseconds: number): Timestamp {
  const seconds = Math.floor(milliseconds / 1000);
  const nanos = Math.min(999_999_999, Math.round((milliseconds - seconds * 1000) * 1e6));
  return { seconds, nanos };
}

/** Returns a timestamp as milliseconds since the epoch. */
export function millisecondsOf(timestamp: Timestamp): number {
  return timestamp.seconds * 1000 + timestamp.nanos / 1e6;
}
