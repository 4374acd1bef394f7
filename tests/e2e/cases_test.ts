/**
 * Cases from real use, each once somebody's trouble with a tool of this kind, under the numbers that the issues call them by.
 * Here are those of the command line that need the whole program; others stand beside the code that they are about.
 */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { binaryPath, runBinary } from "../support/binary.ts";
import { type Home, openHome } from "../support/home.ts";
import { requireThat, requireTool } from "../support/requires.ts";

const MAIN = "lakefs://repo/main";

/** Returns a home with a repository whose main branch holds these objects, staged. */
async function homeWith(t: TestContext, ...keys: string[]): Promise<Home> {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  for (const key of keys) await put(home, key);
  return home;
}

const put = (home: Home, key: string, text = `of ${key}`, branch = "main") =>
  home.ok(["put", `lakefs://repo/${branch}`, "--key", key, "-"], { stdin: text });

const commit = async (home: Home, branch = "main") =>
  (await home.text(["commit", `lakefs://repo/${branch}`, "-m", "x"])).trimEnd().split("/").at(-1)!;

const read = (home: Home, key: string, ref = "main") =>
  home.text(["cat", `lakefs://repo/${ref}`, "--key", key]);

/** Returns the paths of a listing. */
async function listed(home: Home, ...argv: string[]): Promise<string[]> {
  return (await home.json(["ls", ...argv])).map(({ path }: { path: string }) => path);
}

test("H06 an empty part of a key is a part of it", async (t) => {
  const home = await homeWith(t, "path//empty");
  assert.equal(await read(home, "path//empty"), "of path//empty");
  assert.equal(await home.text(["cat", `${MAIN}/path//empty`]), "of path//empty");
  assert.equal((await home.run(["cat", `${MAIN}/path/empty`])).code, 3);
  assert.deepEqual(await listed(home, `${MAIN}/path/`), ["path//"]);
  assert.deepEqual(await listed(home, `${MAIN}/path//`), ["path//empty"]);
});

test("H07 zero bytes under a key that ends in a slash keep exactly that key", async (t) => {
  const home = await homeWith(t);
  await put(home, "dir-with-marker/", "");
  await put(home, "dir-with-marker/a");
  await commit(home);
  assert.deepEqual(await listed(home, MAIN, "-r"), ["dir-with-marker/", "dir-with-marker/a"]);
  assert.equal((await home.json(["stat", MAIN, "--key", "dir-with-marker/"])).size_bytes, 0);
});

test("H08 long segments and long names in any script are put, read, listed and removed", async (t) => {
  const keys = [`${"a".repeat(256)}/${"b".repeat(512)}`, "漢".repeat(100)];
  const home = await homeWith(t, ...keys);
  await commit(home);
  assert.deepEqual(await listed(home, MAIN, "-r"), keys);
  for (const key of keys) {
    assert.equal(await read(home, key), `of ${key}`);
    await home.ok(["rm", MAIN, "--key", key]);
  }
  assert.deepEqual(await listed(home, MAIN, "-r"), []);
});

test("H10, H11 a folded listing taken piece by piece shows each folder once", async (t) => {
  const home = await homeWith(t, "asdf", "boo/bar", "boo/baz/xyzzy", "cquux/thud", "cquux/bla");
  const seen: string[] = [];
  for (let last: string | undefined;;) {
    const after = last === undefined ? [] : ["--after", last];
    const page = await listed(home, MAIN, "--amount", "1", ...after);
    if (page.length === 0) break;
    assert.equal(page.length, 1);
    seen.push(last = page[0]!);
  }
  assert.deepEqual(seen, ["asdf", "boo/", "cquux/"]);
});

test("H12 a listing folds at any delimiter", async (t) => {
  const home = await homeWith(t, "main/a.json", "main/b.json.gz", "main/c.txt", "main/d/e.json");
  assert.deepEqual(await listed(home, `${MAIN}/main/`, "--delimiter", ".json"), [
    "main/a.json",
    "main/b.json",
    "main/c.txt",
    "main/d/e.json",
  ]);
});

test("H13 a folder shows all folders in it", async (t) => {
  const home = await homeWith(t, "folder1/folder2/a", "folder1/folder1/b");
  assert.deepEqual(await listed(home, `${MAIN}/folder1/`), ["folder1/folder1/", "folder1/folder2/"]);
});

