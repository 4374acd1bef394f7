/** Deleting and copying objects, and changing their metadata. */

import { z } from "zod";
import { empty, json, operation } from "../operation.ts";
import { flag, metadata, pathQuery } from "./schemas.ts";
import { objectJson } from "../../drivers/store.ts";

const MAX_DELETED = 1000;

const changeFlags = z.object({ force: flag.default(false), no_tombstone: flag.default(false) });

const deleteObject = operation("deleteObject", {
  query: pathQuery.extend(changeFlags.shape),
  async run({ store, path, query }) {
    const writer = await store.writer(path.repository, path.branch);
    await writer.delete(query.path);
    await writer.close();
    return empty();
  },
});

const deleteObjects = operation("deleteObjects", {
  query: changeFlags,
  body: z.object({ paths: z.array(z.string()).max(MAX_DELETED) }),
  async run({ store, path, body }) {
    const writer = await store.writer(path.repository, path.branch);
    for (const each of body.paths) await writer.delete(each);
    await writer.close();
    return json(200, { errors: [] });
  },
});

const copyObject = operation("copyObject", {
  query: z.object({ dest_path: z.string() }),
  body: z.object({
    src_path: z.string(),
    src_ref: z.string().nullish(),
    force: z.boolean().optional(),
    shallow: z.boolean().optional(),
  }),
  async run({ store, path, query, body }) {
    const writer = await store.writer(path.repository, path.branch);
    const stats = await writer.copy(query.dest_path, {
      ref: body.src_ref || path.branch,
      path: body.src_path,
    });
    await writer.close();
    return json(201, objectJson(stats));
  },
});

const updateObjectUserMetadata = operation("updateObjectUserMetadata", {
  query: pathQuery,
  body: z.object({ set: metadata }),
  async run({ store, path, query, body }) {
    const writer = await store.writer(path.repository, path.branch);
    await writer.setMetadata(query.path, body.set);
    await writer.close();
    return empty(201);
  },
});

export const OBJECT_CHANGE_OPERATIONS = [deleteObject, deleteObjects, copyObject, updateObjectUserMetadata];
