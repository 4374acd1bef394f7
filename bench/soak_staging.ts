/** Processes that stage many objects each on one branch, while others commit it again and again. */

import { createHash } from "node:crypto";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { checkVersions } from "./soak_model.ts";
import { Commands, endOf, errorCodeOf, Lost } from "./soak_process.ts";

const BRANCH = "lakefs://staging/main";
/** Each process puts its objects in so many runs, and a commit has landed before each but the first. */
const RUNS = 5;

export interface StagingRun {
  readonly binary: string;
  /** An empty folder. */
  readonly folder: string;
  readonly environment: Readonly<Record<string, string>>;
  readonly processes: number;
  readonly objects: number;
}

export interface StagingResult {
  /** The commits that landed, the last one included. */
  readonly commits: number;
  /** The commits that landed before the last process had staged all. */
  readonly during: number;
}

/**
 * Runs it and compares: everything that was put is committed, with its bytes, and each object came by exactly one commit. Fails with
 * what is lost or doubled.
 */
export async function stageWhileCommitting(run: StagingRun): Promise<StagingResult> {
  const { binary, folder, environment, processes } = run;
  const commands = new Commands(binary, { folder, environment });
  await commands.text([
    "repo",
    "create",
    "lakefs://staging",
    "--storage-namespace",
    `local://${folder}/objects`,
  ]);
  const expected = new Map<string, string>();
  const folders = Array.from({ length: processes }, (_, i) => makeFiles(run, i, expected));
  let isStaging = true, during = 0;
  let landed = Promise.withResolvers<void>();
  const stage = async (from: string, number: number) => {
    for (let i = 0; i < RUNS; i++) {
      while (during < i && isStaging) await landed.promise;
      await commands.text(["put", `${BRANCH}/p${number}/r${i}/`, join(from, `r${i}`), "-r"]);
    }
  };
  const staging = Promise.all(folders.map(stage)).finally(() => isStaging = false);
  const committing = (async () => {
    while (isStaging) {
      if (!await commit(commands)) continue;
      during++;
      landed.resolve();
      landed = Promise.withResolvers();
    }
  })().finally(() => {
    isStaging = false;
    landed.resolve();
  });
  await Promise.all([staging, committing]);
  const commits = during + (await commit(commands) ? 1 : 0);
  checkVersions("staged changes", await stagedPaths(commands), new Map());
  checkVersions("what is committed", await commands.list(`${BRANCH}@`), expected);
  const got = join(folder, "got");
  // Each object is read and checked against its SHA-256.
  await commands.text(["get", `${BRANCH}@/`, got, "-r"]);
  rmSync(got, { recursive: true });
  await checkCounts(commands, { commits, objects: expected.size });
  return { commits, during };
}

function makeFiles({ folder, objects }: StagingRun, number: number, expected: Map<string, string>): string {
  const path = join(folder, `in-${number}`);
  for (let i = 0; i < RUNS; i++) mkdirSync(join(path, `r${i}`), { recursive: true });
  for (let i = 0; i < objects; i++) {
    const content = `object ${i} of process ${number}`, name = `r${i % RUNS}/f${i}`;
    writeFileSync(join(path, name), content);
    expected.set(`p${number}/${name}`, createHash("md5").update(content).digest("hex"));
  }
  return path;
}

/** Returns whether a commit landed: there may be nothing to commit, or others may have been faster. */
async function commit(commands: Commands): Promise<boolean> {
  const ended = await commands.run(["commit", BRANCH, "-m", "more", "--json"]);
  if (ended.code === 0) return true;
  if (["no_changes", "try_again"].includes(errorCodeOf(ended))) return false;
  throw new Lost(`commit: ${endOf(ended)}`);
}

async function stagedPaths(commands: Commands): Promise<Map<string, string>> {
  const staged = await commands.json(["status", BRANCH]) as { path: string; type: string }[];
  return new Map(staged.map(({ path, type }) => [path, type]));
}

interface Counted {
  readonly parents: readonly string[];
  readonly stat?: { readonly added: number; readonly removed: number; readonly changed: number };
}

/** What the commits added is together what is there: none of them took an object twice, or another's back. */
async function checkCounts(
  commands: Commands,
  expected: { commits: number; objects: number },
): Promise<void> {
  const log = await commands.json(["log", BRANCH, "--stat"]) as Counted[];
  const sum = (of: (commit: Counted) => number) => log.reduce((total, commit) => total + of(commit), 0);
  const found = {
    commits: log.filter(({ parents }) => parents.length > 0).length,
    added: sum(({ stat }) => stat?.added ?? 0),
    others: sum(({ stat }) => (stat?.removed ?? 0) + (stat?.changed ?? 0)),
  };
  const text = JSON.stringify(found);
  const must = JSON.stringify({ commits: expected.commits, added: expected.objects, others: 0 });
  if (text !== must) throw new Lost(`the log counts ${text}, not ${must}`);
}
