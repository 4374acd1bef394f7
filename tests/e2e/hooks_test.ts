/** Hooks that are programs: what an interrupt does to them, and what one that dies does to the work that it guards. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { binaryPath } from "../support/binary.ts";
import { type Home, openHome } from "../support/home.ts";

const MAIN = "lakefs://repo/main";
const posix = { skip: process.platform === "win32" ? "needs POSIX signals" : false };

interface HookedHome extends Home {
  /** What the hook was told, and what it says itself in between. */
  readonly lines: () => string[];
}

/** A home with a hook: `script` is run for each line that the hook is told; `say` writes a line down, FOLDER is the test's. */
async function withHook(t: TestContext, script: string): Promise<HookedHome> {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  for (const key of ["a", "b"]) await home.ok(["put", `${MAIN}/${key}`, "-"], { stdin: key });
  await home.ok(["branch", "lakefs://repo/dev", "--from", "main"]);
  const log = join(home.folder, "log");
  const hook = `#!/bin/sh
say() { echo "$1" >> "${log}"; }
while read -r line; do say "$line"
${script.replaceAll("FOLDER", home.folder)}
echo '{}'; done
say ended
`;
  fs.writeFileSync(join(home.folder, "hook"), hook, { mode: 0o755 });
  fs.writeFileSync(join(home.folder, "hooked.yaml"), 'hooks: ["exec:./hook"]\n');
  const lines = () => fs.existsSync(log) ? fs.readFileSync(log, "utf8").trimEnd().split("\n") : [];
  return { ...home, lines };
}

/** Runs a command, and when the hook says that it is at work interrupts all of its process group, as a key does. */
async function interrupted(
  home: HookedHome,
  line: string,
  signal: "SIGINT" | "SIGQUIT" = "SIGINT",
): Promise<{ code: unknown; stderr: string }> {
  const child = spawn(binaryPath(), [...line.split(" "), "--config", "hooked.yaml"], {
    cwd: home.folder,
    env: { TARN_HOME: home.path, TARN_USER: "tester" },
    stdio: ["ignore", "ignore", "pipe"],
    detached: true,
  });
  let stderr = "", isOver = false;
  child.stderr.setEncoding("utf8").on("data", (text: string) => stderr += text);
  const ended = new Promise((resolve) => {
    child.on("close", (code, signal) => {
      isOver = true;
      resolve(code ?? signal);
    });
  });
  while (!home.lines().includes("at work")) {
    assert.ok(!isOver, stderr);
    await sleep(10);
  }
  process.kill(-child.pid!, signal);
  return { code: await ended, stderr };
}

/** Much shorter than what a hook has for its last words, on a slow machine too. */
const WORK = 'say "at work"; sleep 0.3; say "worked"';
const INTERRUPTED = "tarn: Interrupted by SIGINT: what was not confirmed may or may not be done\n";

test("an interrupt leaves a hook at its work, and what that guards does not happen", posix, async (t) => {
  const home = await withHook(t, `case "$line" in *before*'"spot":"commit"'*) ${WORK} ;; esac`);
  assert.deepEqual(await interrupted(home, `commit ${MAIN} -m x`), { code: 130, stderr: INTERRUPTED });
  const lines = home.lines();
  assert.ok(lines.includes("worked"), "it was killed at its work");
  assert.ok(lines.some((line) => line.includes('"phase":"end"')), "it did not hear the end of the session");
  assert.equal(lines.at(-1), "ended");
  assert.equal((await home.json(["status", MAIN])).length, 2);
});

test("an interrupt while the session ends lets the hook hear that to the end", posix, async (t) => {
  const home = await withHook(t, `case "$line" in *before*'"phase":"end"'*) ${WORK} ;; esac`);
  assert.deepEqual(await interrupted(home, `commit ${MAIN} -m x`), { code: 130, stderr: INTERRUPTED });
  assert.deepEqual([home.lines().includes("worked"), home.lines().at(-1)], [true, "ended"]);
  assert.deepEqual(await home.json(["status", MAIN]), []);
});

test("a hook that does not end its work in time is killed, with what it has started", posix, async (t) => {
  const home = await withHook(
    t,
    `case "$line" in *before*'"spot":"commit"'*) say "at work"; sleep 7; say late ;; esac`,
  );
  const { code } = await interrupted(home, `commit ${MAIN} -m x`);
  assert.equal(code, 130);
  // Had it been waited for, or only left behind, it would have said so by then.
  await sleep(7500);
  assert.ok(!home.lines().includes("late"));
  assert.equal((await home.json(["status", MAIN])).length, 2);
});

