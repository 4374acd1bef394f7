/**
 * Trying again, for stores that are reached over a network: a bounded number of times, with pauses that double and are drawn
 * at random, so that many clients that failed together do not come back together.
 *
 * A call may have had its effect although it failed: the answer was lost. The next attempt is told so, and settles what
 * became of the first one before it does anything (`versions.ts`).
 */

import type { Clock } from "../base/clock.ts";
import type { CodedError } from "../base/errors.ts";
import type { Randomness } from "../base/randomness.ts";

/** What a driver makes of a vendor's error. */
export interface Failure {
  readonly error: CodedError;
  /** Whether another attempt may succeed. */
  readonly isPassing: boolean;
  /** Whether the call may have had its effect. */
  readonly mayHaveLanded: boolean;
}

export interface RetryOptions {
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** How often a call is tried in all; default 7, about ten seconds of pauses at most. */
  readonly attempts?: number;
  /** The longest pause after the first attempt; each next one is twice as long, up to {@link MOST_PAUSE_MS}. */
  readonly firstPauseMs?: number;
}

const ATTEMPTS = 7;
const FIRST_PAUSE_MS = 100;
const MOST_PAUSE_MS = 4000;

/**
 * Runs `attempt` until it succeeds, fails for good, or has been tried often enough; then its last error is thrown.
 * `attempt` is told whether an earlier one may have had its effect.
 */
export async function retrying<T>(
  attempt: (mayHaveLanded: boolean) => Promise<T>,
  { explain, ...options }: RetryOptions & { readonly explain: (error: unknown) => Failure },
): Promise<T> {
  const { attempts = ATTEMPTS } = options;
  let mayHaveLanded = false;
  for (let tried = 1;; tried++) {
    try {
      return await attempt(mayHaveLanded);
    } catch (thrown) {
      const failure = explain(thrown);
      mayHaveLanded ||= failure.mayHaveLanded;
      if (!failure.isPassing || tried >= attempts) throw failure.error;
      await pause(tried, options);
    }
  }
}

/** Waits before the attempt that follows `tried` others. */
export async function pause(
  tried: number,
  { clock, randomness, firstPauseMs = FIRST_PAUSE_MS }: RetryOptions,
): Promise<void> {
  const most = Math.min(MOST_PAUSE_MS, firstPauseMs * 2 ** (tried - 1));
  await clock.sleep(most * (0.5 + randomness.fraction() / 2));
}
