/** Objects that clients store themselves, at an address that they are given. */

import { z } from "zod";
import { writeConditions } from "../conditions.ts";
import { json, notBuilt, operation } from "../operation.ts";
import { flag, metadata, pathQuery } from "./schemas.ts";
import { objectJson } from "../../drivers/store.ts";

const getPhysicalAddress = operation("getPhysicalAddress", {
  query: pathQuery.extend({ presign: flag.default(false) }),
  async run({ store, path, query }) {
    if (query.presign) throw notBuilt("A presigned URL");
    const issued = await store.issueAddress(path.repository, path.branch, query.path);
    return json(200, { physical_address: issued.physicalAddress });
  },
});

const linkPhysicalAddress = operation("linkPhysicalAddress", {
  query: pathQuery,
  body: z.object({
    staging: z.object({ physical_address: z.string().min(1) }),
    checksum: z.string().max(1024),
    size_bytes: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
    user_metadata: metadata.nullish(),
    content_type: z.string().nullish(),
    mtime: z.number().nullish(),
    force: z.boolean().nullish(),
  }),
  async run({ store, request, path, query, body }) {
    const stats = await store.linkAddress(path.repository, path.branch, query.path, {
      physicalAddress: body.staging.physical_address,
      checksum: body.checksum,
      sizeBytes: body.size_bytes,
      ...(body.user_metadata ? { metadata: body.user_metadata } : {}),
      ...(body.content_type ? { contentType: body.content_type } : {}),
      ...writeConditions(request.headers),
    });
    return json(200, objectJson(stats));
  },
});

export const STAGING_OPERATIONS = [getPhysicalAddress, linkPhysicalAddress];
