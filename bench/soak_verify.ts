/** The soak's verification, while no worker runs: everything that was acknowledged, and everything that can be read. */

import { createHash } from "node:crypto";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Counts } from "./soak_counts.ts";
import { checkVersions, type Versions } from "./soak_model.ts";
import { type Commands, Lost } from "./soak_process.ts";
import type { Worker } from "./soak_worker.ts";

interface LoggedCommit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly message: string;
}

export interface Verification {
  readonly workers: readonly Worker[];
  readonly commands: Commands;
  readonly folder: string;
  readonly counts: Counts;
  /** Whether the bytes are read of every branch and tag; else only of the branches that are written. */
  readonly isWhole: boolean;
}

/** Fails with what is lost, doubled or broken. */
export async function verify(verification: Verification): Promise<void> {
  const { workers, commands, counts, isWhole } = verification;
  await Promise.all(workers.map((worker) => worker.check()));
  const acknowledged = new Map([["main", workers.flatMap(({ main }) => main.commits)]]);
  for (const { own, scratch } of workers) {
    for (const { branch, commits } of [own, scratch]) acknowledged.set(branch, commits);
  }
  const branches = await refsOf(commands, "branch");
  const made = workers.flatMap(({ refs }) => refs.names("branch"));
  checkNames("branch", [...branches.keys()], [...acknowledged.keys(), ...made]);
  const tags = await refsOf(commands, "tag");
  checkNames("tag", [...tags.keys()], workers.flatMap(({ refs }) => refs.names("tag")));
  const logs = async () => {
    for (const name of [...branches.keys(), ...tags.keys()]) {
      await checkLog(verification, { name, acknowledged: acknowledged.get(name) ?? [] });
    }
  };
  const bytes = async () => {
    const names = isWhole ? [...branches.keys(), ...tags.keys()] : [...acknowledged.keys()];
    for (const name of names) await checkBytes(verification, name);
  };
  await Promise.all([logs(), bytes()]);
  counts.verifications++;
}

async function refsOf(commands: Commands, kind: "branch" | "tag"): Promise<Map<string, string>> {
  const refs = await commands.json([kind, "list", "lakefs://soak"]) as { id: string; commit_id: string }[];
  return new Map(refs.map(({ id, commit_id }) => [id, commit_id]));
}

function checkNames(kind: string, found: readonly string[], expected: readonly string[]): void {
  const versions = (names: readonly string[]) => new Map(names.map((name) => [name, "there"]));
  checkVersions(`the list of ${kind} names`, versions(found), versions(expected));
}

/** Walks a ref's first parents to the root: each acknowledged commit is there, and no message twice. */
async function checkLog(
  { commands, counts }: Verification,
  { name, acknowledged }: { name: string; acknowledged: readonly string[] },
): Promise<void> {
  const log = await commands.json(["log", `lakefs://soak/${name}`]) as LoggedCommit[];
  counts.commitsWalked += log.length;
  for (const [i, { id, parents }] of log.entries()) {
    const next = log[i + 1]?.id;
    if (parents[0] !== next) throw new Lost(`log of ${name}: ${id} does not lead to ${next ?? "the root"}`);
  }
  const known = new Set(log.map(({ id }) => id));
  const missing = acknowledged.find((id) => !known.has(id));
  if (missing !== undefined) {
    throw new Lost(`log of ${name}: the acknowledged commit ${missing} is not there`);
  }
  const messages = log.map(({ message }) => message);
  const twice = messages.find((message, i) => messages.indexOf(message) !== i);
  if (twice !== undefined) throw new Lost(`log of ${name}: "${twice}" was done twice`);
}

/** Reads every object of a branch and compares its bytes with the listing's sum. */
async function checkBytes({ commands, counts, folder }: Verification, name: string): Promise<void> {
  const listed = await commands.list(`lakefs://soak/${name}`);
  if (listed.size === 0) return;
  const got = join(folder, "got");
  await commands.text(["get", `lakefs://soak/${name}/`, got, "-r"]);
  checkVersions(`the bytes of ${name}`, sumsOf(got), listed);
  rmSync(got, { recursive: true });
  counts.objectsRead += listed.size;
}

function sumsOf(folder: string): Versions {
  const sums = new Map<string, string>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    sums.set(path.slice(folder.length + 1), createHash("md5").update(readFileSync(path)).digest("hex"));
  }
  return sums;
}