test("H14 a file beside a folder whose name it begins with: both are there, in byte order", async (t) => {
  const home = await homeWith(t);
  fs.mkdirSync(join(home.folder, "in", "helloworld"), { recursive: true });
  fs.writeFileSync(join(home.folder, "in", "helloworld.csv"), "1");
  fs.writeFileSync(join(home.folder, "in", "helloworld", "myfile.csv"), "2");
  await home.ok(["put", `${MAIN}/`, "in", "-r"]);
  await commit(home);
  assert.deepEqual(await listed(home, MAIN, "-r"), ["helloworld.csv", "helloworld/myfile.csv"]);
});

test("H15, H16 a range is the bytes that there are of it", async (t) => {
  const home = await homeWith(t);
  await put(home, "ten", "0123456789");
  const range = (text: string) => home.text(["cat", `${MAIN}/ten`, "--range", text]);
  assert.deepEqual([await range("0-0"), await range("5-15"), await range("9-9")], ["0", "56789", "9"]);
  assert.equal((await home.run(["cat", `${MAIN}/ten`, "--range", "10-12"])).code, 2);
});

test("H29 a branch whose name begins a commit's ID is the branch", async (t) => {
  const home = await homeWith(t, "a");
  const id = await commit(home);
  const name = id.slice(0, 8);
  await home.ok(["branch", `lakefs://repo/${name}`, "--from", "main"]);
  await put(home, "b", "on the branch", name);
  assert.equal(await read(home, "b", name), "on the branch");
  await commit(home, name);
  assert.notEqual((await home.json(["show", `lakefs://repo/${name}`])).id, id);
  assert.equal((await home.json(["show", `lakefs://repo/${id.slice(0, 12)}`])).id, id);
});

test("H30 a tag that could not be a branch's name works everywhere", async (t) => {
  const home = await homeWith(t, "a");
  const id = await commit(home);
  await home.ok(["tag", "lakefs://repo/v.0.1.1", "--from", "main"]);
  await put(home, "a", "later");
  await commit(home);
  assert.equal(await read(home, "a", "v.0.1.1"), "of a");
  assert.deepEqual(await listed(home, "lakefs://repo/v.0.1.1/"), ["a"]);
  assert.equal((await home.json(["log", "lakefs://repo/v.0.1.1"]))[0].id, id);
  assert.equal((await home.json(["diff", "lakefs://repo/v.0.1.1", MAIN])).length, 1);
});

test("H31 a commit keeps what later ones remove", async (t) => {
  const home = await homeWith(t, "a");
  const id = await commit(home);
  await home.ok(["rm", `${MAIN}/a`]);
  await commit(home);
  assert.deepEqual([await listed(home, MAIN), await listed(home, `lakefs://repo/${id}`)], [[], ["a"]]);
  assert.equal(await read(home, "a", id), "of a");
});

test("H32 removed on one side and changed on the other is a conflict, and both branches stay", async (t) => {
  const home = await homeWith(t, "a");
  await commit(home);
  await home.ok(["branch", "lakefs://repo/dev", "--from", "main"]);
  await home.ok(["rm", "lakefs://repo/dev/a"]);
  await put(home, "a", "changed");
  const heads = [await commit(home, "dev"), await commit(home)];
  for (const [source, destination] of [["dev", "main"], ["main", "dev"]]) {
    const merged = await home.run(["merge", `lakefs://repo/${source}`, `lakefs://repo/${destination}`]);
    assert.deepEqual([merged.code, /conflict: a/.test(merged.stderr)], [4, true]);
  }
  const now = [await home.json(["show", "lakefs://repo/dev"]), await home.json(["show", MAIN])];
  assert.deepEqual(now.map(({ id }) => id), heads);
});

test("H33 a merge of nothing leaves the destination's content", async (t) => {
  const home = await homeWith(t, "a", "b");
  await commit(home);
  await home.ok(["branch", "lakefs://repo/dev", "--from", "main"]);
  await put(home, "c");
  const head = await commit(home);
  assert.equal((await home.run(["merge", "lakefs://repo/dev", MAIN])).code, 6);
  assert.deepEqual(await listed(home, MAIN), ["a", "b", "c"]);
  assert.equal((await home.json(["show", MAIN])).id, head);
});

test("H34 the same bytes again are no change", async (t) => {
  const home = await homeWith(t, "a");
  await commit(home);
  await put(home, "a");
  assert.deepEqual(await home.json(["diff", MAIN]), []);
  assert.equal((await home.run(["commit", MAIN, "-m", "again"])).code, 6);
});

