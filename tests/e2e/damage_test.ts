/**
 * Damaged files under the executable: a command says what is damaged (exit 10) or gives the right answer, and never another
 * one. Beside the namespace lie files that can be made again; damage to those must not be noticed at all.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import type { CliResult } from "../support/cli.ts";
import { type Home, openHome } from "../support/home.ts";

const MAIN = "lakefs://repo/main";
const FIRST = 1000, COUNT = 600;
const FOOTER_BYTES = 53, TRAILER_BYTES = 5;

interface Lake {
  readonly home: Home;
  /** Where the namespace lies. */
  readonly storage: string;
  /** The tables of the last commit of main, and the range of the one before. */
  readonly tables: Readonly<Record<"metarange" | "range" | "older range", string>>;
}

/** Makes a home whose main and side have both changed since they parted, each in one object of many; some is staged on main. */
async function openLake(t: TestContext): Promise<Lake> {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  fs.mkdirSync(join(home.folder, "in"));
  for (let i = FIRST; i < FIRST + COUNT; i++) fs.writeFileSync(join(home.folder, "in", `k${i}`), `of ${i}`);
  await home.ok(["put", `${MAIN}/`, "in", "-r"]);
  await home.ok(["commit", MAIN, "-m", "first"]);
  await home.ok(["branch", "lakefs://repo/side", "--from", "main"]);
  const storage = join(home.path, "storage", fs.readdirSync(join(home.path, "storage"))[0]!);
  const ranges: string[] = [];
  const newRange = async (branch: string): Promise<string> => {
    const { meta_range_id } = await home.json(["show", `lakefs://repo/${branch}`]);
    const [added] = fs.readdirSync(join(storage, "_lakefs")).filter((id) =>
      id !== meta_range_id && !ranges.includes(id)
    );
    ranges.push(added!, meta_range_id);
    return added!;
  };
  const older = await newRange("main");
  for (const [branch, key] of [["side", "k1010"], ["main", "k1500"]] as const) {
    await home.ok(["put", `lakefs://repo/${branch}/${key}`, "-"], { stdin: `changed on ${branch}` });
    await home.ok(["commit", `lakefs://repo/${branch}`, "-m", branch]);
    await newRange(branch);
  }
  const [range, metarange] = ranges.slice(-2);
  await home.ok(["put", `${MAIN}/k1001`, "-"], { stdin: "staged" });
  return { home, storage, tables: { metarange: metarange!, range: range!, "older range": older } };
}

type Damage = (whole: Uint8Array) => Uint8Array;
type Damages = Readonly<Record<string, Damage>>;

function flippedAt(place: (whole: Uint8Array) => number): Damage {
  return (whole) => {
    const bytes = Uint8Array.from(whole);
    bytes[place(whole)]! ^= 0x10;
    return bytes;
  };
}

/** Returns where the blocks of a table lie that its footer names. */
function layoutOf(table: Uint8Array): Record<"metaindex" | "index", { offset: number; length: number }> {
  const numbers: number[] = [];
  for (let at = table.length - FOOTER_BYTES + 1; numbers.length < 4;) {
    let value = 0, shift = 0, byte: number;
    do {
      byte = table[at++]!;
      value += (byte & 127) * 2 ** shift;
      shift += 7;
    } while (byte > 127);
    numbers.push(value);
  }
  const [offset, length, indexOffset, indexLength] = numbers as [number, number, number, number];
  return { metaindex: { offset, length }, index: { offset: indexOffset, length: indexLength } };
}

const TRUNCATED: Damages = {
  "empty": () => new Uint8Array(0),
  "cut to a byte": (whole) => whole.subarray(0, 1),
  "cut in half": (whole) => whole.subarray(0, whole.length >> 1),
  "without its last byte": (whole) => whole.subarray(0, -1),
};

const DAMAGED_TABLE: Damages = {
  ...TRUNCATED,
  "flipped in its first block": flippedAt(() => 10),
  "flipped in a middle block": flippedAt((whole) => layoutOf(whole).index.offset >> 1),
  "flipped in its index": flippedAt((whole) => {
    const { offset, length } = layoutOf(whole).index;
    return offset + (length >> 1);
  }),
  "flipped in its properties": flippedAt((whole) => {
    const { index, metaindex } = layoutOf(whole);
    return (index.offset + index.length + TRAILER_BYTES + metaindex.offset) >> 1;
  }),
  "flipped in its metaindex": flippedAt((whole) => layoutOf(whole).metaindex.offset + 3),
  "flipped in its footer": flippedAt((whole) => whole.length - FOOTER_BYTES + 2),
  "flipped in its magic": flippedAt((whole) => whole.length - 2),
};

