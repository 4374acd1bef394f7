/** Giving a finished temporary file its final name. Each file call throws untranslated. */

import { closeSync, constants, linkSync, openSync, renameSync, rmdirSync } from "node:fs";
import { alreadyExists, errnoOf } from "./failures.ts";
import { lstatIfThere, unlinkQuietly } from "./file_calls.ts";
import { type Place, unplaceable } from "./placement.ts";
import type { FileSync } from "./syncing.ts";

/** Opens for writing what does not exist yet, not even as a dangling symlink. */
export const CREATE_FLAGS = constants.O_CREAT | constants.O_EXCL | constants.O_WRONLY;

/** What `link` answers where the file system has no hard links. */
const NO_LINKS = ["EPERM", "ENOSYS", "ENOTSUP", "EOPNOTSUPP", "EMLINK"];

/** Puts the temporary file under the final name, whatever object was there. */
export async function publish(place: Place, temporary: string, sync: FileSync): Promise<void> {
  const taken = lstatIfThere(place.path);
  if (taken && !taken.isFile()) refuseTaken(place);
  // A power loss must leave no less than the old object, which may be durable: no name on unwritten blocks.
  if (taken?.isFile()) await sync.file(temporary);
  renameSync(temporary, place.path);
}

/** Puts the temporary file under the final name if that is free, atomically. Fails with `object_exists`. */
export function publishIfAbsent(place: Place, temporary: string): void {
  try {
    linkSync(temporary, place.path);
  } catch (error) {
    const errno = errnoOf(error) ?? "";
    if (errno === "EEXIST") refuseTaken(place);
    if (!NO_LINKS.includes(errno)) throw error;
    claimAndRename(place, temporary);
    return;
  }
  unlinkQuietly(temporary);
}

/**
 * Publishes where there are no hard links: an empty file claims the name, and only who made it renames over it. Of
 * racing puts one wins; a reader may see the empty file for the time between the two calls.
 */
export function claimAndRename(place: Place, temporary: string): void {
  try {
    closeSync(openSync(place.path, CREATE_FLAGS, 0o600));
  } catch (error) {
    if (errnoOf(error) === "EEXIST") refuseTaken(place);
    throw error;
  }
  try {
    renameSync(temporary, place.path);
  } catch (error) {
    unlinkQuietly(place.path);
    throw error;
  }
}

/**
 * Fails with `object_exists` if an object has the name, with `unplaceable_key` if something else has. Returns when it is
 * free; an empty folder, left by objects that are gone, makes way.
 */
export function refuseTaken(place: Place): void {
  const taken = lstatIfThere(place.path);
  if (!taken) return;
  if (taken.isFile()) throw alreadyExists(place.key);
  if (!taken.isDirectory()) throw unplaceable(place.key, "a symlink or special file stands under its name");
  try {
    rmdirSync(place.path);
  } catch (error) {
    throw unplaceable(place.key, "a folder stands under its name", error);
  }
}
