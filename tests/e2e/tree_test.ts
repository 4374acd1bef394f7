/** Real trees through the executable: put, committed, listed, diffed, merged, and got back byte for byte. */

import assert from "node:assert/strict";
import { readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openHome } from "../support/home.ts";
import { addOddNames, compareTrees, HOSTILE_PATHS, makeHostileTree, makeRealTree } from "../support/tree.ts";

const FILES = 100_000;

test(`a tree of ${FILES} real files comes back byte-identical, changed and merged on the way`, async (t) => {
  const home = openHome(t);
  const tree = join(home.folder, "tree");
  makeRealTree(tree, FILES);
  await home.ok(["repo", "create", "lakefs://repo"]);
  const put = await home.json(["put", "lakefs://repo/main/", tree, "-r"]);
  assert.deepEqual([put.put, put.failed], [FILES, 0]);
  await home.ok(["commit", "lakefs://repo/main", "-m", "all"]);
  assert.equal((await home.text(["ls", "-r", "lakefs://repo/main"])).trimEnd().split("\n").length, FILES);
  const again = await home.json(["put", "lakefs://repo/main/", tree, "-r"]);
  assert.deepEqual([again.put, again.unchanged], [0, FILES]);

  // Both sides change: one replaces a file and adds one, the other moves a whole copy.
  await home.ok(["branch", "lakefs://repo/side", "--from", "main"]);
  const [copy] = readdirSync(tree).sort();
  renameSync(join(tree, copy!), join(tree, "moved"));
  await home.ok(["put", "lakefs://repo/side/moved/", join(tree, "moved"), "-r"]);
  await home.ok(["rm", `lakefs://repo/side/${copy}/`, "-r"]);
  await home.ok(["commit", "lakefs://repo/side", "-m", "moved"]);
  writeFileSync(join(tree, "added"), "added");
  await home.ok(["put", "lakefs://repo/main/added", join(tree, "added")]);
  await home.ok(["commit", "lakefs://repo/main", "-m", "added"]);
  await home.ok(["merge", "lakefs://repo/side", "lakefs://repo/main"]);
  const diff = await home.json(["diff", "lakefs://repo/main~1", "lakefs://repo/main"]);
  const count = (type: string) => diff.filter((item: { type: string }) => item.type === type).length;
  const moved = (await home.json(["ls", "-r", "lakefs://repo/main/moved/"])).length;
  assert.ok(moved > 100);
  assert.deepEqual([count("added"), count("removed"), count("changed")], [moved, moved, 0]);

  const got = join(home.folder, "got");
  await home.ok(["get", "lakefs://repo/main/", got, "-r"]);
  assert.deepEqual(compareTrees(tree, got), []);
});

test("names with spaces, +, %, newlines, emoji, NFC and NFD, 255-byte segments, and empty files come back as they are", async (t) => {
  const home = openHome(t);
  const tree = join(home.folder, "tree");
  const written = makeHostileTree(tree);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["put", "lakefs://repo/main/", tree, "-r"]);
  await home.ok(["commit", "lakefs://repo/main", "-m", "all"]);
  const listed = await home.json(["ls", "-r", "lakefs://repo/main"]);
  assert.deepEqual(
    new Set(listed.map(({ path }: { path: string }) => path)),
    new Set(written.keys()),
  );
  for (const path of HOSTILE_PATHS.slice(0, 12)) {
    const { stdout } = await home.ok(["cat", "lakefs://repo/main", "--key", path]);
    assert.deepEqual(new Uint8Array(stdout), written.get(path), path);
  }
  // Two names in it differ only in case, which get refuses; without them all comes back.
  const refused = await home.run(["get", "lakefs://repo/main/", join(home.folder, "got"), "-r"]);
  assert.equal(refused.code, 2, refused.stderr);
  for (const path of ["Case", "a", "nfd/cafe\u0301"]) {
    rmSync(join(tree, path), { recursive: true, force: true });
    await home.run(["rm", "lakefs://repo/main", "--key", path]);
  }
  const retry = await home.run(["get", "lakefs://repo/main/", join(home.folder, "got"), "-r"]);
  assert.equal(retry.code, 0, retry.stderr);
  assert.deepEqual(compareTrees(tree, join(home.folder, "got")), []);
});

test("symlinks, special files and names that are not UTF-8 are named, counted and left out; the rest is put", async (t) => {
  const home = openHome(t);
  const tree = join(home.folder, "tree");
  makeHostileTree(tree, { randomFiles: 3 });
  const odd = addOddNames(tree);
  await home.ok(["repo", "create", "lakefs://repo"]);
  const put = await home.run(["put", "lakefs://repo/main/", tree, "-r", "--json"]);
  assert.equal(put.code, 7, put.stderr);
  const document = JSON.parse(put.stdout.toString());
  assert.equal(document.put, HOSTILE_PATHS.length + 3 + 1);
  assert.equal(document.failed, odd.symlinks.length + odd.specials.length + odd.undecodable.length);
  for (const path of [...odd.symlinks, ...odd.specials]) assert.ok(put.stderr.includes(path), path);
  assert.match(put.stderr, /bad\\xff\\xfe/i);
  const listed = await home.json(["ls", "-r", "lakefs://repo/main/odd/"]);
  assert.deepEqual(listed.map(({ path }: { path: string }) => path), ["odd/real/file"]);
});

test("a namespace shows _lakefs/ and data/ only, objects in few folders", async (t) => {
  const home = openHome(t);
  const namespace = join(home.folder, "namespace");
  await home.ok(["repo", "create", "lakefs://repo", "--storage-namespace", `local://${namespace}`]);
  const tree = join(home.folder, "tree");
  makeRealTree(tree, 600);
  await home.ok(["put", "lakefs://repo/main/", tree, "-r"]);
  await home.ok(["commit", "lakefs://repo/main", "-m", "all"]);
  assert.deepEqual(readdirSync(namespace).sort(), ["_lakefs", "data"]);
  assert.ok(readdirSync(join(namespace, "data")).length <= 4);
  for (const name of readdirSync(join(namespace, "_lakefs"))) assert.match(name, /^[0-9a-f]{64}$/);
});