/** Those that every damage is tried with. */
const FEW = [
  ["cat", `${MAIN}@/k1001`],
  ["ls", MAIN],
  ["diff", `${MAIN}~1`, MAIN],
  ["merge", "lakefs://repo/side", MAIN, "--keep-staged", "--preview"],
];
const READINGS = [
  ...FEW,
  ["cat", `${MAIN}/k1001`],
  ["cat", `${MAIN}/k1599`],
  ["stat", `${MAIN}/k1500`],
  ["ls", `${MAIN}@`, "-r"],
  ["ls", `${MAIN}/k1500`],
  ["find", MAIN, "--name", "k15*"],
  ["du", MAIN],
  ["status", MAIN],
  ["diff", MAIN],
  ["log", MAIN],
  ["show", MAIN],
  ["blame", `${MAIN}/k1500`],
];

function checkAnswer(args: readonly string[], result: CliResult, wanted: CliResult, file: string): boolean {
  const what = `tarn ${args.join(" ")}: exit ${result.code}, ${result.stderr}`;
  assert.ok(result.code === 0 || result.code === 10, what);
  if (result.code === 0) assert.deepEqual(result.stdout.toString(), wanted.stdout.toString(), what);
  else {
    // What came before the damage was met is right as far as it goes.
    assert.ok(wanted.stdout.toString().startsWith(result.stdout.toString()), what);
    const [line, ...rest] = result.stderr.trimEnd().split("\n");
    assert.match(line!, new RegExp(`^tarn: \\S.*${file}`), what);
    assert.ok(rest.length <= 1 && !/\/home\/|storage\/|\n {4}at /.test(result.stderr), what);
  }
  return result.code === 10;
}

async function readAll(
  home: Home,
  readings: readonly (readonly string[])[] = READINGS,
): Promise<CliResult[]> {
  const results: CliResult[] = [];
  for (let i = 0; i < readings.length; i += 4) {
    results.push(...await Promise.all(readings.slice(i, i + 4).map((args) => home.run(args))));
  }
  return results;
}

/** Replaces a file's content, as damage does: whatever its mode. */
function overwrite(path: string, bytes: Uint8Array): void {
  fs.chmodSync(path, 0o600);
  fs.writeFileSync(path, bytes);
}

/** Reads everything, or a little, from a table that is damaged; returns how often that was told. */
async function readDamaged(
  { home }: Lake,
  { id, wanted, readings = READINGS }: { id: string; wanted: readonly CliResult[]; readings?: string[][] },
): Promise<number> {
  const results = await readAll(home, readings);
  return results.filter((result, i) => checkAnswer(readings[i]!, result, wanted[i]!, id)).length;
}

for (const name of ["metarange", "range", "older range"] as const) {
  test(`whatever reads a damaged ${name} names it, or answers as if it were whole`, async (t) => {
    const lake = await openLake(t);
    const id = lake.tables[name], path = join(lake.storage, "_lakefs", id);
    const whole = fs.readFileSync(path), wanted = await readAll(lake.home);
    for (const { code, stderr } of wanted) assert.equal(code, 0, stderr);
    for (const [how, damage] of Object.entries(DAMAGED_TABLE)) {
      overwrite(path, damage(whole));
      const told = await readDamaged(lake, { id, wanted, readings: FEW });
      // What is not needed is not read; of an older range that is all but a block for a difference.
      if (name !== "older range") assert.ok(told > 0, `${how}: nothing was told`);
    }
    for (const other of fs.readdirSync(join(lake.storage, "_lakefs"))) {
      if (other === id) continue;
      overwrite(path, fs.readFileSync(join(lake.storage, "_lakefs", other)));
      const told = await readDamaged(lake, { id, wanted, readings: FEW });
      assert.equal(told, name === "older range" ? 2 : 4, `with ${other} under its name`);
    }
    fs.unlinkSync(path);
    assert.ok(await readDamaged(lake, { id, wanted }) > 2);
    fs.writeFileSync(path, whole);
    assert.equal(await readDamaged(lake, { id, wanted }), 0);
  });
}