test("H35 empty commits at once each land or say that they may be tried again", async (t) => {
  const home = await homeWith(t, "a");
  await commit(home);
  const runs = await Promise.all(
    Array.from({ length: 20 }, (_, i) => home.run(["commit", MAIN, "-m", `${i}`, "--allow-empty"])),
  );
  for (const { code, stderr } of runs) assert.ok(code === 0 || (code === 4 && /again/.test(stderr)), stderr);
  const landed = runs.filter(({ code }) => code === 0).length;
  assert.ok(landed > 0);
  assert.equal((await home.json(["log", MAIN])).length, 2 + landed);
});

test("H36 a dirty branch that is rolled back is where it was, with nothing staged; where it had been can be found", async (t) => {
  const home = await homeWith(t, "a");
  const first = await commit(home);
  await put(home, "b");
  const old = await commit(home);
  await put(home, "c");
  await home.ok(["rm", `${MAIN}/a`]);
  assert.equal((await home.run(["reset", MAIN, "--to", first])).code, 2);
  assert.equal((await home.json(["show", MAIN])).id, old, "nothing is dropped without a yes");
  await home.ok(["reset", MAIN, "--to", first, "--yes"]);
  assert.equal((await home.json(["show", MAIN])).id, first);
  assert.deepEqual([await home.json(["status", MAIN]), await listed(home, MAIN)], [[], ["a"]]);
  const last = (await home.json(["reflog", MAIN])).at(-1);
  assert.deepEqual([last.old_commit_id, last.new_commit_id], [old, first]);
  assert.deepEqual(await listed(home, `lakefs://repo/${old}`), ["a", "b"]);
  await home.ok(["branch", "lakefs://repo/back", "--from", old]);
  assert.equal(await read(home, "b", "back"), "of b");
});

test("H37 a commit of one folder leaves what is staged elsewhere uncommitted, and staged", async (t) => {
  const home = await homeWith(t, "in/a", "out/b");
  await home.ok(["commit", MAIN, "-m", "part", "--path", "in/"]);
  assert.deepEqual(await listed(home, "lakefs://repo/main@", "-r"), ["in/a"]);
  const staged = await home.json(["status", MAIN]);
  assert.deepEqual(staged.map(({ path }: { path: string }) => path), ["out/b"]);
  assert.equal(await read(home, "out/b"), "of out/b");
  const typo = await home.run(["commit", MAIN, "-m", "typo", "--path", "out/", "--path", "inn/"]);
  assert.deepEqual([typo.code, /"inn\/"/.test(typo.stderr)], [3, true]);
  assert.deepEqual(await listed(home, "lakefs://repo/main@", "-r"), ["in/a"]);
});

test("H38 a file that was only touched is not put again", async (t) => {
  const home = await homeWith(t);
  fs.mkdirSync(join(home.folder, "in"));
  const file = join(home.folder, "in", "f");
  fs.writeFileSync(file, "text");
  await home.ok(["put", `${MAIN}/`, "in", "-r"]);
  await commit(home);
  fs.utimesSync(file, new Date(), new Date());
  const { put, unchanged } = await home.json(["put", `${MAIN}/`, "in", "-r"]);
  assert.deepEqual([put, unchanged, await home.json(["status", MAIN])], [0, 1, []]);
});

test("H39 a key that would leave the folder is refused, and nothing is written", async (t) => {
  const home = await homeWith(t, "../../evil", "good");
  const target = join(home.folder, "deep", "target");
  const got = await home.run(["get", `${MAIN}/`, target, "-r"]);
  assert.deepEqual([got.code, /\.\.\/\.\.\/evil/.test(got.stderr)], [2, true]);
  assert.ok(!fs.existsSync(join(home.folder, "evil")) && !fs.existsSync(join(target, "good")));
});

test("H40 names that one disk would merge are refused, or left out and named", async (t) => {
  const home = await homeWith(t, "File.txt", "file.txt");
  const refused = await home.run(["get", `${MAIN}/`, "all", "-r"]);
  assert.equal(refused.code, 2);
  const some = await home.run(["get", `${MAIN}/`, "some", "-r", "--skip-unplaceable"]);
  assert.deepEqual([some.code, /file\.txt/.test(some.stderr)], [7, true]);
  assert.deepEqual(fs.readdirSync(join(home.folder, "some")), ["File.txt"]);
  assert.equal(fs.readFileSync(join(home.folder, "some", "File.txt"), "utf8"), "of File.txt");
});

