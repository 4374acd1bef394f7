/**
 * Failed logins are slowed down: after a few, an access key from one address has to wait, twice as long with each further
 * failure. An address that fails with many keys waits too. What is remembered is bounded; the oldest is forgotten.
 */

import type { Clock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";

const FREE_FAILURES_OF_KEY = 5;
const FREE_FAILURES_OF_ADDRESS = 50;
const LONGEST_WAIT_MS = 60_000;
/** A failure is forgotten after this time without another one. */
const FORGET_MS = 15 * 60_000;
const MOST_REMEMBERED = 10_000;

interface Failures {
  count: number;
  lastMs: number;
  untilMs: number;
}

/** An address is asked for only when something has failed: the runtime takes its time to tell it. */
export class LoginThrottle {
  readonly #clock: Clock;
  readonly #failures = new Map<string, Failures>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Fails with `too_many_logins` (kind `throttled`) while a key or an address has to wait. */
  check(accessKeyId: string, address: () => string): void {
    if (this.#failures.size === 0) return;
    const now = this.#clock.now();
    const untilMs = Math.max(
      ...namesOf(accessKeyId, address()).map(([name]) => this.#failures.get(name)?.untilMs ?? 0),
    );
    if (untilMs <= now) return;
    const seconds = Math.ceil((untilMs - now) / 1000);
    throw new CodedError(
      "throttled",
      "too_many_logins",
      `Cannot log in: too many attempts failed; try again in ${seconds} s`,
      { details: { retry_after_seconds: seconds } },
    );
  }

  failed(accessKeyId: string, address: string): void {
    const now = this.#clock.now();
    for (const [name, free] of namesOf(accessKeyId, address)) {
      const before = this.#failures.get(name);
      const count = before && now - before.lastMs < FORGET_MS ? before.count + 1 : 1;
      const waitMs = count <= free
        ? 0
        : Math.min(LONGEST_WAIT_MS, 1000 * 2 ** Math.min(count - free - 1, 10));
      // Put in anew, so that the oldest is the first.
      this.#failures.delete(name);
      this.#failures.set(name, { count, lastMs: now, untilMs: now + waitMs });
    }
    while (this.#failures.size > MOST_REMEMBERED) this.#failures.delete(this.#failures.keys().next().value!);
  }

  succeeded(accessKeyId: string, address: () => string): void {
    if (this.#failures.size > 0) this.#failures.delete(namesOf(accessKeyId, address())[0]![0]);
  }
}

function namesOf(accessKeyId: string, address: string): readonly (readonly [name: string, free: number])[] {
  return [
    [`${address} ${accessKeyId.slice(0, 64)}`, FREE_FAILURES_OF_KEY],
    [address, FREE_FAILURES_OF_ADDRESS],
  ];
}