test("a commit or merge over a damaged table is refused, or makes what a whole one would have made", async (t) => {
  const lake = await openLake(t);
  const { home, storage, tables } = lake;
  const listed = async (ref: string) => await home.text(["ls", `lakefs://repo/${ref}@`, "--format", "csv"]);
  const write = async (branch: string) => {
    const committed = await home.run(["commit", `lakefs://repo/${branch}`, "-m", "more"]);
    const merged = await home.run([
      "merge",
      "lakefs://repo/side",
      `lakefs://repo/${branch}`,
      "--keep-staged",
    ]);
    return { committed, merged };
  };
  await home.ok(["reset", MAIN, "--yes"]);
  const prepare = async (branch: string) => {
    await home.ok(["branch", `lakefs://repo/${branch}`, "--from", "main"]);
    await home.ok(["put", `lakefs://repo/${branch}/k1200`, "-"], { stdin: "more" });
  };
  await prepare("sound");
  const sound = await write("sound");
  assert.deepEqual([sound.committed.code, sound.merged.code], [0, 0]);
  const both = (await listed("sound")).replace(/,[^,]*Z,/g, ",");
  let round = 0, refused = 0;
  for (const name of ["metarange", "range", "older range"] as const) {
    const path = join(storage, "_lakefs", tables[name]);
    const whole = fs.readFileSync(path);
    const swapped = () =>
      fs.readFileSync(join(storage, "_lakefs", tables[name === "range" ? "older range" : "range"]));
    const damages: Damages = { ...DAMAGED_TABLE, swapped };
    for (const [how, damage] of Object.entries(damages)) {
      const branch = `b${round++}`;
      await prepare(branch);
      overwrite(path, damage(whole));
      const { committed, merged } = await write(branch);
      overwrite(path, whole);
      for (const { code, stderr } of [committed, merged]) {
        assert.ok(code === 0 || (code === 10 && stderr.includes(tables[name])), `${name} ${how}: ${stderr}`);
        if (code === 10) refused++;
      }
      const now = Object.fromEntries(
        (await home.json(["ls", `lakefs://repo/${branch}@`]) as { path: string; size_bytes: number }[])
          .map(({ path, size_bytes }) => [path, size_bytes]),
      );
      assert.equal(Object.keys(now).length, COUNT, `${name} ${how}`);
      assert.equal(now["k1200"], committed.code === 0 ? 4 : 7, `${name} ${how}`);
      assert.equal(now["k1010"], merged.code === 0 ? "changed on side".length : 7, `${name} ${how}`);
      assert.equal(now["k1500"], "changed on main".length, `${name} ${how}`);
    }
  }
  assert.ok(refused > 20, `${refused} refused`);
  assert.equal((await listed("sound")).replace(/,[^,]*Z,/g, ","), both);
});

test("a table that does not verify is written again by the commit that makes it, and not reused", async (t) => {
  const { home, storage, tables } = await openLake(t);
  await home.ok(["reset", MAIN, "--yes"]);
  await home.ok(["branch", "lakefs://repo/again", "--from", "main~1"]);
  const whole = Object.fromEntries(
    [tables.range, tables.metarange].map((id) => [id, fs.readFileSync(join(storage, "_lakefs", id))]),
  );
  const older = fs.readFileSync(join(storage, "_lakefs", tables["older range"]));
  const damages: Damages = { ...DAMAGED_TABLE, swapped: () => older };
  for (const [how, damage] of Object.entries(damages)) {
    for (const [id, bytes] of Object.entries(whole)) overwrite(join(storage, "_lakefs", id), damage(bytes));
    await home.ok(["reset", "lakefs://repo/again", "--to", "main~1", "--yes"]);
    await home.ok(["put", "lakefs://repo/again/k1500", "-"], { stdin: "changed on main" });
    await home.ok(["commit", "lakefs://repo/again", "-m", how]);
    const { meta_range_id } = await home.json(["show", "lakefs://repo/again"]);
    assert.equal(meta_range_id, tables.metarange, how);
    for (const ref of ["main", "again"]) {
      assert.equal(await home.text(["cat", `lakefs://repo/${ref}/k1500`]), "changed on main", how);
      assert.equal((await home.json(["ls", `lakefs://repo/${ref}`])).length, COUNT, how);
    }
  }
});

