/** No command writes or removes what tarn keeps for itself, wherever a key, an argument or a symlink leads. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { type Home, openHome } from "../support/home.ts";

const MAIN = "lakefs://repo/main";
const posix = { skip: process.platform === "win32" ? "needs symlinks" : false };

/** Keys that lead into the home from the folder that holds it, and into a storage namespace beside it. */
const KEYS_INSIDE = ["home/kv/data.mdb", "home/tarn-home.json", "ns/data/x"];
const KEYS_BESIDE = [".git/config", "a.txt", "home2/kv/data.mdb"];

async function homeWithKeys(t: TestContext): Promise<Home> {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["repo", "create", "lakefs://beside", "--storage-namespace", `local://${home.folder}/ns`]);
  await home.ok(["put", "lakefs://beside/main/x", "-"], { stdin: "of beside" });
  for (const key of [...KEYS_INSIDE, ...KEYS_BESIDE]) {
    await home.ok(["put", `${MAIN}/${key}`, "-"], { stdin: `junk of ${key}` });
  }
  await home.ok(["commit", MAIN, "-m", "all"]);
  fs.symlinkSync(join(home.path, "kv"), join(home.folder, "link"));
  fs.writeFileSync(join(home.folder, "file"), "text");
  return home;
}

/** Every file of the home and the namespace that holds data, with its bytes. */
function stateOf({ folder }: Home): Map<string, string> {
  const state = new Map<string, string>();
  for (const top of ["home", "ns"]) {
    for (const name of fs.readdirSync(join(folder, top), { recursive: true, encoding: "utf8" }).sort()) {
      const path = join(folder, top, name);
      if (/lock\.mdb|native/.test(name)) continue;
      state.set(path, fs.statSync(path).isFile() ? fs.readFileSync(path, "latin1") : "");
    }
  }
  return state;
}

const REFUSED: readonly string[] = [
  `get ${MAIN}/ . -r`,
  `get ${MAIN}/home/ home -r`,
  `get ${MAIN}/home/ ./home/kv/../storage -r`,
  `get ${MAIN}/home/kv/ link -r`,
  `get ${MAIN}/home/ link/.. -r`,
  `get ${MAIN}/ link/../.. -r`,
  `get ${MAIN}/ ns/data -r`,
  `get ${MAIN}/a.txt home/kv/data.mdb`,
  `get ${MAIN}/a.txt link/../tarn-home.json`,
  `get ${MAIN}/home/kv/data.mdb link`,
  `get ${MAIN}/a.txt ns/new`,
  `cp ${MAIN}/a.txt home/tarn-home.json`,
  `cp ${MAIN}/ . -r`,
  `mv ${MAIN}/a.txt link/data.mdb`,
  `mv ${MAIN}/ . -r`,
  `mv home/tarn-home.json ${MAIN}/moved`,
  `mv home/storage ${MAIN}/moved/ -r`,
  `mv ns ${MAIN}/moved/ -r`,
  `fetch ${MAIN}/ .`,
  `fetch ${MAIN}/a.txt home/kv`,
  `snapshot ${MAIN}/ home/snapshot`,
  `pin --write link/tarn.lock ${MAIN}/a.txt`,
  `ls ${MAIN}/ --format csv --output home/kv/data.mdb`,
  `log ${MAIN} --format csv --output link/data.mdb`,
  `ls ${MAIN}/ --format csv --output ns/data/x`,
  `pin --write ns/lock ${MAIN}/a.txt`,
  `get ${MAIN}/a.txt link/../new`,
  "put file://FOLDER/home/kv/data.mdb file",
  "put file://FOLDER/link/data.mdb file",
  "put file://FOLDER/home/ KEYS -r",
  "put file://FOLDER/ns/x file",
  "rm file://FOLDER/home/kv/data.mdb",
  "rm file://FOLDER/home/ -r",
  "rm file://FOLDER/ns/ -r",
  "init home/storage",
  "init ns",
  "init ns/new",
  "init --home ns/new/home",
  "kv copy lmdb:home/kv lmdb:ns",
  "kv copy lmdb:home/kv lmdb:ns/data/kv",
  "kv copy lmdb:home/kv lmdb:home",
  "kv copy lmdb:home/kv lmdb:home/storage/kv",
  "kv copy lmdb:home/kv lmdb:home/cache",
  "kv copy lmdb:home/kv lmdb:home/index/x",
];

