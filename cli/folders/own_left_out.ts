/** What a walk through a folder leaves out since it is tarn's own. */

import { OWN_STORAGE, type OwnFolders } from "../../base/own_folders.ts";
import type { Messages } from "../messages.ts";

/**
 * Returns what tells a walk to leave out homes, caches and what else is tarn's own. Of this home's own nobody expects to find
 * anything in it; of others, a note says so.
 */
export function ownLeftOut(
  own: OwnFolders,
  messages: Pick<Messages, "note">,
): (path: string, isLed: boolean) => boolean {
  const told = new Set<string>();
  return (path, isLed) => {
    const isIn = (folders: OwnFolders) => isLed ? folders.holds(path) : folders.isOwn(path);
    if (!isIn(own)) return false;
    // Some walk twice.
    if (!told.has(path) && !isIn(own.onlyNamed)) messages.note(`Left out "${path}": ${OWN_STORAGE}`);
    told.add(path);
    return true;
  };
}