test("H42 times are read with their zone, their fraction, and as days in UTC", async (t) => {
  const home = await homeWith(t);
  const dates: Record<string, number> = {
    "2024-01-15T10:00:00-05:00": Date.UTC(2024, 0, 15, 15) / 1000,
    "2024-01-15T10:00:00.5Z": Date.UTC(2024, 0, 15, 10) / 1000,
    "2024-01-15": Date.UTC(2024, 0, 15) / 1000,
  };
  for (const [text, seconds] of Object.entries(dates)) {
    await put(home, "a", text);
    const { creation_date } = await home.json(["commit", MAIN, "-m", text, "--date", text]);
    assert.equal(creation_date, seconds, text);
  }
  // A commit's time is in whole seconds, since its ID is made of those; half a second counts where times are compared.
  const since = async (time: string) => (await home.json(["log", MAIN, "--since", time])).length;
  assert.deepEqual([await since("2024-01-15T15:00:00Z"), await since("2024-01-15T15:00:00.5Z")], [2, 1]);
});

test("H55 a commit that is interrupted is made or not made, and the next one takes the rest", async (t) => {
  const home = await homeWith(t);
  for (let round = 0; round < 8; round++) {
    await put(home, `k${round}`);
    const { code, signal } = await interrupted(home, ["commit", MAIN, "-m", `${round}`], round * 12);
    assert.ok(code === 0 || code === 130 || signal === "SIGINT", `exit ${code}`);
    const staged = await home.json(["status", MAIN]);
    const committed = await listed(home, "lakefs://repo/main@");
    assert.equal(staged.length + committed.length, round + 1);
    if (staged.length > 0) await commit(home);
  }
  assert.equal((await listed(home, "lakefs://repo/main@")).length, 8);
});

/** Runs a command that gets SIGINT after a while. */
function interrupted(
  home: Home,
  args: readonly string[],
  afterMs: number,
): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve, reject) => {
    const child = spawn(binaryPath(), args, { env: { TARN_HOME: home.path }, stdio: "ignore" });
    setTimeout(() => child.kill("SIGINT"), afterMs);
    child.on("error", reject);
    child.on("exit", (code, signal) => resolve({ code, signal }));
  });
}

test("H56 a full disk is a clean error, and what was there is read and added to later", (t) => {
  if (!requireTool(t, "unshare")) return;
  const folder = openHome(t).folder;
  const script = `set -e
    mount -t tmpfs -o size=8m tmpfs disk
    export TARN_HOME=$PWD/disk/home
    "$1" repo create lakefs://repo
    printf small | "$1" put lakefs://repo/main/small -
    "$1" commit lakefs://repo/main -m first
    head -c 12000000 /dev/zero > big
    "$1" put lakefs://repo/main/big big && echo unexpected || echo "exit $?"
    head -c 12000000 /dev/zero > disk/filler || true
    printf more | "$1" put lakefs://repo/main/more - && echo unexpected || echo "exit $?"
    "$1" cat lakefs://repo/main/small; echo
    rm disk/filler
    printf more | "$1" put lakefs://repo/main/more -
    "$1" commit lakefs://repo/main -m second
    "$1" ls lakefs://repo/main --jsonl`;
  fs.mkdirSync(join(folder, "disk"));
  const { exitCode, stdout, stderr } = runBinary(["-rm", "sh", "-c", script, "sh", binaryPath()], {
    program: "unshare",
    folder,
    environment: { PATH: "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" },
  });
  const mayMount = exitCode === 0 || stdout !== "" || !/unshare|mount/.test(stderr);
  if (!requireThat(t, mayMount, `no disk of its own can be made here: ${stderr.trim()}`)) return;
  assert.equal(exitCode, 0, stderr);
  assert.equal(stdout.match(/^exit 8$/gm)?.length, 2, stdout);
  assert.ok(!stdout.includes("unexpected") && /^small$/m.test(stdout), stdout);
  assert.match(stderr, /no space is left/);
  assert.ok(!/\n {4}at /.test(stderr), stderr);
  const paths = stdout.split("\n").filter((line) => line.startsWith("{")).map((line) =>
    JSON.parse(line).path
  );
  assert.deepEqual(paths, ["more", "small"]);
});

test("H58 a list of nothing is an empty array, from every verb that lists", async (t) => {
  const home = openHome(t);
  await home.ok(["init"]);
  assert.deepEqual(await home.json(["repo", "list"]), []);
  assert.deepEqual(await home.json(["ls"]), []);
  await home.ok(["repo", "create", "lakefs://repo"]);
  for (
    const argv of [["ls", MAIN], ["status", MAIN], ["diff", MAIN], ["tag", "list", "lakefs://repo"], [
      "find",
      MAIN,
    ]]
  ) {
    assert.deepEqual(await home.json(argv), [], argv.join(" "));
    assert.equal(Buffer.byteLength(await home.text([...argv, "--jsonl"])), 0);
  }
});
