/** Around every request: its ID, its line in the log, its counts. */

import type { Context, Next } from "hono";
import { hex } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import type { AppTypes } from "../app.ts";

export async function observe(c: Context<AppTypes>, next: Next): Promise<void> {
  const { context } = c.env;
  const { metrics, clock, log } = context;
  const startMs = clock.now();
  const requestId = requestIdOf(c.req.raw) ?? hex(context.randomness.bytes(12));
  c.set("requestId", requestId);
  metrics.begin();
  try {
    await next();
    c.res.headers.set("x-request-id", requestId);
  } finally {
    metrics.end();
    const { status } = c.res;
    const operation = c.get("operation") ?? "none";
    const ms = clock.now() - startMs;
    metrics.answered(operation, { status, seconds: ms / 1000 });
    const failure = c.get("failure");
    const level = status >= 500 && status !== 501 ? "error" : "info";
    if (log.writes(level)) {
      log[level]("request", {
        request_id: requestId,
        operation,
        method: c.req.method,
        path: c.req.path,
        status,
        ms: Math.round(ms * 100) / 100,
        user: c.get("user"),
        ...failureFields(failure, level),
      });
    }
  }
}

/** Takes a client's ID over only if it can do no harm in a log or a header. */
function requestIdOf(request: Request): string | undefined {
  const given = request.headers.get("x-request-id");
  return given !== null && /^[A-Za-z0-9._:-]{1,128}$/.test(given) ? given : undefined;
}

function failureFields(failure: unknown, level: string): Record<string, string | undefined> {
  if (failure === undefined) return {};
  if (failure instanceof CodedError) {
    return { code: failure.code, ...(level === "error" ? { error: describe(failure) } : {}) };
  }
  return { code: "internal", error: failure instanceof Error ? failure.stack : String(failure) };
}

function describe(error: Error): string {
  return error.cause instanceof Error ? `${error.message}: ${describe(error.cause)}` : error.message;
}