test("a key that quits at once leaves no hook behind", posix, async (t) => {
  const home = await withHook(
    t,
    `case "$line" in *before*'"spot":"commit"'*) say "at work"; sleep 2; say late ;; esac`,
  );
  const ended = await interrupted(home, `commit ${MAIN} -m x`, "SIGQUIT");
  assert.deepEqual(ended, { code: 131, stderr: "" });
  await sleep(2500);
  assert.ok(!home.lines().includes("late"));
});

test("a hook that dies before a commit keeps it from happening", posix, async (t) => {
  const home = await withHook(t, `case "$line" in *before*'"spot":"commit"'*) kill -INT $$ ;; esac`);
  const { code, stderr } = await home.run(["commit", MAIN, "-m", "x", "--config", "hooked.yaml"]);
  assert.deepEqual([code, stderr], [8, 'tarn: Cannot go on: the hook "exec:./hook" ended with SIGINT\n']);
  assert.equal((await home.json(["status", MAIN])).length, 2);
});

const CHANGES: readonly (readonly [spot: string, line: string, uri: string, done: string])[] = [
  ["put", `put ${MAIN}/c hooked.yaml`, `${MAIN}/c`, "written"],
  ["delete", `rm ${MAIN}/c`, `${MAIN}/c`, "deleted"],
  ["commit", `commit ${MAIN} -m x`, MAIN, "committed"],
  ["branch", "branch lakefs://repo/new --from main", "lakefs://repo/new", "made"],
  ["merge", `merge ${MAIN} lakefs://repo/dev`, "lakefs://repo/dev", "merged into"],
];
const HINT = "\n  That is done and stays so: mend the hook, and do not run this again.\n";

for (
  const [how, reply, code, why] of [
    ["dies", "exit 3", 8, 'the hook "exec:./hook" ended with 3'],
    ["refuses", `echo '{"error":"too late"}'; continue`, 5, "too late"],
  ] as const
) {
  test(`a hook that ${how} after a change does not make it look undone`, posix, async (t) => {
    const home = await withHook(
      t,
      `case "$line" in *before*"$(cat FOLDER/spot)"*) is_it=yes ;; *before*) is_it=no ;;
      *) [ "$is_it" = yes ] && { ${reply}; } ;; esac`,
    );
    for (const [spot, line, uri, done] of CHANGES) {
      fs.writeFileSync(join(home.folder, "spot"), `"spot":"${spot}"`);
      const { code: exit, stderr } = await home.run([...line.split(" "), "--config", "hooked.yaml"]);
      assert.equal(stderr, `tarn: Cannot go on after "${uri}" was ${done}: ${why}${HINT}`);
      assert.equal(exit, code, line);
      if (spot === "put") await home.ok(["stat", `${MAIN}/c`]);
      if (spot === "delete") assert.equal((await home.run(["stat", `${MAIN}/c`])).code, 3);
      if (spot === "commit") assert.deepEqual(await home.json(["status", MAIN]), []);
    }
    assert.deepEqual(
      (await home.json(["ls", "lakefs://repo/new/"])).map(({ path }: { path: string }) => path),
      ["a", "b"],
    );
    assert.equal(await home.text(["cat", "lakefs://repo/dev/a"]), "a");
  });
}

test("a hook that dies at the end of the session does not make the work look undone", posix, async (t) => {
  const home = await withHook(t, `case "$line" in *'"phase":"end"'*) exit 3 ;; esac`);
  const commit = ["commit", MAIN, "-m", "x", "--config", "hooked.yaml"];
  const { code, stdout, stderr } = await home.run(commit);
  const why = 'tarn: Cannot end the session: the hook "exec:./hook" ended with 3\n';
  assert.deepEqual([code, stderr], [8, `${why}  All else that the command does is done.\n`]);
  assert.match(stdout.toString(), /^lakefs:\/\/repo\/[0-9a-f]{64}\n$/);
  // A command that failed does not say so.
  const again = await home.run(commit);
  assert.equal(again.code, 6);
  assert.doesNotMatch(again.stderr, /All else/);
});
