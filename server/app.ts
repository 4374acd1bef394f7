/** The hono app: what every request goes through, and what lies under which path. */

import { Hono } from "hono";
import { CodedError } from "../base/errors.ts";
import { apiRoutes } from "./api/mod.ts";
import type { ServerContext } from "./context.ts";
import { errorResponse } from "./errors.ts";
import type { Peer } from "./listen.ts";
import { checkHost } from "./middleware/host.ts";
import { identifyCaller } from "./middleware/identify.ts";
import { observe } from "./middleware/observe.ts";

/** What a request carries through the app. */
export interface AppTypes {
  Bindings: { readonly context: ServerContext; readonly peer: Peer };
  Variables: {
    requestId: string;
    /** The operation that answers, for the log and the counts. */
    operation: string;
    user: string;
    /** What went wrong, if it did. */
    failure: unknown;
  };
}

/** Makes the app. It takes a request and, as its environment, the context and who sent it. */
export function createApp(): Hono<AppTypes> {
  const app = new Hono<AppTypes>();
  app.use(observe);
  app.use(checkHost);
  app.get("/_health", (c) => {
    c.set("operation", "health");
    return Response.json({ status: "ok" });
  });
  app.get("/metrics", async (c) => {
    c.set("operation", "metrics");
    const { context } = c.env;
    if (!context.metricsArePublic) await identifyCaller(c);
    return new Response(context.metrics.text(), { headers: { "content-type": "text/plain; version=0.0.4" } });
  });
  app.route("/api/v1", apiRoutes());
  app.notFound((c) => {
    const failure = new CodedError("not_found", "no_such_path", "There is nothing under this path");
    c.set("failure", failure);
    return errorResponse(failure);
  });
  app.onError((error, c) => {
    c.set("failure", error);
    return errorResponse(error);
  });
  return app;
}
