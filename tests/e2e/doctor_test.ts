/** `doctor` finds what is missing or damaged of what refs lead to. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type Home, openHome } from "../support/home.ts";

const MAIN = "lakefs://repo/main";
const COUNT = 20;

interface Lake {
  readonly home: Home;
  readonly storage: string;
}

/** Two commits, a tag on the first one, something staged, and a second repository that is whole. */
async function openLake(t: TestContext): Promise<Lake> {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  const [name] = fs.readdirSync(join(home.path, "storage"));
  fs.mkdirSync(join(home.folder, "in"));
  for (let i = 0; i < COUNT; i++) fs.writeFileSync(join(home.folder, "in", `k${i}`), `of ${i}`);
  await home.ok(["put", `${MAIN}/`, "in", "-r"]);
  await home.ok(["commit", MAIN, "-m", "first"]);
  await home.ok(["put", `${MAIN}/k0`, "-"], { stdin: "changed" });
  await home.ok(["commit", MAIN, "-m", "second"]);
  await home.ok(["put", `${MAIN}/staged`, "-"], { stdin: "staged" });
  await home.ok(["repo", "create", "lakefs://whole"]);
  return { home, storage: join(home.path, "storage", name!) };
}

interface Data {
  readonly state: string;
  readonly details: Readonly<Record<string, unknown>>;
}

async function dataOf(home: Home, ...options: string[]): Promise<{ code: number | null; data: Data }> {
  const { code, stdout, stderr } = await home.run(["doctor", "--json", ...options]);
  assert.equal(stderr, "");
  const { findings } = JSON.parse(stdout.toString());
  const found = findings.filter(({ name }: { name: string }) => name === "data");
  assert.equal(found.length, 1);
  return { code, data: found[0] };
}

function filesIn(folder: string): string[] {
  return fs.readdirSync(folder, { recursive: true, encoding: "utf8" })
    .map((name) => join(folder, name)).filter((path) => fs.statSync(path).isFile());
}

async function physical({ home, storage }: Lake, uri: string): Promise<string> {
  const { physical_address: address } = await home.json(["stat", uri]);
  return join(storage, address.slice(address.indexOf("data/")));
}

test("doctor says what it looked at, of heads and staged changes or of all commits", async (t) => {
  const { home } = await openLake(t);
  const heads = await dataOf(home);
  // The second repository's branch is at a commit without objects.
  const wanted = { refs: 2, commits: 2, tables: 2, objects: COUNT + 1, all_commits: false };
  assert.deepEqual([heads.code, heads.data.state, heads.data.details], [0, "ok", wanted]);
  const all = await dataOf(home, "--all");
  assert.deepEqual([all.code, all.data.details], [0, {
    refs: 2,
    commits: 4,
    tables: 4,
    objects: COUNT + 2,
    all_commits: true,
  }]);
});

const DAMAGES: Readonly<Record<string, (storage: string) => void>> = {
  "all objects are gone": (storage) => fs.rmSync(join(storage, "data"), { recursive: true }),
  "all tables are gone": (storage) => fs.rmSync(join(storage, "_lakefs"), { recursive: true }),
  "all files are empty": (storage) => filesIn(storage).forEach((path) => fs.truncateSync(path)),
  "all tables have a flipped byte": (storage) => {
    for (const path of filesIn(join(storage, "_lakefs"))) {
      const bytes = fs.readFileSync(path);
      bytes[Math.floor(bytes.length / 3)]! ^= 0x10;
      fs.writeFileSync(path, bytes);
    }
  },
  "objects are longer": (storage) =>
    filesIn(join(storage, "data")).forEach((path) => fs.appendFileSync(path, "x")),
};

for (const [what, damage] of Object.entries(DAMAGES)) {
  test(`doctor finds that ${what}`, async (t) => {
    const { home, storage } = await openLake(t);
    damage(storage);
    const { code, data } = await dataOf(home);
    assert.deepEqual([code, data.state, data.details["repository"]], [1, "problem", "repo"]);
    const { damaged_tables: tables, damaged_objects: objects } = data.details;
    // Staged objects are looked at also where nobody knows what was committed.
    const isOfObjects = !what.includes("tables") && !what.includes("files");
    const isOfFiles = what.includes("files");
    assert.deepEqual([tables, objects], [isOfObjects ? 0 : 1, isOfObjects ? COUNT + 1 : isOfFiles ? 1 : 0]);
    const text = await home.run(["doctor"]);
    assert.equal(text.code, 1);
    assert.match(
      text.stdout.toString(),
      /\nBAD {2}data: of "repo", missing, damaged or forbidden: \d+ of \d+ /,
    );
  });
}

test("doctor finds one object of many, also a staged one, and names it", async (t) => {
  const lake = await openLake(t);
  fs.rmSync(await physical(lake, `${MAIN}/k7`));
  fs.truncateSync(await physical(lake, `${MAIN}/staged`), 3);
  const { code, data } = await dataOf(lake.home);
  assert.deepEqual([code, data.details["damaged_objects"]], [1, 2]);
  const named = (data.details["damage"] as { path: string; ref: string }[]).map((
    { path, ref },
  ) => [path, ref]);
  assert.deepEqual(named.sort(), [["k7", "main"], ["staged", "main"]]);
  assert.match((await lake.home.run(["doctor"])).stdout.toString(), /2 of 21 objects; on "main": .*"k7"/);
});

test("doctor finds what only older commits hold with --all, and what a tag holds without", async (t) => {
  const lake = await openLake(t);
  const { home } = lake;
  fs.rmSync(await physical(lake, "lakefs://repo/main~1/k0"));
  assert.equal((await dataOf(home)).code, 0);
  const all = await dataOf(home, "--all");
  assert.deepEqual([all.code, all.data.details["damaged_objects"]], [1, 1]);
  await home.ok(["tag", "lakefs://repo/v1", "--from", "main~1"]);
  const tagged = await dataOf(home);
  assert.deepEqual([tagged.code, tagged.data.details["damaged_objects"]], [1, 1]);
});
