/** The hooks that are built in. */

import type { Clock } from "../../base/clock.ts";
import { isCoded } from "../../base/errors.ts";
import { hookRefused } from "./failures.ts";
import type { Hook } from "./spots.ts";

/** One call, as `provcat.log` tells it. */
export interface LogRecord {
  /** In RFC 3339. */
  readonly time: string;
  readonly session: string;
  readonly principal: string;
  readonly spot: string;
  readonly phase?: string;
  readonly uri?: string;
  readonly physical?: string;
  readonly path?: string;
  /** `ok`, or the code of the error. */
  readonly outcome: string;
  readonly milliseconds: number;
}

/** Returns `provcat.log`: it tells each call once it has ended, well or not. */
export function logHook(log: (record: LogRecord) => void, clock: Pick<Clock, "now">): Hook {
  return {
    name: "provcat.log",
    run: async (request, next) => {
      const { session, principal, spot, phase, uri, physical, path } = request;
      const startMs = clock.now();
      const tell = (outcome: string) =>
        log({
          time: new Date(startMs).toISOString(),
          session,
          principal,
          spot,
          ...(phase === undefined ? {} : { phase }),
          ...(uri === undefined ? {} : { uri }),
          ...(physical === undefined ? {} : { physical }),
          ...(path === undefined ? {} : { path }),
          outcome,
          milliseconds: Math.round((clock.now() - startMs) * 10) / 10,
        });
      try {
        const answer = await next();
        tell("ok");
        return answer;
      } catch (error) {
        tell(isCoded(error) ? error.code : "internal");
        throw error;
      }
    },
  };
}

/** `provcat.logical_only`: things are reached by their names, never by their places. */
export const logicalOnlyHook: Hook = {
  name: "provcat.logical_only",
  run: async (request, next) => {
    const { spot, logical } = request;
    if (spot === "session" || logical !== undefined) return await next();
    throw hookRefused(
      "provcat.logical_only",
      request,
      'it names a place, and the hook "provcat.logical_only" allows logical names alone',
    );
  },
};
