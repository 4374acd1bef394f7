/**
 * How an operation of the API is built: one declaration that gives the types of what its handler gets, and checks them.
 *
 * ```ts
 * export const getBranch = operation("getBranch", {
 *   async run({ store, path }) {
 *     return json(200, refJson(await store.getBranch(path.repository, path.branch)));
 *   },
 * });
 * ```
 *
 * Method, path and the path's parameters come from `api/operations.ts`; names of repositories, refs and paths are checked
 * by the engine, which knows their rules. Whatever a handler throws is answered by `errors.ts`.
 */

import type { z } from "zod";
import { CodedError } from "../base/errors.ts";
import type { Store } from "../drivers/store.ts";
import type { OperationId, PathOf } from "./api/operations.ts";
import type { Principal } from "./auth/mod.ts";
import { jsonBody } from "./body.ts";
import type { ServerContext } from "./context.ts";
import type { Peer } from "./listen.ts";
import { type Query, queryOf } from "./query.ts";

/** A request to one operation. */
export interface Call<Path, QueryType, Body> {
  readonly context: ServerContext;
  readonly store: Store;
  readonly request: Request;
  readonly peer: Peer;
  readonly path: Path;
  readonly query: QueryType;
  readonly body: Body;
  /** The name of who asks; empty in a public operation. */
  readonly user: string;
}

export interface OperationSpec<
  Id extends OperationId,
  QuerySchema extends z.ZodType,
  BodySchema extends z.ZodType,
> {
  /** Of the query; without one there are no parameters, and none is refused. */
  readonly query?: QuerySchema;
  /** Of a JSON body; without one the handler reads the request's body itself, if at all. */
  readonly body?: BodySchema;
  /** Whether it answers without credentials. */
  readonly isPublic?: boolean;
  /** Whether it moves bytes as they come: then a connection on which nothing moves is closed. */
  readonly isStream?: boolean;
  run(call: Call<PathOf<Id>, z.output<QuerySchema>, z.output<BodySchema>>): Promise<Response>;
}

/** An operation, ready to be put under its path. */
export interface Operation {
  readonly id: OperationId;
  readonly isPublic: boolean;
  handle(request: Request, parts: RequestParts): Promise<Response>;
}

export interface RequestParts {
  readonly context: ServerContext;
  readonly peer: Peer;
  readonly path: Readonly<Record<string, string>>;
  readonly principal: Principal | undefined;
}

export function operation<
  Id extends OperationId,
  QuerySchema extends z.ZodType = z.ZodUndefined,
  BodySchema extends z.ZodType = z.ZodUndefined,
>(id: Id, spec: OperationSpec<Id, QuerySchema, BodySchema>): Operation {
  return {
    id,
    isPublic: spec.isPublic ?? false,
    async handle(request, { context, peer, path, principal }) {
      const query = spec.query ? checked(spec.query, queryOf(request.url), "query") : undefined;
      const body = spec.body
        ? checked(spec.body, await jsonBody(request, context.limits), "body")
        : undefined;
      // What has arrived whole may take its time to be done.
      if (!spec.isStream) peer.keepOpen();
      try {
        return await spec.run({
          context,
          store: context.store,
          request,
          peer,
          path: path as PathOf<Id>,
          query: query as z.output<QuerySchema>,
          body: body as z.output<BodySchema>,
          user: principal?.user.id ?? "",
        });
      } finally {
        peer.closeWhenIdle();
      }
    },
  };
}

function checked<Schema extends z.ZodType>(schema: Schema, value: unknown, part: string): z.output<Schema> {
  const result = schema.safeParse(value as Query);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const where = issue!.path.length > 0 ? `"${issue!.path.join(".")}" in its ${part}` : `its ${part}`;
  throw new CodedError("invalid", "invalid_request", `Cannot read the request: ${where}: ${issue!.message}`);
}

/** Answers with JSON. */
export function json(status: number, value: unknown, headers?: Record<string, string>): Response {
  return Response.json(value, headers ? { status, headers } : { status });
}

/** Answers with a status alone. */
export function empty(status = 204): Response {
  return new Response(null, { status });
}

/** Answers with plain text. */
export function text(status: number, value: string): Response {
  return new Response(value, { status, headers: { "content-type": "text/plain; charset=utf-8" } });
}

/** What the API has and this program does not do. */
export function notBuilt(what: string): CodedError {
  return new CodedError("unsupported", "not_built", `${what} is not built`);
}
