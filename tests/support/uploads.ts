/** Uploads in parts, in tests of the engine: what they leave in the stores, and what a reader sees of them. */

import assert from "node:assert/strict";
import { lossyText, utf8 } from "../../base/bytes.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import type { NamedPart, Store, UploadPlace, Uploads } from "../../drivers/store.ts";
import type { ListedKvStore } from "../../kv/store.ts";
import { WHO } from "./test_engine.ts";

export function uploadsOf(store: Store): Uploads {
  assert.ok(store.uploads);
  return store.uploads;
}

/** Starts an upload of `path` on the branch `main` of the repository `repo`. */
export async function startUpload(store: Store, path = "big", branch = "main"): Promise<UploadPlace> {
  const { id } = await uploadsOf(store).start("repo", branch, path, { who: WHO });
  return { repository: "repo", branch, path, id };
}

/** Starts an upload and puts parts, numbered from 1; returns how they are named to complete it. */
export async function uploadParts(
  store: Store,
  texts: readonly string[],
  path = "big",
): Promise<{ place: UploadPlace; named: readonly NamedPart[] }> {
  const place = await startUpload(store, path);
  const named: NamedPart[] = [];
  for (const [i, text] of texts.entries()) named.push(await putText(store, place, i + 1, text));
  return { place, named };
}

export async function putText(
  store: Store,
  place: UploadPlace,
  number: number,
  text: string,
): Promise<NamedPart> {
  const { checksum } = await uploadsOf(store).putPart(place, number, utf8(text));
  return { number, checksum };
}

/** Returns the keys of the objects that lie under `data/`. */
export async function dataKeys(objects: ObjectStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of objects.pages({ prefix: "data/" })) {
    keys.push(...page.objects.map(({ key }) => key));
  }
  return keys;
}

/** Returns the keys of all records of uploads, which must be of one repository. */
export async function uploadKeys(kv: ListedKvStore): Promise<string[]> {
  const keys: string[] = [];
  for await (const partition of kv.partitions()) {
    if (!lossyText(partition).endsWith("/uploads")) continue;
    for await (const page of kv.scan(partition)) keys.push(...page.map(({ key }) => lossyText(key)));
  }
  return keys;
}
