/** What an operation of the gateway is given, and what it is. One file of `operations/` an S3 call. */

import type { Store } from "../../drivers/store.ts";
import type { ServerContext } from "../context.ts";
import type { Peer } from "../listen.ts";
import type { S3Request } from "./request.ts";

/** One request that was parsed and whose sender is known. */
export interface S3Call {
  readonly context: ServerContext;
  readonly store: Store;
  readonly request: S3Request;
  readonly peer: Peer;
  /** Has something called when the request has been answered, or has failed. */
  onEnd(done: () => void): void;
}

/** Answers one kind of request. Fails with an `S3Error`, or with whatever the store fails with (`failures.ts`). */
export type S3Operation = (call: S3Call) => Promise<Response>;
