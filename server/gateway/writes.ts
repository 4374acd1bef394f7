/** Writing to branches as all operations of the gateway do. */

import type { BranchWriter } from "../../drivers/store.ts";
import type { S3Call } from "./call.ts";

export interface WrittenBranch {
  readonly repository: string;
  readonly ref: string;
}

/**
 * Opens a writer for a request. Whatever is to be committed by itself is noted before anything is written. Fails with
 * `branch_not_found`, `not_a_branch`, `branch_protected`.
 */
export async function openWriter(
  { store, context }: S3Call,
  { repository, ref }: WrittenBranch,
): Promise<BranchWriter> {
  return await store.writer(repository, ref, { durability: context.durability, sharesFlushes: true });
}
