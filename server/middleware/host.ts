/**
 * Every request names a host that is meant to be us. A page of another site that had its own name resolve to this machine
 * would otherwise be on equal footing with our own.
 */

import type { Context, Next } from "hono";
import { CodedError } from "../../base/errors.ts";
import { hostOfHeader, isLoopbackHost } from "../addresses.ts";
import type { AppTypes } from "../app.ts";

export async function checkHost(c: Context<AppTypes>, next: Next): Promise<void> {
  const host = hostOfHeader(c.req.raw.headers.get("host"));
  if (host === undefined || !(isLoopbackHost(host) || c.env.context.hosts.has(host))) {
    throw new CodedError(
      "forbidden",
      "misdirected_request",
      "Cannot answer: the request names a host that this server does not know itself by",
    );
  }
  await next();
}
