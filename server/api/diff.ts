/** Differences: of a branch from its commit, between refs, and where two refs parted. */

import { z } from "zod";
import type { DiffItem, DiffOptions } from "../../drivers/store.ts";
import { json, operation } from "../operation.ts";
import { flag, pageJson, prefixedPaging, takePage } from "./schemas.ts";
import { diffJson } from "./wire.ts";

const diffPaging = prefixedPaging.extend({ delimiter: z.string().default("") });

type DiffPaging = z.output<typeof diffPaging>;

const diffBranch = operation("diffBranch", {
  query: diffPaging,
  async run({ store, path, query }) {
    return await diffPage(query, (options) => store.status(path.repository, path.branch, options));
  },
});

const diffRefs = operation("diffRefs", {
  query: diffPaging.extend({
    type: z.enum(["two_dot", "three_dot"]).default("three_dot"),
    include_right_stats: flag.default(false),
  }),
  async run({ store, path: { repository, leftRef, rightRef }, query }) {
    return await diffPage(
      query,
      (options) =>
        query.type === "two_dot"
          ? store.diff(repository, leftRef, rightRef, options)
          : store.compare(repository, leftRef, rightRef, options),
      query.include_right_stats,
    );
  },
});

const findMergeBase = operation("findMergeBase", {
  async run({ store, path }) {
    const fork = await store.fork(path.repository, path.destinationBranch, path.sourceRef);
    return json(200, {
      source_commit_id: fork.rightCommitId,
      destination_commit_id: fork.leftCommitId,
      base_commit_id: fork.baseCommitId ?? "",
    });
  },
});

async function diffPage(
  { prefix, delimiter, after, amount }: DiffPaging,
  open: (options: DiffOptions) => AsyncIterable<readonly DiffItem[]>,
  hasRight = false,
): Promise<Response> {
  const items = open({ prefix, delimiter, amount: amount + 1, ...(after ? { after } : {}) });
  const page = await takePage(items, amount);
  const results = page.items.map((item) => diffJson(item, hasRight));
  return json(200, pageJson(results, { hasMore: page.hasMore, nameOf: (item) => item.path }));
}

export const DIFF_OPERATIONS = [diffBranch, diffRefs, findMergeBase];
