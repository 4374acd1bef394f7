/** Lock files that are no files, and folders that somebody holds: nothing waits so that no signal ends it. */

import assert from "node:assert/strict";
import { execFileSync, spawn } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { openProcessLock } from "../../base/platform.ts";
import { binaryPath } from "../support/binary.ts";
import { openHome } from "../support/home.ts";
import { requireThat, requireTool } from "../support/requires.ts";

const URI = "lakefs://repo/main/a";

test("pin --write goes on in a folder that who runs it has locked", async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["put", URI, "-"], { stdin: "a" });
  await home.ok(["commit", "lakefs://repo/main", "-m", "x"]);
  const lock = await openProcessLock(home.folder, { readOnly: true });
  if (!requireThat(t, lock !== undefined, "this runtime has no locks between processes") || !lock) return;
  t.after(() => lock.close());
  assert.ok(lock.tryLock());
  await home.ok(["pin", "--write", "tarn.lock", URI], { timeoutMs: 60_000 });
  assert.ok(fs.readFileSync(join(home.folder, "tarn.lock"), "utf8").includes(URI));
});

test("a FIFO is no lock file to write, and a signal ends who reads one", async (t) => {
  if (!requireTool(t, "mkfifo")) return;
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["put", URI, "-"], { stdin: "a" });
  await home.ok(["commit", "lakefs://repo/main", "-m", "x"]);
  const fifo = join(home.folder, "fifo");
  execFileSync("mkfifo", [fifo]);
  const { code, stderr } = await home.run(["pin", "--write", "fifo", URI], { timeoutMs: 60_000 });
  assert.equal(code, 2);
  assert.match(stderr, /^tarn: Cannot use the lock file "fifo": it is a device, FIFO or socket\n/);
  for (const command of [["pin", "--check", "--lock", fifo], ["fetch", "--locked", fifo]]) {
    const child = spawn(binaryPath(), command, { env: { TARN_HOME: home.path }, stdio: "ignore" });
    const ended = new Promise((resolve) => child.on("close", (code, killed) => resolve(code ?? killed)));
    // By then it waits for a writer.
    await sleep(500);
    child.kill("SIGTERM");
    const killer = setTimeout(() => child.kill("SIGKILL"), 20_000);
    assert.equal(await ended, 143, command.join(" "));
    clearTimeout(killer);
  }
  // What a shell makes of `<(…)` is read to its end.
  await home.ok(["pin", "--write", "tarn.lock", URI]);
  const checked = home.text(["pin", "--check", "--lock", "fifo"]);
  await fs.promises.writeFile(fifo, fs.readFileSync(join(home.folder, "tarn.lock")));
  assert.equal(await checked, "Nothing has moved: 1 URI checked\n");
});
