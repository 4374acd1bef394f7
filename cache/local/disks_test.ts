/** Disks that are full, or may only be read. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { it, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { runBinary } from "../../tests/support/binary.ts";
import { findTool, requireThat, requireTool } from "../../tests/support/requires.ts";
import { commandOf } from "../../tests/support/scripts.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { download, fetchAll, KEY, openTestCache } from "./testing.ts";

const CANNOT_MOUNT = 77;

/** Runs a program that may mount disks of its own; returns what it printed, or `undefined` where that is impossible. */
function runWithDisks(t: TestContext, name: string, folder: string): string | undefined {
  if (!requireTool(t, "unshare") || !requireTool(t, "mount")) return undefined;
  const program = fileURLToPath(new URL(`testdata/${name}`, import.meta.url));
  const { exitCode, stdout, stderr } = runBinary(["-rm", ...commandOf(program, folder)], {
    program: findTool("unshare"),
    folder,
    environment: { PATH: process.env["PATH"] ?? "" },
  });
  const mayMount = exitCode !== CANNOT_MOUNT && !stderr.startsWith("unshare:");
  if (!requireThat(t, mayMount, `no disk of its own can be made here: ${stderr.trim()}`)) return undefined;
  assert.equal(exitCode, 0, stderr);
  return stdout;
}

it("H56 a fetch onto a full disk is refused cleanly at each write, and succeeds with room", (t) => {
  const refused = runWithDisks(t, "small_disk.ts", temporaryFolder(t));
  if (refused === undefined) return;
  const [first, changed] = JSON.parse(refused) as [number, number];
  assert.ok(first > 10 && changed > 2, refused);
});

it("a cache that may only be read answers, and says why it does not write", async (t) => {
  const folder = temporaryFolder(t);
  const cache = await openTestCache(t, { root: join(folder, "cache") });
  await cache.file(KEY, { version: "v1" }, async () => download("one", "v1"));
  await fetchAll(cache, { a: "1", "d/b": "2" });
  // Time and inode are others: as where somebody else's copy is mounted.
  fs.cpSync(cache.root, join(folder, "copy"), { recursive: true });
  await cache.close();
  runWithDisks(t, "read_only.ts", folder);
});
