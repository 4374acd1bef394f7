/** A folder that is got again: files that hold their objects' bytes already are left as they are, and all others are not. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { type Home, openHome } from "../support/home.ts";

const MAIN = "lakefs://repo/main";
const LARGE = Buffer.alloc(3_000_000, "large ");
const LONG_AGO = new Date("2001-02-03T04:05:06Z");
const posix = { skip: process.platform === "win32" ? "needs symlinks and inodes" : false };

async function gotOnce(t: Parameters<typeof openHome>[0]): Promise<Home & { readonly out: string }> {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  const files: Record<string, string | Uint8Array> = {
    a: "of a",
    "d/b": "of b",
    "d/empty": "",
    large: LARGE,
  };
  for (const [key, stdin] of Object.entries(files)) await home.ok(["put", `${MAIN}/${key}`, "-"], { stdin });
  await home.ok(["get", `${MAIN}/`, "out", "-r"]);
  const out = join(home.folder, "out");
  for (const key of Object.keys(files)) {
    fs.chmodSync(join(out, key), 0o640);
    fs.utimesSync(join(out, key), LONG_AGO, LONG_AGO);
  }
  return { ...home, out };
}

/** What anybody could see change of a file. */
function lookOf(path: string): unknown[] {
  const { ino, mode, mtimeMs, ctimeMs, size } = fs.lstatSync(path);
  return [ino, mode, mtimeMs, ctimeMs, size];
}

test("get -r and cp -r leave files as they are that hold their objects' bytes", posix, async (t) => {
  const { out, ...home } = await gotOnce(t);
  const files = ["a", "d/b", "d/empty", "large"].map((key) => join(out, key));
  const before = files.map(lookOf);
  assert.equal(await home.text(["get", `${MAIN}/`, "out", "-r"]), "Got 0 files (0 B), 4 unchanged\n");
  const { got, unchanged, failed, size_bytes } = await home.json(["get", `${MAIN}/`, "out", "-r"]);
  assert.deepEqual([got, unchanged, failed, size_bytes], [0, 4, 0, 0]);
  assert.equal(await home.text(["cp", `${MAIN}/`, "out", "-r"]), "Copied 0 objects (0 B), 4 unchanged\n");
  assert.deepEqual(files.map(lookOf), before);
  assert.deepEqual(fs.readdirSync(out).sort(), ["a", "d", "large"]);
});

test("get -r writes every file again that differs, whatever its size and its times say", posix, async (t) => {
  const { out, ...home } = await gotOnce(t);
  const path = (key: string) => join(out, key);
  const change = (key: string, text: string | Uint8Array) => {
    fs.writeFileSync(path(key), text);
    fs.utimesSync(path(key), LONG_AGO, LONG_AGO);
  };
  change("a", "OF A");
  change("d/b", "of b, and more");
  // Torn: of the right size, with nothing behind its first half.
  change("large", Buffer.concat([LARGE.subarray(0, 1_500_000), Buffer.alloc(1_500_000)]));
  assert.equal(await home.text(["get", `${MAIN}/`, "out", "-r"]), "Got 3 files (3.0 MB), 1 unchanged\n");
  assert.equal(fs.readFileSync(path("a"), "utf8"), "of a");
  assert.equal(fs.readFileSync(path("d/b"), "utf8"), "of b");
  assert.ok(fs.readFileSync(path("large")).equals(LARGE));
  // A symlink is no file, even if what it leads to holds the bytes.
  fs.renameSync(path("a"), join(home.folder, "elsewhere"));
  fs.symlinkSync(join(home.folder, "elsewhere"), path("a"));
  fs.rmSync(path("d/b"));
  assert.equal(await home.text(["get", `${MAIN}/`, "out", "-r"]), "Got 2 files (8 B), 2 unchanged\n");
  assert.deepEqual(["a", "d/b"].map((key) => fs.lstatSync(path(key)).isFile()), [true, true]);
});

test("mv -r moves what is there already", posix, async (t) => {
  const { out, ...home } = await gotOnce(t);
  fs.writeFileSync(join(out, "a"), "else");
  assert.equal(await home.text(["mv", `${MAIN}/`, "out", "-r"]), "Moved 4 objects (3.0 MB)\n");
  assert.equal(fs.readFileSync(join(out, "a"), "utf8"), "of a");
  assert.deepEqual(await home.json(["ls", "-r", MAIN]), []);
});

test(
  "get -r writes a file anew that is a second name of another one, such as of the object's own",
  posix,
  async (t) => {
    const { out, ...home } = await gotOnce(t);
    const objects = fs.readdirSync(join(home.path, "storage"), { recursive: true, withFileTypes: true })
      .filter((entry) =>
        entry.isFile() && fs.readFileSync(join(entry.parentPath, entry.name), "utf8") === "of a"
      );
    const object = join(objects[0]!.parentPath, objects[0]!.name);
    fs.rmSync(join(out, "a"));
    fs.linkSync(object, join(out, "a"));
    assert.equal(await home.text(["get", `${MAIN}/`, "out", "-r"]), "Got 1 file (4 B), 3 unchanged\n");
    assert.equal(fs.statSync(object).nlink, 1);
    fs.appendFileSync(join(out, "a"), " and more");
    assert.equal(await home.text(["cat", `${MAIN}/a`]), "of a");
  },
);
