/**
 * Puts of many small fresh objects.
 *
 * Making a file is what takes the time, and the system can make one while we read and hash the next: each object is one
 * job of the thread pool (open, write, close), with a callback and no promise. Whatever does not go smoothly there is put
 * again by the careful way, which makes folders anew and knows what each error means.
 */

import { writeFile } from "node:fs";
import { errnoOf, translated } from "./failures.ts";
import { unlinkQuietly } from "./file_calls.ts";
import type { Place } from "./placement.ts";
import { writeObject, type WriterOptions } from "./writing.ts";

/** More than the pool has threads, so that none waits for us; few enough to keep memory and open files low. */
const MAX_IN_FLIGHT = 32;

export interface FreshObject {
  readonly place: Place;
  readonly body: Uint8Array;
}

/** Stores objects under names that nobody has used. */
export async function writeFreshObjects(
  objects: readonly FreshObject[],
  options: WriterOptions,
): Promise<void> {
  for (const { place } of objects) {
    const { folder, key } = place;
    if (options.folders.isKnown(folder)) continue;
    try {
      options.folders.make(folder, key);
    } catch (error) {
      // One that vanished meanwhile is made by the careful way.
      if (errnoOf(error) !== "ENOENT") throw translated(error, { action: "put", key });
    }
  }
  const failed = await writeFiles(objects);
  for (const { place, body } of failed) await writeObject(place, body, { ...options, mode: "fresh" });
}

/** Writes the files side by side; returns those that could not be written, of which nothing is left. */
function writeFiles(objects: readonly FreshObject[]): Promise<readonly FreshObject[]> {
  const failed: FreshObject[] = [];
  let next = 0, running = 0;
  return new Promise((resolve) => {
    const go = () => {
      while (next < objects.length && running < MAX_IN_FLIGHT) {
        const object = objects[next++]!;
        running++;
        writeFile(object.place.path, object.body, { flag: "wx", mode: 0o600 }, (error) => {
          running--;
          if (error) {
            // A name that was taken is somebody else's.
            if (errnoOf(error) !== "EEXIST") unlinkQuietly(object.place.path);
            failed.push(object);
          }
          go();
        });
      }
      if (running === 0 && next === objects.length) resolve(failed);
    };
    go();
  });
}
