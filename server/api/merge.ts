/** Merging into a branch. */

import { z } from "zod";
import { isCoded } from "../../base/errors.ts";
import type { MergeOptions } from "../../drivers/store.ts";
import { messageOf } from "../errors.ts";
import { json, operation } from "../operation.ts";
import { metadata } from "./schemas.ts";

/** What a merge is asked for; a request without a body asks for nothing special. */
export const mergeBody = z.object({
  message: z.string().nullish(),
  metadata: metadata.nullish(),
  strategy: z.enum(["dest-wins", "source-wins", ""]).nullish(),
  force: z.boolean().nullish(),
  allow_empty: z.boolean().nullish(),
  squash_merge: z.boolean().nullish(),
}).prefault({});

export function mergeOptions(body: z.output<typeof mergeBody>, committer: string): MergeOptions {
  return {
    committer,
    // A merge that brings nothing is refused here, as lakeFS does it, even where it would tie the histories together.
    ifSame: body.allow_empty || body.force ? "commit" : "refuse",
    ...(body.message ? { message: body.message } : {}),
    ...(body.metadata ? { metadata: body.metadata } : {}),
    ...(body.strategy ? { strategy: body.strategy } : {}),
    ...(body.squash_merge ? { squash: true } : {}),
  };
}

const mergeIntoBranch = operation("mergeIntoBranch", {
  body: mergeBody,
  async run({ store, path: { repository, sourceRef, destinationBranch }, body, user }) {
    try {
      const { reference } = await store.merge(
        repository,
        sourceRef,
        destinationBranch,
        mergeOptions(body, user),
      );
      return json(200, { reference });
    } catch (error) {
      if (!isCoded(error, "merge_conflict")) throw error;
      // Clients read a conflict's body as a result, which has this field, or as an error, which has the other.
      return json(409, { reference: "", message: messageOf(error) });
    }
  },
});

export const MERGE_OPERATIONS = [mergeIntoBranch];
