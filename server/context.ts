/** What the server works with. One for each process: nothing in it belongs to a request. */

import type { Clock } from "../base/clock.ts";
import type { Randomness } from "../base/randomness.ts";
import type { Durability, Store } from "../drivers/store.ts";
import type { Auth } from "./auth/mod.ts";
import type { AutoCommit } from "./gateway/auto_commit.ts";
import type { S3Settings } from "./gateway/settings.ts";
import type { Log } from "./log.ts";
import type { Metrics } from "./metrics.ts";

export interface ServerContext {
  readonly store: Store;
  readonly auth: Auth;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly log: Log;
  readonly metrics: Metrics;
  readonly limits: Limits;
  /** The hosts that a request may name, in lower case; all, beside these, that mean the machine itself. */
  readonly hosts: ReadonlySet<string>;
  /** Allows a set-up from elsewhere; printed when the server starts, good once. */
  readonly setupToken: string;
  /** What an upload survives once it is answered. */
  readonly durability: Durability;
  /** Whether `/metrics` answers without credentials. */
  readonly metricsArePublic: boolean;
  readonly s3: S3Settings;
  /** Where what is written through S3 is committed by itself. */
  readonly autoCommit?: AutoCommit;
}

/** What a request may take. */
export interface Limits {
  /** Of a body that is read whole. */
  readonly bodyBytes: number;
  /** For a body that is read whole to arrive. */
  readonly bodyMs: number;
  /** What stands around the content of an upload in parts. */
  readonly partHeaderBytes: number;
  /** Without any traffic. */
  readonly idleSeconds: number;
  /** After which an answer that takes long begins although it is not known yet, and a sign of life follows. */
  readonly patienceMs: number;
  /** For what has begun to end when the server stops. */
  readonly stopMs: number;
}

export const DEFAULT_LIMITS: Limits = {
  bodyBytes: 8 * 1024 * 1024,
  bodyMs: 30_000,
  partHeaderBytes: 16 * 1024,
  idleSeconds: 60,
  patienceMs: 10_000,
  stopMs: 60_000,
};
