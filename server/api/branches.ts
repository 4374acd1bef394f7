/** Branches: making, showing and deleting them. */

import { z } from "zod";
import type { RefInfo } from "../../drivers/store.ts";
import { empty, json, operation, text } from "../operation.ts";
import { flag, pageJson, prefixedPaging, takePage } from "./schemas.ts";
import { refJson } from "../../drivers/store.ts";

const listBranches = operation("listBranches", {
  query: prefixedPaging.extend({ show_hidden: flag.default(false) }),
  async run({ store, path, query: { prefix, after, amount, show_hidden: showHidden } }) {
    const all = store.listBranches(path.repository, { prefix, ...(after ? { after } : {}) });
    const { items, hasMore } = await takePage(showHidden ? all : shown(all), amount);
    return json(200, pageJson(items.map(refJson), { hasMore, nameOf: ({ id }) => id }));
  },
});

const createBranch = operation("createBranch", {
  body: z.object({
    name: z.string(),
    source: z.string(),
    force: z.boolean().nullish(),
    hidden: z.boolean().nullish(),
  }),
  async run({ store, path, body, user }) {
    const options = { isHidden: body.hidden ?? false };
    const { commitId } = await store.createBranch(path.repository, body.name, body.source, user, options);
    return text(201, commitId);
  },
});

const getBranch = operation("getBranch", {
  async run({ store, path }) {
    return json(200, refJson(await store.getBranch(path.repository, path.branch)));
  },
});

const deleteBranch = operation("deleteBranch", {
  query: z.object({ force: flag.default(false) }),
  async run({ store, path, user }) {
    await store.deleteBranch(path.repository, path.branch, user);
    return empty();
  },
});

async function* shown(pages: AsyncIterable<readonly RefInfo[]>): AsyncGenerator<readonly RefInfo[]> {
  for await (const page of pages) yield page.filter(({ isHidden }) => !isHidden);
}

export const BRANCH_OPERATIONS = [listBranches, createBranch, getBranch, deleteBranch];
