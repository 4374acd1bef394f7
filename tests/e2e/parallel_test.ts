/**
 * Many processes that commit, merge and stage on one branch at once, until each has got through: the branch holds exactly what
 * they brought, with its bytes, and its log counts each object once.
 */

import assert from "node:assert/strict";
import { test } from "node:test";
import { stageWhileCommitting } from "../../bench/soak_staging.ts";
import { binaryPath } from "../support/binary.ts";
import { type Home, openHome } from "../support/home.ts";
import { temporaryFolder } from "../support/temporary.ts";

const COMMITTERS = 20;
const MERGES = 10;
const STAGERS = 8;
const STAGED_EACH = 1000;
/** Whoever loses a race is told so; under this load nobody loses more often. */
const MOST_TRIES = 20;

const MAIN = "lakefs://repo/main";

const numbers = (count: number) => Array.from({ length: count }, (_, i) => i);

/** Runs a command until it is not told to try again; returns its exit code, one of those given. */
async function persist(home: Home, args: readonly string[], codes: readonly number[]): Promise<number> {
  for (let i = 0; i < MOST_TRIES; i++) {
    const { code, stderr } = await home.run([...args, "--json"]);
    if (code === 4 && JSON.parse(stderr).code === "try_again") continue;
    assert.ok(code !== null && codes.includes(code), `tarn ${args.join(" ")}: exit ${code}\n${stderr}`);
    return code;
  }
  assert.fail(`tarn ${args.join(" ")}: told to try again ${MOST_TRIES} times`);
}

async function putAndCommit(home: Home, path: string, branch = MAIN): Promise<number> {
  await home.ok(["put", `${branch}/${path}`, "-"], { stdin: `of ${path}` });
  // Another's commit may have taken this change; then there is nothing left to commit.
  return await persist(home, ["commit", branch, "-m", path], [0, 6]);
}

/** Fails unless the branch's last commit holds exactly these objects, each with its bytes, and nothing is staged. */
async function checkObjects(home: Home, paths: readonly string[]): Promise<void> {
  const listed = await home.json(["ls", "-r", `${MAIN}@`]) as { path: string }[];
  assert.deepEqual(listed.map(({ path }) => path), [...paths].sort());
  for (const path of paths) assert.equal(await home.text(["cat", `${MAIN}@/${path}`]), `of ${path}`);
  assert.deepEqual(await home.json(["status", MAIN]), []);
}

interface Logged {
  readonly message: string;
  readonly stat: { readonly added: number; readonly removed: number; readonly changed: number };
}

/** Returns the messages of the branch's commits but the first, and what they added; none of them may have done anything else. */
async function countedLog(home: Home): Promise<{ messages: string[]; added: number[] }> {
  const log = (await home.json(["log", MAIN, "--stat"]) as Logged[]).slice(0, -1);
  for (const { message, stat } of log) assert.deepEqual([stat.removed, stat.changed], [0, 0], message);
  return { messages: log.map(({ message }) => message).sort(), added: log.map(({ stat }) => stat.added) };
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0);

test(`of ${COMMITTERS} parallel commits each that was acknowledged is in the log once, and each object in one of them`, async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  const paths = numbers(COMMITTERS).map((i) => `f${i}`);
  const codes = await Promise.all(paths.map((path) => putAndCommit(home, path)));
  await checkObjects(home, paths);
  const { messages, added } = await countedLog(home);
  assert.deepEqual(messages, paths.filter((_, i) => codes[i] === 0).sort());
  assert.equal(sum(added), COMMITTERS);
  assert.ok(added.every((count) => count > 0), "a commit without changes was made");
});

test(`${MERGES} parallel merges into one branch that is committed meanwhile all get through, each once`, async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  const sources = numbers(MERGES).map((i) => `b${i}`);
  for (const source of sources) {
    await home.ok(["branch", `lakefs://repo/${source}`, "--from", "main"]);
    await putAndCommit(home, source, `lakefs://repo/${source}`);
  }
  const merge = (source: string) =>
    persist(home, ["merge", `lakefs://repo/${source}`, MAIN, "-m", source, "--keep-staged"], [0]);
  const others = ["m0", "m1"];
  const [, codes] = await Promise.all([
    Promise.all(sources.map(merge)),
    Promise.all(others.map((path) => putAndCommit(home, path))),
  ]);
  await checkObjects(home, [...sources, ...others]);
  const { messages, added } = await countedLog(home);
  assert.deepEqual(messages, [...sources, ...others.filter((_, i) => codes[i] === 0)].sort());
  assert.equal(sum(added), MERGES + others.length);
});

test(`${STAGERS} processes stage ${STAGED_EACH} objects each while the branch is committed: none is lost or doubled`, async (t) => {
  const folder = temporaryFolder(t);
  const { commits, during } = await stageWhileCommitting({
    binary: binaryPath(),
    folder,
    environment: { TARN_HOME: `${folder}/home`, TARN_USER: "tester" },
    processes: STAGERS,
    objects: STAGED_EACH,
  });
  t.diagnostic(`${commits} commits, ${during} of them meanwhile`);
  assert.ok(during > 1, "staging and committing were at once");
});
