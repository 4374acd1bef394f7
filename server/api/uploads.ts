/** Writing objects: as a raw body, or as the field `content` of a form. */

import { z } from "zod";
import type { ByteStream } from "../../drivers/object_store.ts";
import { bodyStream, contentLength, wholeBody } from "../body.ts";
import type { Limits } from "../context.ts";
import { boundaryOf, openFormField } from "../multipart.ts";
import { writeConditions } from "../conditions.ts";
import { empty, json, operation } from "../operation.ts";
import { flag, pathQuery } from "./schemas.ts";
import { objectJson } from "../../drivers/store.ts";

const METADATA_PREFIX = "x-lakefs-meta-";
/** Up to this size a body is read whole: then it is stored in one go. */
const SMALL_BYTES = 256 * 1024;

const uploadObject = operation("uploadObject", {
  isStream: true,
  query: pathQuery.extend({ storageClass: z.string().optional(), force: flag.default(false) }),
  async run({ store, context, request, peer, path, query }) {
    const { headers } = request;
    const conditions = writeConditions(headers);
    const writer = await store.writer(path.repository, path.branch, {
      durability: context.durability,
      sharesFlushes: true,
    });
    const { body, contentType } = await contentOf(request, context.limits);
    const stats = await writer.put(query.path, body, {
      contentType,
      metadata: metadataOf(headers),
      ...conditions,
    });
    peer.keepOpen();
    await writer.close();
    return json(201, objectJson(stats));
  },
});

const uploadObjectPreflight = operation("uploadObjectPreflight", {
  query: pathQuery,
  async run({ store, path }) {
    // A writer is refused where an upload would be.
    await (await store.writer(path.repository, path.branch)).close();
    return empty();
  },
});

interface Content {
  readonly body: Uint8Array | ByteStream;
  readonly contentType: string | undefined;
}

async function contentOf(request: Request, limits: Limits): Promise<Content> {
  const contentType = request.headers.get("content-type");
  const length = contentLength(request);
  const isSmall = length !== undefined && length <= SMALL_BYTES;
  const boundary = boundaryOf(contentType);
  if (boundary === undefined) {
    const body = isSmall ? await wholeBody(request, limits) : bodyStream(request);
    return { body, contentType: contentType ?? undefined };
  }
  return await openFormField(bodyStream(request), {
    boundary,
    name: "content",
    headerBytes: limits.partHeaderBytes,
  });
}

function metadataOf(headers: Headers): Record<string, string> {
  const pairs: [name: string, value: string][] = [];
  headers.forEach((value, name) => {
    if (name.startsWith(METADATA_PREFIX)) pairs.push([name.slice(METADATA_PREFIX.length), value]);
  });
  // Own properties, so that a name such as "__proto__" is one too.
  return Object.fromEntries(pairs);
}

export const UPLOAD_OPERATIONS = [uploadObject, uploadObjectPreflight];
