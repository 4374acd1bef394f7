/** Objects that were uploaded and turned out to be committed already. */

import { isCoded } from "../../base/errors.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { downloadObject, type Entry } from "../objects/mod.ts";
import type { Repository } from "../repository.ts";
import type { UnusedObject } from "./stage.ts";

/**
 * Deletes an object that repeats committed content. If the committed object itself is missing or damaged, its bytes are
 * first put back in its place: they were just given, and no other way leads to them.
 */
export async function disposeUnused(
  { objects }: Repository,
  { address, kept }: UnusedObject,
): Promise<void> {
  if (kept.addressType === 1 && !(await isWhole(objects, kept))) {
    const { body } = await objects.get(address);
    await objects.put(kept.address, body, { mode: "replace" });
    await objects.flush([kept.address]);
  }
  await objects.delete(address);
}

/** Whether an entry's object is there with the bytes that the entry speaks of. */
async function isWhole(objects: ObjectStore, entry: Entry): Promise<boolean> {
  try {
    for await (const _ of await downloadObject(objects, entry));
    return true;
  } catch (error) {
    if (isCoded(error) && error.kind === "corrupt") return false;
    throw error;
  }
}
