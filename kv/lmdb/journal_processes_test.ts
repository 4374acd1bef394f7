import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { hex, utf8 } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { requireTool } from "../../tests/support/requires.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import type { KvStore } from "../store.ts";
import { END_AT } from "./journal_format.ts";
import { checkDatabase, openLmdb } from "./mod.ts";
import { P, runOf } from "./testdata/relaxed.ts";

const PROGRAM = fileURLToPath(new URL("./testdata/relaxed.ts", import.meta.url));
const RELAXED = { relaxed: true }, NEVER = { relaxedForMs: 2 ** 30 };

interface Running {
  readonly name: string;
  readonly child: ChildProcess;
  /** Resolves when something was answered. */
  readonly hasBegun: Promise<unknown>;
  /** The number of the last write that was answered, once it has ended. */
  readonly answered: Promise<number>;
}

function start(folder: string, name: string): Running {
  const child = spawn(process.execPath, [PROGRAM, "steps", folder, name], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout!.setEncoding("utf8").on("data", (piece: string) => text += piece);
  const answered = once(child, "close").then(() => Number(text.split("\n").at(-2) ?? -1));
  return { name, child, hasBegun: once(child.stdout!, "data"), answered };
}

/** Returns what a process has left, by key. */
async function leftBy(store: KvStore, name: string): Promise<string> {
  const lines: string[] = [];
  for await (const page of store.scan(P, { prefix: utf8(`${name}/`) })) {
    for (const { key, value } of page) lines.push(`${new TextDecoder().decode(key)}=${hex(value)}`);
  }
  return lines.join("\n");
}

/** Returns what a process leaves when so many of its writes have come to be. */
function leftAfter(name: string, writes: number): string {
  const model = new Map<string, string>();
  let done = 0;
  for (const { puts, deletes } of runOf(name)) {
    if (done++ === writes) break;
    for (const [key, value] of puts) model.set(key, hex(value));
    for (const key of deletes) model.delete(key);
  }
  return [...model].sort(([a], [b]) => a < b ? -1 : 1).map(([key, value]) => `${key}=${value}`).join("\n");
}

test("after kill -9 of any of several that write relaxed and strict, all that was answered is there, in order", async (t) => {
  const folder = temporaryFolder(t);
  const chance = seededRandomness(8);
  let running = ["a", "b", "c"].map((name) => start(folder, name));
  const ended: { name: string; answered: number }[] = [];
  let journals = 0;
  for (let round = 0; round < 12; round++) {
    await Promise.all(running.map(({ hasBegun }) => hasBegun));
    await new Promise((resolve) => setTimeout(resolve, chance.fraction() * 150));
    const victims = running.filter(() => chance.fraction() < 0.6);
    for (const { child } of victims) child.kill("SIGKILL");
    for (const { name, answered } of victims) ended.push({ name, answered: await answered });
    running = running.filter((one) => !victims.includes(one));
    if (existsSync(join(folder, "journal"))) journals++;
    const reader = await openLmdb(folder, { readOnly: true });
    for (const { name, answered } of ended) {
      const left = await leftBy(reader, name);
      // The write after the last that was answered may have come to be.
      const expected = [answered + 1, answered + 2].map((writes) => leftAfter(name, writes));
      assert.ok(expected.includes(left), `${name}, ${answered}: ${left}`);
    }
    await reader.close();
    for (const { name } of victims) running.push(start(folder, `${name}${round}`));
  }
  for (const { child } of running) child.kill("SIGKILL");
  for (const { name, answered } of running) ended.push({ name, answered: await answered });
  const { journal } = await checkDatabase(folder);
  assert.ok(journal !== undefined && journal !== "missing" && journal.tornBytes === 0);
  assert.ok(journals > 6 && ended.length > 10);
  const store = await openLmdb(folder);
  const before = await Promise.all(ended.map(({ name }) => leftBy(store, name)));
  await store.set(P, utf8("zz"), utf8("strict"));
  for (const [i, { name, answered }] of ended.entries()) {
    assert.equal(await leftBy(store, name), before[i], "taking it in changes nothing");
    assert.ok([answered + 1, answered + 2].some((writes) => leftAfter(name, writes) === before[i]), name);
  }
  await store.close();
});

test("while another process writes relaxed each page that is read is of one moment, and none goes back", async (t) => {
  const folder = temporaryFolder(t);
  await (await openLmdb(folder)).close();
  const child = spawn(process.execPath, [PROGRAM, "rounds", folder, "3000"], {
    stdio: ["ignore", "ignore", "inherit"],
  });
  const ended = once(child, "exit");
  const store = await openLmdb(folder);
  t.after(() => store.close());
  let last = -1, seen = 0;
  const note = (round: number) => {
    assert.ok(round >= last, `round ${round} after ${last}`);
    if (round !== last) seen++;
    last = round;
  };
  const roundOf = (value: Uint8Array) => new DataView(value.buffer, value.byteOffset).getUint32(0);
  while (child.exitCode === null) {
    for await (const page of store.scan(P)) {
      const rounds = new Set(page.map(({ value }) => roundOf(value)));
      assert.equal(rounds.size, 1, `rounds ${[...rounds]} in one page`);
      assert.equal(page.length, 60);
      note([...rounds][0]!);
    }
    const one = await store.get(P, utf8("key 30"));
    if (one) note(roundOf(one.value));
    await new Promise((resolve) => setImmediate(resolve));
  }
  assert.deepEqual(await ended, [0, null]);
  assert.ok(seen > 50, `only ${seen} rounds were seen`);
  assert.equal(last, 2999);
});

test("a process that ends within the transaction that takes in the journal leaves it as it was", async (t) => {
  const folder = temporaryFolder(t);
  const store = await openLmdb(folder, NEVER);
  await store.setMany(P, [{ key: utf8("begin"), value: P }], RELAXED);
  await store.setMany(P, [{ key: utf8("a"), value: P }], RELAXED);
  const { signal, stderr } = spawnSync(process.execPath, [PROGRAM, "die", folder], { encoding: "utf8" });
  assert.deepEqual([signal, stderr], ["SIGKILL", ""]);
  assert.deepEqual((await checkDatabase(folder)).journal, { entries: 1, tornBytes: 0 });
  assert.ok(await store.get(P, utf8("a")));
  await store.setMany(P, [{ key: utf8("b"), value: P }], RELAXED);
  await store.close();
  const again = await openLmdb(folder);
  assert.ok(await again.get(P, utf8("a")) && await again.get(P, utf8("b")));
  await again.close();
});

test("where files may not grow any further relaxed writes are refused whole, and what was answered stays", async (t) => {
  if (!requireTool(t, "sh")) return;
  for (const kilobytes of [160, 256, 400]) {
    const folder = temporaryFolder(t);
    const script = `trap '' XFSZ; ulimit -f ${kilobytes * 2}; exec "$@"`;
    const { stdout, stderr } = spawnSync("sh", [
      "-c",
      script,
      "sh",
      process.execPath,
      PROGRAM,
      "fill",
      folder,
    ], {
      encoding: "utf8",
    });
    assert.equal(stderr, "");
    const [answered, relaxed, strict] = stdout.trim().split(" ");
    assert.deepEqual([relaxed, strict], ["kv_full", "kv_full"]);
    assert.ok(Number(answered) > 5, stdout);
    await checkFilled(folder, Number(answered));
  }
});

async function checkFilled(folder: string, answered: number): Promise<void> {
  const store = await openLmdb(folder);
  const keys: string[] = [];
  for await (const page of store.scan(P)) keys.push(...page.map(({ key }) => new TextDecoder().decode(key)));
  assert.deepEqual(keys, Array.from({ length: answered }, (_, i) => [`${i}`, `${i} again`]).flat().sort());
  await store.set(P, utf8("strict"), utf8("value"));
  await store.close();
  await checkDatabase(folder);
}

/** Runs a mode of the program under strace; returns its calls on the store's files between two lines that it writes. */
function callsOf(mode: string, folder: string): (from: string, to: string) => string[] {
  const trace = join(folder, "trace");
  const program = [process.execPath, PROGRAM, mode, join(folder, "db")];
  execFileSync("strace", ["-f", "-y", "-o", trace, ...program]);
  const text = readFileSync(trace, "utf8");
  return (from, to) => {
    const [start, end] = [text.indexOf(`"${from}\\n"`), text.indexOf(`"${to}\\n"`)];
    assert.ok(start > 0 && end > start);
    return text.slice(start, end).split("\n")
      .flatMap((line) => {
        const [, call, file] = /(\w+)\([^)]*\/db\/([\w.]+)/.exec(line) ?? [];
        if (!call) return [];
        const isOfEnd = call === "pwrite64" && new RegExp(`, ${END_AT}(?:\\)| <)`).test(line);
        return `${call} ${file}${isOfEnd ? ", its end" : ""}`;
      });
  };
}

/** Returns what a mode of the program writes, locks and flushes between its two lines. */
function writesOf(t: TestContext, mode: string): string[] {
  return callsOf(mode, temporaryFolder(t))("BEGIN", "ANSWERED").filter((call) =>
    /^(?:pwrite64|write|flock|fsync|fdatasync|ftruncate|openat)/.test(call)
  );
}

test("a relaxed write is its record and then the journal's end, under the lock, and no flush", (t) => {
  if (!requireTool(t, "strace")) return;
  assert.deepEqual(writesOf(t, "trace"), [
    "flock writer.lock",
    "pwrite64 journal",
    "pwrite64 journal, its end",
    "flock writer.lock",
  ]);
});

test("a strict write of a journaled store is flushed with the journal, once, and then noted as kept", (t) => {
  if (!requireTool(t, "strace")) return;
  assert.deepEqual(writesOf(t, "traceStrict"), [
    "flock writer.lock",
    "pwrite64 journal",
    "pwrite64 journal, its end",
    "fdatasync journal",
    "pwrite64 journal",
    "flock writer.lock",
  ]);
});

/** Raises a number six times by the journal, while the system refuses flushes; returns what became of each, and what is stored. */
async function raisedWhileRefused(folder: string, paths: readonly string[], when: string) {
  const trace = join(folder, "trace");
  const { stdout } = spawnSync("strace", [
    "-f",
    ...["-o", trace],
    ...paths.flatMap((path) => ["-P", join(folder, "db", path)]),
    ...["-e", `inject=fdatasync:error=EIO:when=${when}`],
    ...[process.execPath, PROGRAM, "refused", join(folder, "db")],
  ], { encoding: "utf8" });
  assert.match(readFileSync(trace, "utf8"), /EIO[^\n]*INJECTED/);
  const store = await openLmdb(join(folder, "db"), { readOnly: true });
  const found = await store.get(P, utf8("key"));
  await store.close();
  return { outcomes: stdout.trim().split("\n"), stored: new TextDecoder().decode(found!.value) };
}

test("where the flush of a journaled write fails a transaction takes it in", async (t) => {
  if (!requireTool(t, "strace")) return;
  const { outcomes, stored } = await raisedWhileRefused(temporaryFolder(t), ["journal"], "2");
  assert.deepEqual(outcomes, Array(6).fill("kept"));
  assert.equal(stored, "6");
});

test("where no flush succeeds nothing is told to be kept, nor carried out twice", async (t) => {
  if (!requireTool(t, "strace")) return;
  const { outcomes, stored } = await raisedWhileRefused(temporaryFolder(t), ["journal", "data.mdb"], "4+");
  const kept = outcomes.filter((outcome) => outcome === "kept").length;
  assert.ok(kept > 0 && kept < 5, outcomes.join());
  assert.deepEqual(outcomes, [...Array(kept).fill("kept"), ...Array(6 - kept).fill("kv_unavailable")]);
  assert.ok([kept, kept + 1].includes(Number(stored)), `${stored} after ${kept}`);
});

test("a store without a journal looks for one once a state, and else does nothing for it", (t) => {
  if (!requireTool(t, "strace")) return;
  const calls = callsOf("plain", temporaryFolder(t));
  assert.deepEqual(calls("BEGIN", "READ").filter((call) => call.endsWith(" journal")), []);
  const looks = calls("READ", "ANSWERED").filter((call) => call.endsWith(" journal"));
  assert.equal(looks.length, 10, looks.join());
});
