/** The last look, when nobody writes any more: all that was acknowledged, and nothing else. */

import { checkVersions } from "../soak_model.ts";
import { Lost } from "../soak_process.ts";
import type { Api } from "./api.ts";
import type { Client } from "./client.ts";
import type { Shown } from "./reads.ts";
import { MAIN, SHARED } from "./shared.ts";

interface LoggedCommit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly message: string;
}

export interface Verified {
  readonly objects: number;
  readonly commits: number;
}

/** Compares a repository with what its clients know. Fails with what is lost, doubled or broken. */
export async function verifyRepository(api: Api, clients: readonly Client[]): Promise<Verified> {
  let objects = 0;
  for (const client of clients) {
    await client.check();
    for (const shown of shownBy(client)) objects += await readAll(api, shown);
  }
  const branches = clients.flatMap(({ own, refs }) => [own.branch, ...refs.names("branch")]);
  await checkNames(api, "branches", [MAIN, SHARED, ...branches]);
  await checkNames(api, "tags", clients.flatMap(({ refs }) => refs.names("tag")));
  const commits = await checkLog(api, SHARED, clients.flatMap(({ shared }) => shared.commits)) +
    await checkLog(api, MAIN, clients.flatMap(({ shared }) => shared.merges));
  return { objects, commits };
}

function shownBy({ own, shared, refs }: Client): Shown[] {
  const one = refs.one();
  return [own.shown, shared.shown, shared.merged, ...(one ? [one] : [])];
}

/** Reads every object and compares its bytes. */
async function readAll(api: Api, { ref, versions }: Shown): Promise<number> {
  await api.readAll(ref, versions);
  return versions.size;
}

async function checkNames(api: Api, what: "branches" | "tags", expected: readonly string[]): Promise<void> {
  const found = (await api.all(`/${what}?prefix=`, 17)).map(({ id }) => id as string);
  const versions = (names: readonly string[]) => new Map(names.map((name) => [name, "there"]));
  checkVersions(`the ${what}`, versions(found), versions(expected));
}

/** Walks a branch's first parents to the root: each acknowledged commit is there, and no message twice. */
async function checkLog(api: Api, branch: string, acknowledged: readonly string[]): Promise<number> {
  const log: LoggedCommit[] = await api.all(`/refs/${branch}/commits?first_parent=true`);
  for (const [i, { id, parents }] of log.entries()) {
    const next = log[i + 1]?.id;
    if (parents[0] !== next) throw new Lost(`log of ${branch}: ${id} does not lead to ${next ?? "the root"}`);
  }
  const known = new Set(log.map(({ id }) => id));
  const missing = acknowledged.find((id) => !known.has(id));
  if (missing !== undefined) {
    throw new Lost(`log of ${branch}: the acknowledged commit ${missing} is not there`);
  }
  const messages = new Set(log.map(({ message }) => message));
  if (messages.size !== log.length) throw new Lost(`log of ${branch}: something was done twice`);
  return log.length;
}
