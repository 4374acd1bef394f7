import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { requireTool } from "../../tests/support/requires.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";

const PROGRAM = fileURLToPath(new URL("./testdata/process.ts", import.meta.url));

/**
 * Runs a program under strace and returns what it did to LMDB's files, in order, each call with whether it then held
 * `writer.lock`. What LMDB stores in shared memory shows in no trace, but it does so between these calls.
 */
function tracedCalls(mode: string, folder: string): { readonly call: string; readonly isLocked: boolean }[] {
  const trace = join(folder, "trace");
  const calls = "trace=openat,flock,fcntl,pwrite64,pwritev,writev,write";
  execFileSync("strace", [
    "-f",
    "-y",
    "-e",
    calls,
    "-o",
    trace,
    process.execPath,
    PROGRAM,
    mode,
    join(folder, "db"),
    "",
  ]);
  let isLocked = false;
  const found = [];
  for (const line of readFileSync(trace, "utf8").split("\n")) {
    if (/flock\(\d+<[^>]*writer\.lock>, LOCK_/.test(line)) isLocked = line.includes("LOCK_EX");
    else if (/openat\(.*lock\.mdb"/.test(line)) found.push({ call: "open", isLocked });
    else if (/fcntl\(.*lock\.mdb>, F_SETLKW?, .*l_start=0/.test(line)) {
      found.push({ call: "lock region", isLocked });
    } else if (/write\w*\(\d+<[^>]*data\.mdb/.test(line)) found.push({ call: "write", isLocked });
  }
  return found;
}

test("whoever opens, writes or closes holds the lock", (t) => {
  if (!requireTool(t, "strace")) return;
  const calls = tracedCalls("single", temporaryFolder(t));
  for (const kind of ["open", "lock region", "write"]) {
    assert.ok(calls.some(({ call }) => call === kind), kind);
  }
  assert.deepEqual(calls.filter(({ isLocked }) => !isLocked), []);
});

test("the trace shows that the package by itself holds no such lock", (t) => {
  if (!requireTool(t, "strace")) return;
  assert.ok(tracedCalls("planted", temporaryFolder(t)).every(({ isLocked }) => !isLocked));
});
