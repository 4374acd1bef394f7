/** Putting folders again and again, moving and finding, by the executable. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { test, type TestContext } from "node:test";
import { type Home, openHome } from "../support/home.ts";

async function homeWithTree(t: TestContext, count = 300) {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  const tree = join(home.folder, "tree");
  for (let i = 0; i < count; i++) {
    const folder = join(tree, `d${i % 7}`);
    fs.mkdirSync(folder, { recursive: true });
    fs.writeFileSync(join(folder, `f${i}`), `content ${i}`);
  }
  return { home, tree };
}

async function put(home: Home, ...more: string[]): Promise<[put: number, unchanged: number]> {
  const { put, unchanged } = await home.json(["put", "lakefs://repo/main/p", "tree", "-r", ...more]);
  return [put, unchanged];
}

/** Waits until files lie still long enough for the index to speak for them. */
const settle = () => new Promise((resolve) => setTimeout(resolve, 3100));

test("a put that is run again sees every change, whatever was done to the times", async (t) => {
  const { home, tree } = await homeWithTree(t);
  await settle();
  assert.deepEqual(await put(home), [300, 0]);
  assert.deepEqual(await put(home), [0, 300]);
  const path = join(tree, "d1/f1");
  const { atime, mtime } = fs.statSync(path);
  const check = async (text: string) =>
    assert.equal(await home.text(["cat", "lakefs://repo/main/p/d1/f1"]), text);

  fs.writeFileSync(path, "CONTENT 1");
  fs.utimesSync(path, atime, mtime);
  assert.deepEqual(await put(home), [1, 299]);
  await check("CONTENT 1");

  // Written twice in a row, of one size: the second may fall into the same tick as the first.
  for (const text of ["content A", "content B", "content C"]) {
    fs.writeFileSync(path, text);
    assert.deepEqual(await put(home), [1, 299]);
    await check(text);
  }

  fs.utimesSync(path, new Date(), new Date());
  assert.deepEqual(await put(home), [0, 300]);

  fs.copyFileSync(join(tree, "d2/f2"), `${path}.new`);
  fs.utimesSync(`${path}.new`, atime, mtime);
  fs.renameSync(`${path}.new`, path);
  assert.deepEqual(await put(home), [1, 299]);
  await check("content 2");
});

test("what is known of the files says nothing of what is on the branch", async (t) => {
  const { home, tree } = await homeWithTree(t);
  await settle();
  await put(home);
  await home.ok(["commit", "lakefs://repo/main", "-m", "first"]);
  assert.deepEqual(await put(home), [0, 300]);
  assert.deepEqual(await put(home), [0, 300]);
  const uri = "lakefs://repo/main/p/d3/f3";
  for (const change of [["rm", uri], ["cp", "lakefs://repo/main/p/d1/f1", uri], ["put", uri, "tree/d1/f1"]]) {
    await home.ok(change);
    assert.deepEqual(await put(home), [1, 299], change.join(" "));
    await home.ok(change);
    await home.ok(["commit", "lakefs://repo/main", "-m", change[0]!]);
    assert.deepEqual(await put(home), [1, 299], change.join(" "));
    await home.run(["commit", "lakefs://repo/main", "-m", "back"]);
    assert.deepEqual(await put(home), [0, 300]);
  }
  assert.deepEqual(await put(home, "--content-type", "text/plain"), [300, 0]);
  assert.deepEqual(await put(home, "--content-type", "text/plain"), [0, 300]);
  await home.ok(["commit", "lakefs://repo/main", "-m", "types"]);
  // What is not named stays as it is, and says nothing of what is named next.
  for (let round = 0; round < 2; round++) assert.deepEqual(await put(home), [0, 300]);
  assert.deepEqual(await put(home, "--content-type", "application/octet-stream"), [300, 0]);
  assert.deepEqual((await home.json(["put", "lakefs://repo/main/q", "tree", "-r"])).put, 300);
  await home.ok(["repo", "delete", "lakefs://repo", "--yes"]);
  await home.ok(["repo", "create", "lakefs://repo"]);
  assert.deepEqual(await put(home), [300, 0]);
  assert.equal(await home.text(["cat", uri]), fs.readFileSync(join(tree, "d3/f3"), "utf8"));
});

