/** Around every request: its ID, its line in the log, its counts. */

import type { Context, Next } from "hono";
import { hex } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import type { AppTypes } from "../app.ts";
import type { ServerContext } from "../context.ts";

/** What is known of a request once it is answered. */
export interface Answered {
  readonly operation: string;
  readonly status: number;
  readonly method: string;
  /** Without its query, which may hold a signature. */
  readonly path: string;
  readonly user: string | undefined;
  /** What went wrong, if it did. */
  readonly failure: unknown;
}

/** A request that is being answered. */
export class Observation {
  readonly requestId: string;
  readonly #context: ServerContext;
  readonly #startMs: number;

  constructor(context: ServerContext, request: Request) {
    this.#context = context;
    this.#startMs = context.clock.now();
    this.requestId = requestIdOf(request) ?? hex(context.randomness.bytes(12));
    context.metrics.begin();
  }

  end(answered: Answered): void {
    const { operation, status, failure } = answered;
    const { metrics, clock, log } = this.#context;
    metrics.end();
    const ms = clock.now() - this.#startMs;
    metrics.answered(operation, { status, seconds: ms / 1000 });
    const level = status >= 500 && status !== 501 && !isThrottled(failure) ? "error" : "info";
    if (!log.writes(level)) return;
    const { method, path, user } = answered;
    log[level]("request", {
      request_id: this.requestId,
      operation,
      method,
      path,
      status,
      ms: Math.round(ms * 100) / 100,
      user,
      ...failureFields(failure, level),
    });
  }
}

export async function observe(c: Context<AppTypes>, next: Next): Promise<void> {
  const observation = new Observation(c.env.context, c.req.raw);
  c.set("requestId", observation.requestId);
  try {
    await next();
    c.res.headers.set("x-request-id", observation.requestId);
  } finally {
    const { method, path } = c.req;
    observation.end({
      operation: c.get("operation") ?? "none",
      status: c.res.status,
      method,
      path,
      user: c.get("user"),
      failure: c.get("failure"),
    });
  }
}

/** Takes a client's ID over only if it can do no harm in a log or a header. */
function requestIdOf(request: Request): string | undefined {
  const given = request.headers.get("x-request-id");
  return given !== null && /^[A-Za-z0-9._:-]{1,128}$/.test(given) ? given : undefined;
}

/** Whether a client was told to wait, which S3 does by a status of 5xx. */
function isThrottled(failure: unknown): boolean {
  return failure instanceof CodedError && failure.kind === "throttled";
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
