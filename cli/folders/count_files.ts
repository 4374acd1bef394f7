/** How much there is to put, for a person who watches. */

import { statSync } from "node:fs";
import type { Messages } from "../messages.ts";
import type { Total } from "../render/progress.ts";
import { walkFolder, type WalkOptions } from "./walk.ts";

/** A folder that takes longer to look through is not looked through twice. */
const MOST_MILLISECONDS = 1000;

/** Returns how many files a walk finds, and their bytes, where progress is shown and it is soon known. */
export function countedFiles(
  messages: Messages,
  { folder, walk }: { readonly folder: string; readonly walk?: WalkOptions },
): Total | undefined {
  if (!messages.showsProgress) return undefined;
  const until = performance.now() + MOST_MILLISECONDS;
  let files = 0, bytes = 0;
  try {
    for (const item of walkFolder(folder, walk)) {
      if (item.kind !== "file") continue;
      files++;
      bytes += statSync(item.path, { throwIfNoEntry: false })?.size ?? 0;
      if (performance.now() > until) return undefined;
    }
  } catch {
    // The walk that puts the files says what is wrong.
    return undefined;
  }
  return { files, bytes };
}
