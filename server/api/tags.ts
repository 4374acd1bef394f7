/** Tags. */

import { z } from "zod";
import { empty, json, operation } from "../operation.ts";
import { flag, pageJson, prefixedPaging, takePage } from "./schemas.ts";
import { refJson } from "../../drivers/store.ts";

const listTags = operation("listTags", {
  query: prefixedPaging,
  async run({ store, path, query: { prefix, after, amount } }) {
    const all = store.listTags(path.repository, { prefix, ...(after ? { after } : {}) });
    const { items, hasMore } = await takePage(all, amount);
    return json(200, pageJson(items.map(refJson), { hasMore, nameOf: ({ id }) => id }));
  },
});

const createTag = operation("createTag", {
  body: z.object({ id: z.string(), ref: z.string(), force: z.boolean().optional() }),
  async run({ store, path, body, user }) {
    return json(201, refJson(await store.createTag(path.repository, body.id, body.ref, user)));
  },
});

const getTag = operation("getTag", {
  async run({ store, path }) {
    return json(200, refJson(await store.getTag(path.repository, path.tag)));
  },
});

const deleteTag = operation("deleteTag", {
  query: z.object({ force: flag.default(false) }),
  async run({ store, path, user }) {
    await store.deleteTag(path.repository, path.tag, user);
    return empty();
  },
});

export const TAG_OPERATIONS = [listTags, createTag, getTag, deleteTag];
