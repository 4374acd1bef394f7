/** Commits. */

import { z } from "zod";
import type { CommitOptions } from "../../drivers/store.ts";
import { json, notBuilt, operation } from "../operation.ts";
import { metadata } from "./schemas.ts";
import { commitJson } from "../../drivers/store.ts";

export const commitQuery = z.object({ source_metarange: z.string().optional() });

export const commitBody = z.object({
  message: z.string(),
  metadata: metadata.nullish(),
  date: z.number().int().nonnegative().nullish(),
  allow_empty: z.boolean().nullish(),
  force: z.boolean().nullish(),
});

/** Fails with `not_built` for what a commit cannot be asked for. */
export function commitOptions(
  query: z.output<typeof commitQuery>,
  body: z.output<typeof commitBody>,
  committer: string,
): CommitOptions {
  if (query.source_metarange) throw notBuilt("A commit of a metarange");
  return {
    message: body.message,
    committer,
    metadata: body.metadata ?? {},
    allowEmpty: body.allow_empty ?? false,
    ...(body.date === null || body.date === undefined ? {} : { date: body.date }),
  };
}

const commit = operation("commit", {
  query: commitQuery,
  body: commitBody,
  async run({ store, path, query, body, user }) {
    const options = commitOptions(query, body, user);
    return json(201, commitJson(await store.commit(path.repository, path.branch, options)));
  },
});

const getCommit = operation("getCommit", {
  async run({ store, path }) {
    return json(200, commitJson(await store.getCommit(path.repository, path.commitId)));
  },
});

export const COMMIT_OPERATIONS = [commit, getCommit];
