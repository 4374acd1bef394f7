/** Reading objects. */

import { z } from "zod";
import { describeObject, download } from "../downloads.ts";
import { json, notBuilt, operation } from "../operation.ts";
import { flag, pageJson, pathQuery, prefixedPaging, takePage } from "./schemas.ts";
import { objectJson } from "../../drivers/store.ts";
import { listItemJson } from "./wire.ts";

const getObject = operation("getObject", {
  isStream: true,
  query: pathQuery.extend({ presign: flag.default(false) }),
  async run({ store, context, request, path, query }) {
    if (query.presign) throw notBuilt("A presigned URL");
    return await download(store, { ...path, path: query.path }, { request, context });
  },
});

const headObject = operation("headObject", {
  query: pathQuery,
  async run({ store, context, request, path, query }) {
    return await describeObject(store, { ...path, path: query.path }, { request, context });
  },
});

const statObject = operation("statObject", {
  query: pathQuery.extend({ user_metadata: flag.default(true), presign: flag.default(false) }),
  async run({ store, path, query }) {
    if (query.presign) throw notBuilt("A presigned URL");
    const stats = await store.stat(path.repository, path.ref, query.path);
    return json(200, objectJson(stats, query.user_metadata));
  },
});

const listObjects = operation("listObjects", {
  query: prefixedPaging.extend({
    delimiter: z.string().default(""),
    user_metadata: flag.default(true),
    presign: flag.default(false),
  }),
  async run(
    { store, path, query: { prefix, after, amount, delimiter, user_metadata: hasMetadata, presign } },
  ) {
    if (presign) throw notBuilt("A presigned URL");
    const items = store.list(path.repository, path.ref, {
      prefix,
      amount: amount + 1,
      ...(delimiter ? { delimiter } : {}),
      ...(after ? { after } : {}),
    });
    const page = await takePage(items, amount);
    const results = page.items.map((item) => listItemJson(item, hasMetadata));
    return json(200, pageJson(results, { hasMore: page.hasMore, nameOf: (item) => item.path }));
  },
});

const getUnderlyingProperties = operation("getUnderlyingProperties", {
  query: pathQuery,
  async run({ store, path, query }) {
    await store.stat(path.repository, path.ref, query.path);
    // Folders have no storage classes.
    return json(200, {});
  },
});

export const OBJECT_OPERATIONS = [getObject, headObject, statObject, listObjects, getUnderlyingProperties];
