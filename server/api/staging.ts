/** Objects that clients store themselves, at an address that they are given. */

import { z } from "zod";
import { writeConditions } from "../conditions.ts";
import { json, notBuilt, operation } from "../operation.ts";
import { flag, metadata, pathQuery } from "./schemas.ts";
import { type LinkOptions, objectJson } from "../../drivers/store.ts";

const getPhysicalAddress = operation("getPhysicalAddress", {
  query: pathQuery.extend({ presign: flag.default(false) }),
  async run({ store, path, query }) {
    if (query.presign) throw notBuilt("A presigned URL");
    const issued = await store.issueAddress(path.repository, path.branch, query.path);
    return json(200, { physical_address: issued.physicalAddress });
  },
});

/** What a client tells of an object that it has stored. */
const told = z.object({
  checksum: z.string().max(1024),
  size_bytes: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
  content_type: z.string().nullish(),
  mtime: z.number().nullish(),
  force: z.boolean().nullish(),
});

const address = z.string().min(1);

const linkPhysicalAddress = operation("linkPhysicalAddress", {
  query: pathQuery,
  body: told.extend({
    staging: z.object({ physical_address: address }),
    user_metadata: metadata.nullish(),
  }),
  async run({ store, request, path, query, body }) {
    const stats = await store.linkAddress(path.repository, path.branch, query.path, {
      physicalAddress: body.staging.physical_address,
      ...linkOptions(body, body.user_metadata),
      ...writeConditions(request.headers),
    });
    return json(200, objectJson(stats));
  },
});

/** The older form of the same, under the same rule: an address that was given out for this path. */
const stageObject = operation("stageObject", {
  query: pathQuery,
  body: told.extend({ physical_address: address, metadata: metadata.nullish() }),
  async run({ store, path, query, body }) {
    const stats = await store.linkAddress(path.repository, path.branch, query.path, {
      physicalAddress: body.physical_address,
      ...linkOptions(body, body.metadata),
    });
    return json(201, objectJson(stats));
  },
});

function linkOptions(
  { checksum, size_bytes: sizeBytes, content_type: contentType }: z.output<typeof told>,
  userMetadata: Record<string, string> | null | undefined,
): Omit<LinkOptions, "physicalAddress"> {
  return {
    checksum,
    sizeBytes,
    ...(userMetadata ? { metadata: userMetadata } : {}),
    ...(contentType ? { contentType } : {}),
  };
}

export const STAGING_OPERATIONS = [getPhysicalAddress, linkPhysicalAddress, stageObject];
