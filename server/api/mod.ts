/** Everything below `/api/v1`: one file a tag, put under the paths of `operations.ts`; the rest answers 501. */

import { type Context, Hono } from "hono";
import { CodedError } from "../../base/errors.ts";
import type { AppTypes } from "../app.ts";
import { errorResponse } from "../errors.ts";
import { identifyCaller } from "../middleware/identify.ts";
import { notBuilt, type Operation } from "../operation.ts";
import { decodePercent } from "../query.ts";
import { ACTION_OPERATIONS } from "./actions.ts";
import { AUTH_OPERATIONS } from "./auth.ts";
import { BRANCH_CHANGE_OPERATIONS } from "./branch_changes.ts";
import { BRANCH_OPERATIONS } from "./branches.ts";
import { COMMIT_OPERATIONS } from "./commits.ts";
import { CONFIG_OPERATIONS } from "./config.ts";
import { DIFF_OPERATIONS } from "./diff.ts";
import { GC_RULE_OPERATIONS } from "./gc_rules.ts";
import { GROUP_OPERATIONS } from "./groups.ts";
import { MERGE_OPERATIONS } from "./merge.ts";
import { METADATA_OPERATIONS } from "./metadata.ts";
import { OBJECT_OPERATIONS } from "./objects.ts";
import { OBJECT_CHANGE_OPERATIONS } from "./object_changes.ts";
import { type OperationId, OPERATIONS } from "./operations.ts";
import { PROTECTION_OPERATIONS } from "./protection.ts";
import { PULL_OPERATIONS } from "./pulls.ts";
import { REF_OPERATIONS } from "./refs.ts";
import { REPOSITORY_OPERATIONS } from "./repositories.ts";
import { SETUP_OPERATIONS } from "./setup.ts";
import { STAGING_OPERATIONS } from "./staging.ts";
import { STATISTICS_OPERATIONS } from "./statistics.ts";
import { SYMLINK_OPERATIONS } from "./symlinks.ts";
import { TAG_OPERATIONS } from "./tags.ts";
import { TASK_OPERATIONS } from "./tasks.ts";
import { UPLOAD_OPERATIONS } from "./uploads.ts";

/** What is built. A new tag's file is one line here. */
const BUILT: readonly Operation[] = [
  ...SETUP_OPERATIONS,
  ...CONFIG_OPERATIONS,
  ...AUTH_OPERATIONS,
  ...GROUP_OPERATIONS,
  ...REPOSITORY_OPERATIONS,
  ...PROTECTION_OPERATIONS,
  ...GC_RULE_OPERATIONS,
  ...BRANCH_OPERATIONS,
  ...BRANCH_CHANGE_OPERATIONS,
  ...TAG_OPERATIONS,
  ...COMMIT_OPERATIONS,
  ...REF_OPERATIONS,
  ...DIFF_OPERATIONS,
  ...MERGE_OPERATIONS,
  ...TASK_OPERATIONS,
  ...METADATA_OPERATIONS,
  ...OBJECT_OPERATIONS,
  ...UPLOAD_OPERATIONS,
  ...OBJECT_CHANGE_OPERATIONS,
  ...STAGING_OPERATIONS,
  ...SYMLINK_OPERATIONS,
  ...ACTION_OPERATIONS,
  ...PULL_OPERATIONS,
  ...STATISTICS_OPERATIONS,
];

/** The operations that are built, by ID. */
export const BUILT_OPERATIONS: ReadonlyMap<OperationId, Operation> = new Map(
  BUILT.map((one) => [one.id, one]),
);

export function apiRoutes(): Hono<AppTypes> {
  const routes = new Hono<AppTypes>();
  const ids = Object.keys(OPERATIONS) as OperationId[];
  for (const id of ids) {
    const [method, template] = OPERATIONS[id];
    // The app answers HEAD by what is under GET.
    if (method === "HEAD") continue;
    const head = ids.find((other) => OPERATIONS[other][0] === "HEAD" && OPERATIONS[other][1] === template);
    const route = template.replaceAll(/\{(\w+)\}/g, ":$1");
    routes.on(method, route, (c) => answer(c, c.req.raw.method === "HEAD" && head ? head : id));
  }
  routes.all("*", (c) => {
    const failure = new CodedError("not_found", "no_such_path", "invalid API endpoint");
    c.set("failure", failure);
    return errorResponse(failure);
  });
  return routes;
}

async function answer(c: Context<AppTypes>, id: OperationId): Promise<Response> {
  c.set("operation", id);
  const built = BUILT_OPERATIONS.get(id);
  const principal = built?.isPublic ? undefined : await identifyCaller(c);
  if (!built) throw notBuilt(`operation ${id}`);
  const { context, peer } = c.env;
  return await built.handle(c.req.raw, { context, peer, principal, path: pathParameters(c) });
}

/** The router passes on what does not decode; we refuse it. */
function pathParameters(c: Context<AppTypes>): Record<string, string> {
  const { url } = c.req.raw;
  if (url.includes("%")) decodePercent(url.split("?", 1)[0]!);
  return c.req.param() as Record<string, string>;
}