test("a damaged object is named by its path, never given out, and in nobody's way but its reader's", async (t) => {
  const { home } = await openLake(t);
  const addressOf = async (key: string) => {
    const { physical_address } = await home.json(["stat", `${MAIN}/${key}`]);
    return join(home.path, "storage", physical_address.slice("local://".length));
  };
  const path = await addressOf("k1300"), whole = fs.readFileSync(path);
  const other = fs.readFileSync(await addressOf("k1301"));
  const damages = {
    ...TRUNCATED,
    flipped: flippedAt(() => 2),
    longer: (bytes: Uint8Array) => Uint8Array.from([...bytes, 0]),
    swapped: () => other,
  };
  for (const [how, damage] of Object.entries(damages)) {
    overwrite(path, damage(whole));
    for (const args of [["cat", `${MAIN}/k1300`], ["get", `${MAIN}/k1300`, "out"]]) {
      const { code, stdout, stderr } = await home.run(args);
      assert.equal(code, 10, `${how}: ${args}: ${stderr}`);
      assert.ok(stderr.includes("k1300") && !stderr.includes(home.path), `${how}: ${stderr}`);
      assert.equal(stdout.length, 0, how);
    }
    assert.ok(!fs.existsSync(join(home.folder, "out")), how);
    for (
      const args of [["stat", `${MAIN}/k1300`], ["ls", MAIN], ["diff", `${MAIN}~1`, MAIN], ["status", MAIN]]
    ) {
      await home.ok(args);
    }
  }
  const all = await home.run(["get", `${MAIN}/`, "all", "-r"]);
  assert.deepEqual([all.code, all.stderr.includes("k1300")], [7, true], all.stderr);
  const got = fs.readdirSync(join(home.folder, "all"));
  assert.deepEqual([got.length, got.includes("k1300")], [COUNT - 1, false]);
  await home.ok(["merge", "lakefs://repo/side", MAIN, "--keep-staged"]);
  await home.ok(["commit", MAIN, "-m", "over it"]);
  overwrite(path, whole);
  assert.equal(await home.text(["cat", `${MAIN}/k1300`]), "of 1300");
});

test("damaged side files of ranges, and what put remembers of a folder, change no answer", async (t) => {
  const { home } = await openLake(t);
  await home.ok(["put", `${MAIN}/`, "in", "-r", "--exclude", "k1001"]);
  const wanted = await readAll(home);
  const files = () =>
    ["cache", "index"].flatMap((folder) =>
      fs.readdirSync(join(home.path, folder), { recursive: true, encoding: "utf8" })
        .map((name) => join(home.path, folder, name)).filter((path) => fs.statSync(path).isFile())
    );
  assert.ok(
    files().some((path) => path.endsWith(".ids")) && files().some((path) => path.endsWith(".blocks")),
  );
  const damages = {
    "empty": TRUNCATED["empty"]!,
    "cut in half": TRUNCATED["cut in half"]!,
    "flipped in the middle": flippedAt((whole) => whole.length >> 1),
    "flipped at its end": flippedAt((whole) => whole.length - 1),
  };
  let round = 0;
  async function checkAll(how: string): Promise<void> {
    for (const [i, result] of (await readAll(home)).entries()) {
      assert.equal(checkAnswer(READINGS[i]!, result, wanted[i]!, ""), false, `${how}: ${result.stderr}`);
    }
    const branch = `lakefs://repo/b${round++}`;
    await home.ok(["branch", branch, "--from", "main"]);
    await home.ok(["put", `${branch}/k1200`, "-"], { stdin: "more" });
    await home.ok(["commit", branch, "-m", "more"]);
    await home.ok(["merge", "lakefs://repo/side", branch]);
    const { meta_range_id } = await home.json(["show", branch]);
    ids.add(meta_range_id);
    const again = await home.json(["put", `${MAIN}/`, "in", "-r", "--exclude", "k1001"]);
    assert.deepEqual([again.put, again.unchanged], [0, COUNT - 1], how);
  }
  const ids = new Set<string>();
  for (const [how, damage] of Object.entries(damages)) {
    for (const path of files()) overwrite(path, damage(fs.readFileSync(path)));
    await checkAll(how);
  }
  const swapped = files().filter((path) => path.endsWith(".ids") || path.endsWith(".blocks")).sort();
  const contents = swapped.map((path) => fs.readFileSync(path));
  for (const [i, path] of swapped.entries()) {
    const other = swapped.findIndex((name, j) => j !== i && name.endsWith(path.slice(-4)) && j > i);
    overwrite(path, contents[other < 0 ? 0 : other]!);
  }
  await checkAll("swapped");
  // A merge's records are the same each time.
  assert.equal(ids.size, 1);
});