test("an index that is damaged, gone, or in the way of nothing costs time only", async (t) => {
  const { home } = await homeWithTree(t, 50);
  await settle();
  await put(home);
  const folder = join(home.path, "index");
  const [name] = fs.readdirSync(folder);
  const whole = fs.readFileSync(join(folder, name!));
  for (
    const bytes of [
      whole.subarray(0, whole.length - 10),
      whole.map((byte) => byte ^ 0xff),
      new Uint8Array(0),
    ]
  ) {
    fs.writeFileSync(join(folder, name!), bytes);
    assert.deepEqual(await put(home), [0, 50]);
    assert.ok(fs.statSync(join(folder, name!)).size > 50 * 80, "it was made anew");
  }
  fs.rmSync(folder, { recursive: true });
  fs.writeFileSync(folder, "");
  assert.deepEqual(await put(home), [0, 50]);
  assert.deepEqual(await put(home, "--reread"), [0, 50]);
});

test("a home in the folder that is put is left out", async (t) => {
  const home = openHome(t);
  const env = { TARN_HOME: "" };
  fs.mkdirSync(join(home.folder, "project"));
  fs.writeFileSync(join(home.folder, "project/a"), "x");
  const project = { env, cwd: join(home.folder, "project") };
  await home.ok(["init"], project);
  await home.ok(["repo", "create", "lakefs://repo"], project);
  await home.ok(["put", "lakefs://repo/main", ".", "-r"], project);
  assert.equal(await home.text(["find", "lakefs://repo/main"], project), "lakefs://repo/main/a\n");
});

test("mv -r that is killed loses nothing: each file is here or there", async (t) => {
  const { home, tree } = await homeWithTree(t, 2000);
  for (let round = 0; round < 6; round++) {
    await home.run(["mv", "-r", "tree", "lakefs://repo/main/p"], { killAfterMs: 30 + round * 60 });
    const there = await pathsUnder(home, "lakefs://repo/main/p");
    for (let i = 0; i < 2000; i++) {
      const key = `d${i % 7}/f${i}`;
      assert.ok(there.has(key) || fs.existsSync(join(tree, key)), `${key} is gone`);
    }
  }
  await home.run(["mv", "-r", "tree", "lakefs://repo/main/p"]);
  assert.equal(fs.existsSync(tree), false);
  await home.ok(["get", "lakefs://repo/main/p", "back", "-r"]);
  for (let i = 0; i < 2000; i++) {
    assert.equal(fs.readFileSync(join(home.folder, "back", `d${i % 7}/f${i}`), "utf8"), `content ${i}`);
  }
});

test("names of all kinds survive cp, mv and find", async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  const names = [
    "a b",
    "100%",
    "q?at=x#y",
    "new\nline",
    "😀",
    "caf\u00e9",
    "-rf",
    "back\\slash",
  ];
  for (const name of names) {
    fs.mkdirSync(join(home.folder, "in"), { recursive: true });
    fs.writeFileSync(join(home.folder, "in", name), name);
  }
  await home.ok(["cp", "-r", "in", "lakefs://repo/main/a"]);
  await home.ok(["mv", "-r", "lakefs://repo/main/a", "lakefs://repo/main/b/"]);
  const uris = (await home.text(["find", "lakefs://repo/main"])).trimEnd().split("\n");
  assert.equal(uris.length, names.length);
  for (const uri of uris) assert.ok(names.includes(await home.text(["cat", uri])), uri);
  await home.ok(["mv", "-r", "lakefs://repo/main/b", "out"]);
  assert.deepEqual(fs.readdirSync(join(home.folder, "out")).sort(), [...names].sort());
  assert.equal(await home.text(["find", "lakefs://repo/main"]), "");
});

test("mv -r takes no folder of tarn's own, and puts every file before it goes, whatever seems to be stored", async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok([
    "repo",
    "create",
    "lakefs://inner",
    "--storage-namespace",
    `local://${home.folder}/tree/store`,
  ]);
  fs.mkdirSync(join(home.folder, "tree"), { recursive: true });
  fs.writeFileSync(join(home.folder, "tree/x"), "precious");
  for (const own of [home.path, join(home.path, "storage"), join(home.folder, "tree/store")]) {
    fs.mkdirSync(own, { recursive: true });
    const refused = await home.run(["mv", "-r", own, "lakefs://repo/main/own/"]);
    assert.equal(refused.code, 2, refused.stderr);
  }
  await home.ok(["put", "-r", "lakefs://repo/main/", "tree"]);
  await home.ok(["put", "-r", "lakefs://inner/main/", "tree"]);
  await home.ok(["commit", "lakefs://repo/main", "-m", "all"]);
  const { physical_address } = await home.json(["stat", "lakefs://repo/main/x"]);
  fs.writeFileSync(join(home.path, "storage", physical_address.slice("local://".length)), "pRecious");
  await home.ok(["mv", "-r", "tree", "lakefs://repo/main/"]);
  assert.equal(await home.text(["cat", "lakefs://repo/main/x"]), "precious");
  assert.equal(await home.text(["cat", "lakefs://inner/main/x"]), "precious");
});

