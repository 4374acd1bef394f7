/** Requests of AWS's own examples, opened as the gateway does. */

import type { Ending } from "../../../tests/support/temporary.ts";
import { testServer } from "../../testing.ts";
import { openS3Request, type S3Request } from "../request.ts";

/** The credential of AWS's documentation; it opens nothing anywhere. */
export const EXAMPLE = {
  accessKeyId: "AKIAIOSFODNN7EXAMPLE",
  secretAccessKey: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
} as const;

export interface ExampleRequest {
  readonly method: string;
  readonly target: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: Uint8Array | readonly Uint8Array[];
}

export interface Opener {
  /** Opens a request as if it had come at a time, by default that of AWS's examples. */
  open(request: ExampleRequest, nowMs?: number): Promise<S3Request>;
}

const EXAMPLES_MS = Date.UTC(2013, 4, 24);

/** Returns what opens requests of a user `example` who has that credential. */
export async function exampleOpener(t: Ending, hosts = ["s3.amazonaws.com"]): Promise<Opener> {
  const { auth, context } = await testServer(t, { isBare: true });
  await auth.users.setUp("example", EXAMPLE);
  let requests = 0;
  return {
    open({ method, target, headers, body }, nowMs = EXAMPLES_MS) {
      // Copies: what is read is given back at once.
      const pieces = (body instanceof Uint8Array ? [body] : body)?.map((piece) => piece.slice());
      const request = new Request("http://localhost/", {
        method,
        headers,
        ...(pieces ? { body: ReadableStream.from(pieces) as unknown as BodyInit, duplex: "half" } : {}),
      });
      return openS3Request(request, {
        context: { ...context, hosts: new Set(hosts), clock: { ...context.clock, now: () => nowMs } },
        // From another address each: who fails often is slowed down.
        peer: {
          address: () => `192.0.2.${++requests}`,
          target: () => target,
          keepOpen() {},
          closeWhenIdle() {},
        },
      });
    },
  };
}
