/**
 * `REF/`, where buckets are repositories: what clients that think in folders look at, and write, before they use a ref. It is an
 * empty object that is there as long as its ref is, and no listing shows.
 */

import type { S3Call, S3Operation } from "../call.ts";
import { invalidArgument } from "../encoding.ts";
import { bucketOf } from "../places.ts";

const ETAG = '"d41d8cd98f00b204e9800998ecf8427e"';

/** Returns the operation with an answer for `REF/`. */
export function withRefFolder(operation: S3Operation): S3Operation {
  return (call) => isRefFolder(call) ? answer(call) : operation(call);
}

function isRefFolder({ request, context }: S3Call): boolean {
  const { key = "", headers } = request;
  return context.s3.buckets === "repository" && key.indexOf("/") === key.length - 1 && key.length > 1 &&
    !headers.has("x-amz-copy-source");
}

async function answer(call: S3Call): Promise<Response> {
  const { request, store } = call;
  const { repository } = await bucketOf(call);
  const ref = request.key!.slice(0, -1);
  switch (request.method) {
    case "PUT": {
      // A writer is refused where a write would be.
      await (await store.writer(repository, ref)).close();
      const content = await request.content();
      if (!(content instanceof Uint8Array) || content.length > 0) {
        throw invalidArgument("key", request.key!, "A key is BRANCH/PATH: this one names no path");
      }
      return new Response(null, { status: 200, headers: { etag: ETAG } });
    }
    case "DELETE":
      await (await store.writer(repository, ref)).close();
      return new Response(null, { status: 204 });
  }
  const { creationDate } = await store.getCommit(repository, ref);
  return new Response(null, {
    status: 200,
    headers: {
      "content-type": "application/x-directory",
      "content-length": "0",
      "last-modified": new Date(creationDate * 1000).toUTCString(),
      etag: ETAG,
    },
  });
}