test("mv keeps the name of an empty file, and writes no two objects into one file through a symlink", async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  for (const name of ["e1", "e2"]) {
    fs.writeFileSync(join(home.folder, name), "");
    await home.ok(["mv", name, "lakefs://repo/main/dir/"]);
  }
  const listed = await home.json(["ls", "-r", "lakefs://repo/main/dir/"]);
  assert.deepEqual(listed.map(({ path }: { path: string }) => path), ["dir/e1", "dir/e2"]);

  fs.mkdirSync(join(home.folder, "target/d2"), { recursive: true });
  fs.symlinkSync("d2", join(home.folder, "target/d1"));
  for (const name of ["d1", "d2"]) {
    await home.ok(["put", `lakefs://repo/main/c/${name}/f`, "-"], { stdin: name });
  }
  await home.run(["mv", "-r", "lakefs://repo/main/c/", "target"]);
  // Each is where it was, or where it was moved to.
  for (const name of ["d1", "d2"]) {
    const kept = await home.run(["cat", `lakefs://repo/main/c/${name}/f`]);
    const moved = fs.readFileSync(join(home.folder, "target", name, "f"), { encoding: "utf8", flag: "a+" });
    assert.ok(kept.stdout.toString() === name || moved === name, name);
  }
});

/** Returns the paths below a URI, which may have nothing yet. */
async function pathsUnder(home: Home, uri: string): Promise<ReadonlySet<string>> {
  const { code, stdout, stderr } = await home.run(["find", uri, "--json"]);
  if (code === 3) return new Set();
  assert.equal(code, 0, stderr);
  return new Set(
    (JSON.parse(stdout.toString()) as { path: string }[]).map(({ path }) => path.slice("p/".length)),
  );
}

test("names that only some disks tell apart are put with a note, and get -r tells them apart", async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  const folder = join(home.folder, "alike");
  for (const name of ["README", "Readme", "d/cafe\u0301", "d/caf\u00e9", "E/x", "e/y", "e/z"]) {
    fs.mkdirSync(dirname(join(folder, name)), { recursive: true });
    fs.writeFileSync(join(folder, name), name);
  }
  const note = 'tarn: "README" and "Readme" (and 2 other pairs) are one name on some disks: ' +
    "get -r refuses them unless it may leave one out\n";
  for (const dry of [["--dry-run"], []]) {
    const { stderr } = await home.ok(["put", "lakefs://repo/main/", folder, "-r", ...dry]);
    assert.ok(stderr.startsWith(note), stderr);
  }
  const quiet = await home.ok(["put", "lakefs://repo/main/", folder, "-r", "--quiet"]);
  assert.equal(quiet.stderr, "");
  const { code, stderr } = await home.run(["get", "lakefs://repo/main/d/", join(home.folder, "out"), "-r"]);
  assert.equal(code, 2);
  assert.equal(
    stderr,
    'tarn: Cannot place "d/caf\u00e9" in a folder: ' +
      'some disks take "caf\u00e9" in NFC for the same name as "cafe\u0301" in NFD\n' +
      "  Add --skip-unplaceable to get the rest, or get it alone under a name of your own.\n",
  );
});

test("a deleted repository's folder is named, and nothing needs it any more", async (t) => {
  const home = openHome(t);
  const elsewhere = join(home.folder, "elsewhere");
  for (const more of [[], [`local://${elsewhere}`]]) {
    await home.ok(["repo", "create", "lakefs://repo", ...more]);
    await home.ok(["put", "lakefs://repo/main/x", "-"], { stdin: "x" });
    await home.ok(["commit", "lakefs://repo/main", "-m", "x"]);
    const text = await home.text(["repo", "delete", "lakefs://repo", "--yes"]);
    const [, folder] =
      /^Deleted repository repo\nIts files stay in local:\/\/\S+: to free their room, delete the folder "(.+)"\n$/
        .exec(text)!;
    assert.ok(fs.existsSync(join(folder!, "_lakefs")), text);
    fs.rmSync(folder!, { recursive: true });
    await home.ok(["doctor"]);
    await home.ok(["repo", "create", "lakefs://repo"]);
    await home.ok(["repo", "delete", "lakefs://repo", "--yes"]);
  }
});