test("nothing is written or removed where tarn keeps its own data", posix, async (t) => {
  const home = await homeWithKeys(t);
  fs.mkdirSync(join(home.folder, "KEYS/kv"), { recursive: true });
  fs.writeFileSync(join(home.folder, "KEYS/kv/data.mdb"), "junk");
  const before = stateOf(home), beside = fs.readdirSync(home.folder).sort();
  for (const line of REFUSED) {
    const { code, stderr } = await home.run([...line.replace("FOLDER", home.folder).split(" ")]);
    assert.equal(code, 2, `${line}: ${stderr}`);
    assert.match(stderr.toString(), /^tarn: [^\n]*: tarn keeps its own data there\n {2}Name /, line);
    assert.deepEqual(stateOf(home), before, line);
    // Nothing at all was written: what leads elsewhere neither.
    assert.deepEqual(fs.readdirSync(home.folder).sort(), beside, line);
  }
});

test("a key-value store is copied to any other folder, one of the home's too", async (t) => {
  const home = await homeWithKeys(t);
  await home.ok(["kv", "copy", "lmdb:home/kv", "lmdb:home/kv-copy"]);
  await home.ok(["kv", "copy", "lmdb:home/kv-copy", "lmdb:elsewhere"]);
  // The store that is copied knows its namespaces, whichever home counts.
  const env = { TARN_HOME: join(home.folder, "none") };
  const { code, stderr } = await home.run(["kv", "copy", "lmdb:elsewhere", "lmdb:ns/kv", "--json"], { env });
  assert.deepEqual([code, JSON.parse(stderr).code], [2, "own_storage"]);
  assert.match(await home.text(["repo", "list"], { env: { TARN_KV: "lmdb:elsewhere" } }), /^beside\t/);
});

test("no home is made in another one by a first command", async (t) => {
  const home = await homeWithKeys(t);
  const before = stateOf(home);
  const env = { TARN_HOME: join(home.path, "storage/new") };
  for (const line of ["repo create lakefs://repo", "auth setup me", "serve --listen 127.0.0.1:0"]) {
    const { stderr } = await home.run([...line.split(" "), "--json"], { env, timeoutMs: 30_000 });
    assert.equal(JSON.parse(stderr).code, "own_storage", line);
  }
  assert.deepEqual(stateOf(home), before);
});

test("get -r names the key, and --skip-unplaceable gets the rest", posix, async (t) => {
  const home = await homeWithKeys(t);
  const before = stateOf(home);
  const refused = await home.run(["get", `${MAIN}/`, ".", "-r"]);
  assert.match(refused.stderr.toString(), /Cannot place "home\/kv\/data\.mdb".*--skip-unplaceable/s);
  const { code, stdout } = await home.run(["get", `${MAIN}/`, ".", "-r", "--skip-unplaceable", "--json"]);
  const { got, failures } = JSON.parse(stdout.toString());
  assert.deepEqual([code, got], [7, KEYS_BESIDE.length]);
  assert.deepEqual(
    failures.map(({ path, code }: { path: string; code: string }) => [path, code]),
    KEYS_INSIDE.map((key) => [key, "own_storage"]),
  );
  for (const key of KEYS_BESIDE) {
    assert.equal(fs.readFileSync(join(home.folder, key), "utf8"), `junk of ${key}`);
  }
  assert.deepEqual(stateOf(home), before);
});

test("a folder that holds a home is got into, fetched into and moved, but for the home", posix, async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  const other = { TARN_HOME: join(home.folder, "work/other") };
  await home.ok(["repo", "create", "lakefs://theirs"], { env: other });
  await home.ok(["put", `${MAIN}/sub/a`, "-"], { stdin: "of a" });
  await home.ok(["get", `${MAIN}/`, "work", "-r"]);
  await home.ok(["fetch", `${MAIN}/`, "work"]);
  await home.ok(["get", `${MAIN}/`, ".", "-r"]);
  assert.equal(fs.readFileSync(join(home.folder, "work/sub/a"), "utf8"), "of a");
  // Neither its files nor its empty folders go.
  const before = fs.readdirSync(join(home.folder, "work/other"), { recursive: true }).sort();
  await home.ok(["mv", "work", `${MAIN}/moved/`, "-r"]);
  assert.deepEqual(fs.readdirSync(join(home.folder, "work")), ["other"]);
  assert.deepEqual(fs.readdirSync(join(home.folder, "work/other"), { recursive: true }).sort(), before);
  assert.match(await home.text(["repo", "list"], { env: other }), /^theirs\t/);
  assert.match(await home.text(["ls", `${MAIN}/moved/`, "-r"]), /^[^\n]*\tmoved\/sub\/a\n$/);
});

