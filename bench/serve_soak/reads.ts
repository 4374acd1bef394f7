/** Reading what a ref shows in a client's folder, in all ways that there are; each answer is compared. */

import { checkVersions, type Versions } from "../soak_model.ts";
import { Lost } from "../soak_process.ts";
import { md5, objectsOf } from "./api.ts";
import { checkStats, same } from "./checks.ts";
import type { Hands } from "./hands.ts";

/** A ref, and what must be there. */
export interface Shown {
  readonly ref: string;
  readonly folder: string;
  readonly versions: Versions;
}

export async function getOne(hands: Hands, shown: Shown): Promise<void> {
  const path = drawn(hands, shown), sum = shown.versions.get(path);
  const answer = await hands.api.look(at(shown, "", path), sum === undefined ? 404 : 200);
  if (sum !== undefined) same(`the bytes of ${path}`, md5(answer.bytes), sum);
}

export async function getRange(hands: Hands, shown: Shown): Promise<void> {
  const path = drawn(hands, shown), sum = shown.versions.get(path);
  if (sum === undefined) return;
  const { text } = hands.contents.of(sum);
  const start = hands.chance.below(text.length), end = hands.chance.between(start, text.length + 10);
  const headers = { range: `bytes=${start}-${end}` };
  const answer = await hands.api.look(at(shown, "", path), 206, { headers });
  if (answer.text !== text.slice(start, end + 1)) throw new Lost(`${path}: other bytes ${start}-${end}`);
}

export async function statOne(hands: Hands, shown: Shown): Promise<void> {
  const path = drawn(hands, shown), sum = shown.versions.get(path);
  const answer = await hands.api.look(at(shown, "/stat", path), sum === undefined ? 404 : 200);
  if (sum !== undefined) checkStats(answer.json, { path, content: hands.contents.of(sum) });
}

/** Lists the folder, by pages of some size. */
export async function listAll(hands: Hands, { ref, folder, versions }: Shown): Promise<void> {
  checkVersions(ref, await hands.api.list(ref, folder, hands.chance.between(2, 40)), versions);
}

/** Lists what stands directly in the folder. */
export async function listFolded(hands: Hands, { ref, folder, versions }: Shown): Promise<void> {
  const path = `${objectsOf(ref)}/ls?delimiter=%2F&prefix=${encodeURIComponent(folder)}`;
  const found = (await hands.api.all(path, hands.chance.between(1, 3))).map((item) => item.path);
  const folders = [...versions.keys()].map((path) => path.slice(0, path.indexOf("/", folder.length) + 1));
  same(`${ref}, folded`, found, [...new Set(folders)].sort());
}

/** Mostly a path where something is. */
function drawn({ chance }: Hands, { folder, versions }: Shown): string {
  const paths = [...versions.keys()];
  return paths.length === 0 || chance.happens(0.1) ? `${folder}nothing` : chance.oneOf(paths);
}

function at({ ref }: Shown, what: string, path: string): string {
  return `${objectsOf(ref)}${what}?path=${encodeURIComponent(path)}`;
}
