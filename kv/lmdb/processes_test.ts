import assert from "node:assert/strict";
import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { utf8 } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { requireTool } from "../../tests/support/requires.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import type { KvStore } from "../store.ts";
import { openLmdb } from "./mod.ts";

const PROGRAM = fileURLToPath(new URL("./testdata/process.ts", import.meta.url));
const P = utf8("partition");

interface Running {
  readonly child: ChildProcess;
  /** All that it wrote to standard output, once it has ended. */
  readonly output: Promise<string>;
}

function start(mode: string, folder: string, argument: string): Running {
  const child = spawn(process.execPath, [PROGRAM, mode, folder, argument], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout!.setEncoding("utf8").on("data", (piece: string) => text += piece);
  const output = new Promise<string>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", () => resolve(text));
  });
  return { child, output };
}

test("processes that raise one counter with setIf() at once lose nothing", async (t) => {
  const folder = temporaryFolder(t);
  const running = ["a", "b", "c", "d"].map(() => start("count", folder, "50"));
  for (const { output } of running) assert.equal(await output, "done\n");
  const store = await openLmdb(folder);
  t.after(() => store.close());
  const counter = await store.get(P, utf8("counter"));
  assert.equal(new TextDecoder().decode(counter!.value), "200");
});

test("processes that open, write once and close, again and again, lose none of their writes", async (t) => {
  const folder = temporaryFolder(t);
  const names = Array.from({ length: 10 }, (_, i) => `p${i}`);
  for (const { output } of names.map((name) => start("visit", folder, name))) {
    assert.equal(await output, "done\n");
  }
  const store = await openLmdb(folder);
  t.after(() => store.close());
  let found = 0;
  for await (const page of store.scan(P)) found += page.length;
  assert.equal(found, 30 * names.length);
});

test("after kill -9 in mid-write the others go on, and every answered write is there whole", async (t) => {
  const folder = temporaryFolder(t);
  const chance = seededRandomness(3);
  const steady = start("write", folder, "steady");
  const answered = new Map<string, number>();
  for (let round = 0; round < 8; round++) {
    const victim = start("write", folder, `victim${round}`);
    await firstLine(victim);
    await new Promise((resolve) => setTimeout(resolve, chance.fraction() * 60));
    victim.child.kill("SIGKILL");
    answered.set(`victim${round}`, lastLine(await victim.output));
    const before = await newestOf(folder, "steady");
    await until(async () => await newestOf(folder, "steady") > before);
  }
  steady.child.kill("SIGKILL");
  answered.set("steady", lastLine(await steady.output));

  const store = await openLmdb(folder);
  t.after(() => store.close());
  for (const [name, last] of answered) await assertAnswered(store, name, last);
  await store.set(P, utf8("after"), utf8("all"));
});

async function assertAnswered(store: KvStore, name: string, last: number): Promise<void> {
  assert.ok(last >= 0, `${name} was never answered`);
  for (let i = 0; i <= last; i++) {
    for (const part of [0, 1, 2]) {
      const stored = await store.get(P, utf8(`${name}/${i}/${part}`));
      assert.deepEqual(stored?.value, new Uint8Array(i % 3000).fill(i % 251), `${name}/${i}/${part}`);
    }
  }
  // A transaction that was not answered is there whole or not at all, and nothing comes after it.
  const parts = await Promise.all([0, 1, 2].map((part) => store.get(P, utf8(`${name}/${last + 1}/${part}`))));
  assert.equal(new Set(parts.map((part) => part === undefined)).size, 1, `${name}/${last + 1} is torn`);
  assert.equal(await store.get(P, utf8(`${name}/${last + 2}/0`)), undefined);
}

async function firstLine({ child }: Running): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    child.stdout!.once("data", () => resolve());
    child.once("close", () => reject(new Error("it ended without a line")));
  });
}

function lastLine(output: string): number {
  const lines = output.split("\n").slice(0, -1);
  return lines.length === 0 ? -1 : Number(lines.at(-1));
}

/** Returns how many entries of a writer there are, read by a store that is opened for it. */
async function newestOf(folder: string, name: string): Promise<number> {
  const store = await openLmdb(folder, { readOnly: true });
  let count = 0;
  for await (const page of store.scan(P, { prefix: utf8(`${name}/`) })) count += page.length;
  await store.close();
  return count;
}

async function until(condition: () => Promise<boolean>): Promise<void> {
  while (!await condition()) await new Promise((resolve) => setTimeout(resolve, 5));
}

test("a store outgrows its map while several processes use it", async (t) => {
  const folder = temporaryFolder(t);
  const running = ["a", "b", "c"].map((name) => start("outgrow", folder, name));
  for (const { output } of running) assert.equal(await output, "done\n");
});

type FileEvent = "pages" | "meta" | "meta, synchronously" | "sync";

/**
 * Runs one write under strace and returns what happened to the database file, in order, from the moment before the
 * write to its answer. The first two pages are the meta pages: a commit is visible to all processes once one of them
 * is written, and durable if that went through the descriptor opened with O_DSYNC after its pages were synced.
 */
function traceOfWrite(mode: string, folder: string): FileEvent[] {
  const trace = join(folder, "trace");
  const calls = "trace=openat,write,writev,pwrite64,pwritev,fdatasync,fsync,msync";
  const program = [process.execPath, PROGRAM, mode, join(folder, "db"), ""];
  execFileSync("strace", ["-f", "-y", "-e", calls, "-o", trace, ...program]);
  const text = readFileSync(trace, "utf8");
  const begin = text.indexOf('"BEGIN\\n"');
  // The database was opened before, too, to be made; that descriptor is closed.
  const opens = text.slice(0, begin).matchAll(/openat\(.*data\.mdb", O_WRONLY\|O_DSYNC\S* *= (\d+)/g);
  const synchronous = [...opens].at(-1)?.[1];
  const window = text.slice(begin, text.indexOf('"ANSWERED\\n"'));
  assert.ok(window.length > 0, "the program said where its write begins and where it was answered");
  return window.split("\n").flatMap((line): FileEvent[] => {
    const call = /(\w+)\((\d+)<[^>]*data\.mdb/.exec(line);
    if (!call) return [];
    if (call[1] === "fdatasync" || call[1] === "fsync") return ["sync"];
    const offset = call[1] === "pwrite64" ? Number(/, (\d+)(?:\)| <unfinished)/.exec(line)![1]) : Infinity;
    if (offset >= META_BYTES) return ["pages"];
    return [call[2] === synchronous ? "meta, synchronously" : "meta"];
  });
}

const META_BYTES = 2 * 4096;
const DURABLE: readonly FileEvent[] = ["pages", "sync", "meta, synchronously"];

test("a write is visible, and answered, only after its pages are on disk", (t) => {
  if (!requireTool(t, "strace")) return;
  assert.deepEqual(traceOfWrite("single", temporaryFolder(t)), DURABLE);
});

test("the trace shows that with the package's defaults a write is visible before it is on disk", (t) => {
  if (!requireTool(t, "strace")) return;
  assert.deepEqual(traceOfWrite("planted", temporaryFolder(t)).slice(0, 2), ["pages", "meta"]);
});
