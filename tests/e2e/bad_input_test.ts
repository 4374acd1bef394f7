/** Bad input: one clear line, the right exit code, and nothing lost. */

import assert from "node:assert/strict";
import {
  chmodSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { binaryPath } from "../support/binary.ts";
import { type Home, openHome } from "../support/home.ts";
import { requireThat } from "../support/requires.ts";

async function homeWithData(t: TestContext): Promise<Home> {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["put", "lakefs://repo/main/a", "-"], { stdin: "committed" });
  await home.ok(["commit", "lakefs://repo/main", "-m", "first"]);
  await home.ok(["put", "lakefs://repo/main/b", "-"], { stdin: "staged" });
  writeFileSync(join(home.folder, "file"), "x");
  mkdirSync(join(home.folder, "folder"));
  return home;
}

async function checkIntact(home: Home): Promise<void> {
  assert.equal(await home.text(["cat", "lakefs://repo/main/a"]), "committed");
  assert.equal(await home.text(["cat", "lakefs://repo/main/b"]), "staged");
}

/** Arguments, the exit code, and what the one line must tell. */
const CASES: readonly (readonly [readonly string[], number, RegExp])[] = [
  [["frobnicate"], 2, /frobnicate/],
  [["ls", "lakefs://repo/main", "--frobnicate"], 2, /--frobnicate/],
  [["put", "lakefs://repo/main/x"], 2, /put/],
  [["repo", "create", "lakefs://A"], 2, /"A"/],
  [["repo", "create", "lakefs://repo"], 4, /"repo"/],
  [["repo", "show", "lakefs://nowhere"], 3, /"nowhere"/],
  [["repo", "create", "lakefs://other", "--storage-namespace", "local:///a/../b"], 2, /\.\./],
  [["repo", "create", "lakefs://other", "--storage-namespace", "ftp://x"], 2, /ftp/],
  [["ls", "lakefs://nowhere/main"], 3, /"nowhere"/],
  [["ls", "lakefs://repo/nowhere"], 3, /"nowhere"/],
  [["cat", "lakefs://repo/main/nowhere"], 3, /"nowhere"/],
  [["cat", "lakefs://repo"], 2, /lakefs:\/\//],
  [["cat", "lakefs://repo/main"], 2, /lakefs:\/\//],
  [["cat", "lakefs://repo/main/%zz"], 2, /%25/],
  [["cat", "lakefs://repo/main/a?b"], 2, /%3F/],
  [["cat", "lakefs://repo/main/a#b"], 2, /%23/],
  [["cat", "lakefs://repo/main/%00"], 2, /NUL/],
  [["cat", "lakefs://repo/main/%ff"], 2, /UTF-8/],
  [["cat", "s3://bucket/key"], 9, /does not have the driver "s3"$/],
  [["cat", "s9://bucket/key"], 2, /neither a scheme nor a store "s9"$/],
  [["cat", "a"], 2, /"a"/],
  [["log", "lakefs://repo/main~9"], 3, /main~9": commit \w{12} has only one commit before it/],
  [["log", "lakefs://repo/main~1~1"], 3, /main~1~1": commit \w{12} is the first one/],
  [["log", "lakefs://repo/main^2"], 3, /main\^2": commit \w{12} has 1 parent$/],
  [["log", "lakefs://repo/main~x"], 2, /main~x/],
  [["log", "lakefs://repo/main", "--amount", "few"], 2, /few/],
  [["log", "lakefs://repo/main", "--since", "yesterdayish"], 2, /yesterdayish/],
  [["ls", "lakefs://repo/main?at=ts:2999-01-01"], 2, /future/],
  [["ls", "lakefs://repo/main?at=ts:2020-01-01"], 3, /2020-01-01/],
  [["branch", "create", "lakefs://repo/bad..name", "--from", "main"], 2, /bad\.\.name/],
  [["branch", "create", "lakefs://repo/Main", "--from", "main"], 4, /"main"/],
  [["branch", "create", "lakefs://repo/new", "--from", "nowhere"], 3, /"nowhere"/],
  [["branch", "delete", "lakefs://repo/main", "--yes"], 2, /default branch/],
  [["branch", "delete", "lakefs://repo/nowhere"], 3, /"nowhere"/],
  [["tag", "create", "lakefs://repo/main", "--from", "main"], 4, /"main"/],
  [["commit", "lakefs://repo/nowhere", "-m", "x"], 3, /"nowhere"/],
  [["commit", "lakefs://repo/main", "-m", ""], 2, /message/],
  [["commit", "lakefs://repo/main", "-m", "x", "--meta", "nopair"], 2, /nopair/],
  [["merge", "lakefs://repo/nowhere", "lakefs://repo/main"], 3, /"nowhere"/],
  [["merge", "lakefs://repo/main", "lakefs://repo/main"], 6, /"main"/],
  [["merge", "lakefs://repo/main", "lakefs://repo/main", "--strategy", "mine"], 2, /mine/],
  [["revert", "lakefs://repo/main", "nowhere"], 3, /"nowhere"/],
  [["put", "lakefs://repo/main/x", "missing"], 3, /"missing"/],
  [["put", "lakefs://repo/main/x", "folder"], 2, /folder/],
  [["put", "lakefs://repo/main/x", "file", "-r"], 2, /"file"/],
  [["put", "lakefs://repo/main~1/x", "file"], 2, /main~1/],
  [["put", "lakefs://repo/main/x", "file/below"], 2, /"file\/below"/],
  [["get", "lakefs://repo/main/a", "file/below/a"], 2, /"file\/below\/a"/],
  [["get", "lakefs://repo/main/nowhere", "out"], 3, /"nowhere"/],
  [["rm", "lakefs://repo/main/nowhere"], 3, /"nowhere"/],
  [["cat", "lakefs://repo/main/a", "--range", "9-1"], 2, /9-1/],
  [["cat", "lakefs://repo/main/a", "--range", "99-100"], 2, /99/],
  [["reset", "lakefs://repo/main"], 2, /confirmation/],
  [["repo", "delete", "lakefs://repo"], 2, /confirmation/],
];

test("a home is never below the working folder by accident", async (t) => {
  const home = openHome(t);
  const create = ["repo", "create", "lakefs://repo"];
  const cases: readonly { args: string[]; env?: Record<string, string>; told: RegExp }[] = [
    { args: [...create, "--home", ""], told: /"--home": its value DIR is empty/ },
    {
      args: create,
      env: { TARN_HOME: "", HOME: "relative" },
      told: /HOME: "relative" is not an absolute path/,
    },
  ];
  for (const { args, env, told } of cases) {
    const { code, stderr } = await home.run(args, { env });
    assert.equal(code, 2);
    assert.match(stderr, told);
  }
  assert.deepEqual(readdirSync(home.folder), []);
});

test("a variable that is on or off is one of both", async (t) => {
  const home = await homeWithData(t);
  const run = (value: string) => home.run(["ls", "lakefs://repo/main"], { env: { TARN_OFFLINE: value } });
  for (const value of ["", "0", "1"]) assert.equal((await run(value)).code, 0);
  const { code, stderr } = await run("yes");
  assert.equal(code, 2);
  assert.match(stderr, /TARN_OFFLINE: it is "yes", not 1 or 0/);
});

test("each kind of bad input gets one clear line and its exit code, and loses nothing", async (t) => {
  const home = await homeWithData(t);
  for (const [args, code, told] of CASES) {
    const shown = `tarn ${args.join(" ")}`;
    const result = await home.run(args);
    assert.equal(result.code, code, `${shown}: exit ${result.code}\n${result.stderr}`);
    const lines = result.stderr.trimEnd().split("\n");
    assert.match(lines[0]!, /^tarn: \S.*: \S/, shown);
    assert.match(lines[0]!, told, shown);
    assert.ok(lines.length <= 2, `${shown}\n${result.stderr}`);
    assert.ok(
      !/\bat .*\.ts:\d|node_modules|undefined|\[object/.test(result.stderr),
      `${shown}\n${result.stderr}`,
    );
    assert.equal(result.stdout.length, 0, shown);
    const asJson = await home.run([...args, "--json"]);
    assert.equal(asJson.code, code, shown);
    const document = JSON.parse(asJson.stderr);
    assert.deepEqual(Object.keys(document).slice(0, 3), ["kind", "code", "message"], shown);
  }
  await checkIntact(home);
});

test("a second init, a home that is none, and one of another user are refused", async (t) => {
  const home = openHome(t);
  const env = { TARN_HOME: "" };
  const init = (folder: string) => home.run(["init", folder], { env });
  assert.equal((await init("project")).code, 0);
  const second = await init("project");
  assert.equal(second.code, 4);
  mkdirSync(join(home.folder, "docs"));
  writeFileSync(join(home.folder, "docs/file"), "mine");
  const none = await home.run(["repo", "create", "lakefs://repo", "--home", "docs"], { env });
  assert.equal(none.code, 2, none.stderr);
  assert.deepEqual(readdirSync(join(home.folder, "docs")), ["file"]);
  assert.equal(readFileSync(join(home.folder, "docs/file"), "utf8"), "mine");
  if (!requireThat(t, process.getuid?.() === 0, "only root can make another user's home")) return;
  const { chownSync } = await import("node:fs");
  chownSync(join(home.folder, "project/.tarn"), 12345, 12345);
  for (const how of [{ cwd: join(home.folder, "project") }, {}]) {
    const args = ["repo", "list", ...("cwd" in how ? [] : ["--home", "project/.tarn"])];
    const others = await home.run(args, { env, ...how });
    assert.equal(others.code, 5, others.stderr);
    assert.match(others.stderr, /12345/);
  }
});

test("a truncated or damaged range file is told of by its name, exit 10; other data stays readable", async (t) => {
  const home = await homeWithData(t);
  await home.ok(["branch", "lakefs://repo/side", "--from", "main~1"]);
  const { meta_range_id } = await home.json(["show", "lakefs://repo/main"]);
  const [namespace] = readdirSync(join(home.path, "storage"));
  const files = join(home.path, "storage", namespace!, "_lakefs");
  for (const name of readdirSync(files)) {
    const whole = readFileSync(join(files, name));
    for (const damage of ["truncated", "flipped", "empty"]) {
      chmodSync(join(files, name), 0o600);
      if (damage === "flipped") {
        const flipped = Uint8Array.from(whole);
        flipped[10]! ^= 0x40;
        writeFileSync(join(files, name), flipped);
      } else truncateSync(join(files, name), damage === "empty" ? 0 : whole.length - 7);
      const result = await home.run(["cat", "lakefs://repo/main@/a"]);
      assert.equal(
        result.code,
        10,
        `${damage} ${name === meta_range_id ? "metarange" : "range"}: ${result.stderr}`,
      );
      assert.match(result.stderr, new RegExp(`^tarn: .*${name}`));
      assert.equal(await home.text(["cat", "lakefs://repo/main/b"]), "staged");
      assert.equal((await home.run(["ls", "lakefs://repo/side"])).code, 0);
    }
    writeFileSync(join(files, name), whole);
  }
  await checkIntact(home);
});

test("a damaged object is not served as if it were whole, and get leaves no file behind", async (t) => {
  const home = await homeWithData(t);
  const { physical_address } = await home.json(["stat", "lakefs://repo/main/a"]);
  const path = join(home.path, "storage", physical_address.slice("local://".length));
  assert.equal(statSync(path).size, 9);
  writeFileSync(path, "Committed");
  const cat = await home.run(["cat", "lakefs://repo/main/a"]);
  assert.equal(cat.code, 10, cat.stderr);
  const get = await home.run(["get", "lakefs://repo/main/a", "out"]);
  assert.equal(get.code, 10, get.stderr);
  assert.ok(!readdirSync(home.folder).includes("out"));
});

test("unreadable files are named and counted, the rest is put; a read-only target refuses", async (t) => {
  const home = await homeWithData(t);
  if (!requireThat(t, process.getuid?.() === 0, "only root can run as another user")) return;
  const tree = join(home.folder, "tree");
  mkdirSync(tree);
  for (const name of ["good", "secret"]) writeFileSync(join(tree, name), name);
  chmodSync(join(tree, "secret"), 0o000);
  const { spawnSync } = await import("node:child_process");
  const { chownSync } = await import("node:fs");
  const user = join(home.folder, "user");
  mkdirSync(user);
  for (const folder of [user, tree]) chownSync(folder, 65534, 65534);
  chmodSync(home.folder, 0o755);
  const asNobody = (...args: string[]) =>
    spawnSync(binaryPath(), args, {
      uid: 65534,
      gid: 65534,
      env: { TARN_HOME: join(user, "home") },
      encoding: "utf8",
    });
  assert.equal(asNobody("repo", "create", "lakefs://repo").status, 0);
  const put = asNobody("put", "lakefs://repo/main/", tree, "-r");
  assert.equal(put.status, 7, put.stderr);
  assert.match(put.stderr, /secret/);
  assert.match(asNobody("ls", "lakefs://repo/main").stdout, /good/);
  const foreign = asNobody("repo", "list", "--home", home.path);
  assert.equal(foreign.status, 5, foreign.stderr);
  const target = asNobody("get", "lakefs://repo/main/good", "/good");
  assert.equal(target.status, 5, target.stderr);
});