test("put -r leaves out homes and caches that lie in the folder, and names those that are not in use", async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["put", `${MAIN}/a`, "-"], { stdin: "of a" });
  await home.ok(["repo", "create", "lakefs://other"], { env: { TARN_HOME: join(home.folder, "sub/.tarn") } });
  fs.writeFileSync(
    join(home.folder, "tarn.yaml"),
    `cache: {root: ./cache}
schemes: {data: {parts: [project], rest: path, target: "lakefs://{project}/{ref}/{path}", ref: main}}
`,
  );
  await home.ok(["fetch", `${MAIN}/a`]);
  fs.writeFileSync(join(home.folder, "sub/file"), "text");
  fs.writeFileSync(
    join(home.folder, "hooked.yaml"),
    '{"hooks": ["provcat.log"], "cache": {"root": "./cache"}}',
  );
  for (
    const [line, uri] of [
      ["put lakefs://repo/main/plain/ . -r", `${MAIN}/plain/`],
      ["put data://repo/catalog/ . -r", `${MAIN}/catalog/`],
      ["put lakefs://repo/main/hooked/ . -r --config hooked.yaml", `${MAIN}/hooked/`],
      ["cp . lakefs://repo/main/copied/ -r", `${MAIN}/copied/`],
    ] as const
  ) {
    const { stderr } = await home.ok(line.split(" "));
    const paths = (await home.json(["ls", "-r", uri])).map(({ path }: { path: string }) =>
      path.split("/").slice(1)
    );
    assert.deepEqual(
      paths.map((path: string[]) => path.join("/")),
      ["hooked.yaml", "sub/file", "tarn.yaml"],
      line,
    );
    assert.deepEqual(stderr.match(/^Left out .*$/gm), [
      'Left out "./cache": tarn keeps its own data there',
      'Left out "./sub/.tarn": tarn keeps its own data there',
    ], line);
  }
  // A copy that is named is data like any other.
  await home.ok(["put", `${MAIN}/backup/`, "sub/.tarn", "-r"]);
  assert.match(await home.text(["ls", "-r", `${MAIN}/backup/`]), /backup\/tarn-home\.json$/m);
});

test(
  "a key-value store beside its home is no place to write to, nor is a home one for a cache",
  posix,
  async (t) => {
    const home = openHome(t);
    const env = { TARN_KV: `lmdb:${join(home.folder, "kv")}` };
    await home.ok(["repo", "create", "lakefs://repo"], { env });
    await home.ok(["put", `${MAIN}/kv/data.mdb`, "-"], { stdin: "junk", env });
    const refused = await home.run(["get", `${MAIN}/`, ".", "-r", "--json"], { env });
    assert.equal(JSON.parse(refused.stderr.toString()).code, "own_storage");
    assert.match(await home.text(["repo", "list"], { env }), /^repo\t/);

    fs.writeFileSync(
      join(home.folder, "tarn.yaml"),
      "cache: {root: ./home}\nstores: {kv: {driver: graveler}}\n",
    );
    const fetched = await home.run(["fetch", "kv://repo/main/kv/data.mdb", "--json"], { env });
    assert.equal(JSON.parse(fetched.stderr.toString()).code, "own_storage");
  },
);

test(
  "no folder with other things in it, and no namespace, becomes a cache, whose leftovers would be removed",
  posix,
  async (t) => {
    const home = await homeWithKeys(t);
    fs.mkdirSync(join(home.folder, "project/src/a"), { recursive: true });
    fs.mkdirSync(join(home.folder, "empty"));
    fs.writeFileSync(join(home.folder, "project/src/a/file"), "mine");
    const before = stateOf(home);
    const run = async (root: string, line: string) => {
      fs.writeFileSync(join(home.folder, "config.yaml"), JSON.stringify({ cache: { root } }));
      const { code, stderr } = await home.run([...line.split(" "), "--config", "config.yaml", "--json"]);
      return code === 0 ? "done" : JSON.parse(stderr.toString()).code;
    };
    for (const line of [`fetch ${MAIN}/a.txt`, "cache prune", "cache stat"]) {
      assert.equal(await run("./project", line), "cache_folder_taken", line);
      assert.equal(await run("./ns", line), "own_storage", line);
      for (const root of ["./empty", "./new"]) assert.equal(await run(root, line), "done", line);
    }
    assert.equal(fs.readFileSync(join(home.folder, "project/src/a/file"), "utf8"), "mine");
    assert.deepEqual(stateOf(home), before);
  },
);
