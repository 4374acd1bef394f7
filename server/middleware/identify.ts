/** Who is asking, and whether a browser was made to ask. */

import type { Context } from "hono";
import { CodedError } from "../../base/errors.ts";
import { hostOfHeader } from "../addresses.ts";
import type { AppTypes } from "../app.ts";
import { type Principal, unauthenticated } from "../auth/mod.ts";

/** Returns who a request is from. Fails with `unauthenticated`, `too_many_logins`, `cross_origin`. */
export async function identifyCaller(c: Context<AppTypes>): Promise<Principal> {
  const { context, peer } = c.env;
  const { headers, method } = c.req.raw;
  const principal = await context.auth.identify({
    authorization: headers.get("authorization"),
    cookie: headers.get("cookie"),
    address: () => peer.address() ?? "unknown",
  });
  if (!principal) throw unauthenticated();
  if (principal.by === "cookie" && method !== "GET" && method !== "HEAD") checkSameOrigin(headers);
  c.set("user", principal.user.id);
  return principal;
}

/** A browser sends our cookie by itself; only our own page may make it write. */
function checkSameOrigin(headers: Headers): void {
  const origin = headers.get("origin"), host = headers.get("host");
  const match = /^https?:\/\/(.+)$/.exec(origin ?? "");
  if (match && hostOfHeader(host) !== undefined && match[1]!.toLowerCase() === host!.toLowerCase()) return;
  throw new CodedError(
    "forbidden",
    "cross_origin",
    "Cannot write with a login cookie from another origin",
  );
}
