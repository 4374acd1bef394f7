/** How many files there are to put, for a person who watches. */

import type { Messages } from "../messages.ts";
import type { Total } from "../render/progress.ts";
import { walkFolder, type WalkOptions } from "./walk.ts";

/** A folder that takes longer to look through is not looked through twice. */
const MOST_MILLISECONDS = 1000;

/** Returns how many files a walk finds, where progress is shown and it is soon known. */
export function countedFiles(
  messages: Messages,
  { folder, walk }: { readonly folder: string; readonly walk?: WalkOptions },
): Total | undefined {
  if (!messages.showsProgress) return undefined;
  const until = performance.now() + MOST_MILLISECONDS;
  let files = 0;
  try {
    for (const item of walkFolder(folder, walk)) {
      if (item.kind === "file") files++;
      if (performance.now() > until) return undefined;
    }
  } catch {
    // The walk that puts the files says what is wrong.
    return undefined;
  }
  return { files };
}
