/** Disks without room and files that may not grow, at every write of the commands that write. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { binaryPath, runBinary } from "../support/binary.ts";
import { CASES, type Disk, makeStart, tryAllRooms } from "../support/full_disk.ts";
import { openHome } from "../support/home.ts";
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

describe("what the storage does not take", {
  skip: process.platform === "win32" ? "needs a POSIX shell" : false,
}, () => {
  /** Runs a put in a shell that has limited it; returns the error and the namespace. */
  function refusedPut(limit: string, args: readonly string[], t: { after(done: () => void): void }) {
    const home = openHome(t);
    const [environment, tarn] = [{ PATH: process.env["PATH"] ?? "", TARN_HOME: home.path }, binaryPath()];
    fs.mkdirSync(join(home.folder, "many"));
    for (let i = 0; i < 40; i++) {
      fs.writeFileSync(join(home.folder, "many", `${i}`), new Uint8Array(2_000_000));
    }
    const run = (script: string, ...words: string[]) =>
      spawnSync("sh", ["-c", script, "sh", tarn, ...words], {
        cwd: home.folder,
        env: environment,
        encoding: "utf8",
      });
    assert.equal(run('"$@"', "repo", "create", "lakefs://repo").status, 0);
    const { status, stderr } = run(`${limit}; exec "$@"`, "put", ...args);
    const [namespace] = fs.readdirSync(join(home.path, "storage"));
    const left = fs.readdirSync(join(home.path, "storage", namespace!, "data"), {
      recursive: true,
      withFileTypes: true,
    });
    return {
      status,
      stderr: stderr.replaceAll(namespace!, "NAME"),
      left: left.filter((entry) => entry.isFile()),
    };
  }

  it("is told with the user's file, and nothing of it stays", (t) => {
    const { status, stderr, left } = refusedPut("trap '' XFSZ; ulimit -f 500", [
      "lakefs://repo/main/x",
      "many/7",
    ], t);
    assert.equal(status, 8);
    assert.equal(
      stderr,
      'tarn: Cannot put "many/7" to the storage namespace "local://NAME": the object is larger than a file may be here\n' +
        "  Make room and run it again; nothing that was confirmed is lost.\n",
    );
    assert.deepEqual(left, []);
  });

  it("too many open files are told with a way out", (t) => {
    const { status, stderr, left } = refusedPut("ulimit -n 18", ["lakefs://repo/main/", "many", "-r"], t);
    assert.equal(status, 8, stderr);
    assert.match(
      stderr,
      /^tarn: Cannot (put "many\/\d+" to the storage namespace|write to) "local:\/\/NAME": too many files are open\n {2}Raise the limit on open files \(ulimit -n\), .*\n$/,
    );
    assert.deepEqual(left, []);
  });
});
