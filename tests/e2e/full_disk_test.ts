/** Disks without room and files that may not grow, at every write of the commands that write. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { runBinary } from "../support/binary.ts";
import { CASES, type Disk, makeStart, tryAllRooms } from "../support/full_disk.ts";
import { findTool, requireThat, requireTool } from "../support/requires.ts";
import { commandOf } from "../support/scripts.ts";

const PROGRAM = fileURLToPath(new URL("testdata/small_disk.ts", import.meta.url));
const CANNOT_MOUNT = 77;
/** What writes more than a transaction of few pages, for which LMDB finds pages that it had freed. */
const NEED_ROOM = ["put", "put -r", "commit", "merge", "init", "repo create without a home"];
const folder = fs.mkdtempSync("/tmp/tarn-test-");

describe("without room", { skip: process.platform === "win32" ? "needs a POSIX shell" : false }, () => {
  before(() => makeStart(folder));
  after(() => fs.rmSync(folder, { recursive: true, force: true }));

  for (const name of NEED_ROOM) {
    it(`H56 on a full disk ${name} is refused cleanly at each write, and succeeds with room`, (t) => {
      if (!requireTool(t, "unshare") || !requireTool(t, "mount")) return;
      const { exitCode, stdout, stderr } = runBinary(["-rm", ...commandOf(PROGRAM, folder, name)], {
        program: findTool("unshare"),
        folder,
        environment: { PATH: process.env["PATH"] ?? "" },
      });
      const mayMount = exitCode !== CANNOT_MOUNT && !stderr.startsWith("unshare:");
      if (!requireThat(t, mayMount, `no disk of its own can be made here: ${stderr.trim()}`)) return;
      assert.equal(exitCode, 0, stderr);
      assert.match(stdout, new RegExp(`^${name}: \\d+\n$`));
    });
  }

  for (const name of Object.keys(CASES).filter((name) => !name.startsWith("put"))) {
    it(`where files may not grow ${name} is refused cleanly at each write, and succeeds later`, () => {
      assert.ok(tryAllRooms(folder, { name, disk: limitedFiles(join(folder, "limited")) }) > 0);
    });
  }
});

/** A limit on the size of files; a shell counts it in 512 bytes. */
function limitedFiles(place: string): Disk {
  fs.mkdirSync(place, { recursive: true });
  const script = `trap '' XFSZ; ulimit -f "$1"; shift; exec "$@"`;
  return {
    folder: place,
    stepPages: 2,
    limit: (bytes) => ["/bin/sh", "-c", script, "sh", `${bytes / 512}`],
    free: () => {},
  };
}
