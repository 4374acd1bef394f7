/** What `cp` and `mv` share: either side may be a URI or a path on this machine, and one of them must be a URI. */

import { CodedError } from "../../base/errors.ts";
import { looksLikeUri } from "../../base/uri.ts";
import type { Context } from "../context.ts";
import { checkNotRecursive } from "../folders/recursive.ts";
import { copyBetween } from "./between.ts";
import { copyFromLocal } from "./from_local.ts";
import { copyToLocal } from "./to_local.ts";
import type { Transfer } from "./transfer.ts";

/** Copies or moves what the command line says. */
export async function runTransfer(context: Context, kind: Transfer["kind"]): Promise<number> {
  const { arguments: given } = context;
  const [source, destination] = given.positionals as [string, string];
  const isRecursive = given.flag("recursive");
  if (!isRecursive) checkNotRecursive(given);
  const transfer = { kind, source, destination, isRecursive };
  if (looksLikeUri(source)) {
    return looksLikeUri(destination)
      ? await copyBetween(context, transfer)
      : await copyToLocal(context, transfer);
  }
  if (looksLikeUri(destination)) return await copyFromLocal(context, transfer);
  const name = kind === "copy" ? "cp" : "mv";
  throw new CodedError(
    "invalid",
    "invalid_argument",
    `Cannot ${kind} "${source}" to "${destination}": neither is a URI; write tarn ${name} lakefs://REPO/REF/KEY PATH`,
  );
}
