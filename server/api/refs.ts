/** What is asked of refs: history. */

import { z } from "zod";
import { parseTime } from "../../base/time.ts";
import type { CommitInfo, Store } from "../../drivers/store.ts";
import { json, operation } from "../operation.ts";
import { flag, pageJson, paging, takePage, texts } from "./schemas.ts";
import { commitJson } from "../../drivers/store.ts";

/** An empty list may come as one empty name. */
const named = texts.transform((all) => all.filter((one) => one !== "")).default([]);

const logCommits = operation("logCommits", {
  query: paging.extend({
    objects: named,
    prefixes: named,
    limit: flag.default(false),
    first_parent: flag.default(false),
    since: z.string().optional(),
    stop_at: z.string().optional(),
  }),
  async run({ store, path, query }) {
    const { after, amount, objects, prefixes, first_parent: firstParent, since, stop_at: stopAt } = query;
    const commits = logAfter(store, path, {
      after,
      options: {
        allParents: !firstParent,
        ...(objects.length + prefixes.length > 0 ? { objects, prefixes } : {}),
        ...(since ? { since: parseTime(since, Infinity) / 1000 } : {}),
        ...(stopAt ? { stopAt } : {}),
      },
    });
    const { items, hasMore } = await takePage(commits, amount);
    // `limit` says that no further page is wanted.
    return json(
      200,
      pageJson(items.map(commitJson), { hasMore: hasMore && !query.limit, nameOf: ({ id }) => id }),
    );
  },
});

/** Yields the log after a commit of it: the walk is made anew, since its order depends on where it began. */
async function* logAfter(
  store: Store,
  { repository, ref }: { repository: string; ref: string },
  { after, options }: { after: string; options: Parameters<Store["log"]>[2] },
): AsyncGenerator<readonly CommitInfo[]> {
  let isPast = after === "";
  for await (const page of store.log(repository, ref, options)) {
    if (isPast) {
      yield page;
      continue;
    }
    const at = page.findIndex(({ id }) => id === after);
    if (at < 0) continue;
    isPast = true;
    yield page.slice(at + 1);
  }
}

export const REF_OPERATIONS = [logCommits];
