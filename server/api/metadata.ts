/** The files of committed data: where they are, and their bytes. */

import { z } from "zod";
import { CodedError } from "../../base/errors.ts";
import type { Store } from "../../drivers/store.ts";
import { attachmentNamed } from "../attachment.ts";
import { responseBody } from "../downloads.ts";
import { json, notBuilt, operation } from "../operation.ts";
import { flag } from "./schemas.ts";

const getMetaRange = operation("getMetaRange", {
  async run({ store, path }) {
    return await locationOf(store, path.repository, { kind: "meta_range", id: path.meta_range });
  },
});

const getRange = operation("getRange", {
  async run({ store, path }) {
    return await locationOf(store, path.repository, { kind: "range", id: path.range });
  },
});

const getMetadataObject = operation("getMetadataObject", {
  isStream: true,
  query: z.object({ presign: flag.default(false) }),
  async run({ store, context, request, path, query }) {
    if (query.presign) throw notBuilt("A presigned URL");
    const file = await store.committedFile(path.repository, kindOf(path.type), path.object_id);
    const body = await responseBody(await file.open(request.signal), file.sizeBytes, context);
    return new Response(body, {
      headers: {
        "content-type": "application/octet-stream",
        "x-content-type-options": "nosniff",
        "content-security-policy": "sandbox; default-src 'none'",
        "content-disposition": attachmentNamed(path.object_id, context.randomness),
      },
    });
  },
});

async function locationOf(
  store: Store,
  repository: string,
  { kind, id }: { kind: "range" | "meta_range"; id: string },
): Promise<Response> {
  const { location } = await store.committedFile(repository, kind, id);
  return json(200, { location }, { location: encodeURI(location) });
}

function kindOf(type: string): "range" | "meta_range" {
  if (type === "range" || type === "meta_range") return type;
  throw new CodedError(
    "invalid",
    "invalid_request",
    `Cannot find a "${type}": it must be range or meta_range`,
  );
}

export const METADATA_OPERATIONS = [getMetaRange, getRange, getMetadataObject];
