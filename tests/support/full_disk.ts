/**
 * Commands of the executable on a disk that has no room, at every write that they do: the room grows by a page until the
 * command succeeds.
 *
 * After each refusal nothing that was there before is missing, nothing half-done looks done, and with room the same command
 * succeeds.
 */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { binaryPath, type BinaryRun, runBinary } from "./binary.ts";

const MAIN = "lakefs://repo/main";
const PAGE_BYTES = 4096;
const MOST_PAGES = 400;
const FULL = ["disk_full", "kv_full", "storage_full"];

/** A command, and what another one prints once it is done. */
interface Case {
  readonly args: readonly string[];
  readonly shows: readonly [args: readonly string[], text: RegExp];
  /** Whether a part of its work may be there after it failed, as of any batch. */
  readonly isBatch?: boolean;
  /** Whether it begins without a home. */
  readonly isFirst?: boolean;
}

/** The commands by name; they run in the folder that {@link makeStart} fills. */
export const CASES: Readonly<Record<string, Case>> = {
  put: { args: ["put", `${MAIN}/new`, "large"], shows: [["cat", `${MAIN}/new`], /^l{30000}$/] },
  "put -r": {
    args: ["put", `${MAIN}/x/`, "files", "-r"],
    shows: [["ls", `${MAIN}/x/`], /^(3000\t\S+\tx\/f\d+\n){12}$/],
    isBatch: true,
  },
  commit: {
    args: ["commit", "lakefs://repo/staged", "-m", "x"],
    shows: [["ls", "lakefs://repo/staged@/s/"], /^(3000\t\S+\ts\/f\d+\n){12}$/],
  },
  merge: {
    args: ["merge", "lakefs://repo/dev", MAIN],
    shows: [["cat", `${MAIN}/of-dev`], /^dev$/],
  },
  "branch create": {
    args: ["branch", "create", "lakefs://repo/more", "--from", "main"],
    shows: [["cat", "lakefs://repo/more/first"], /^first$/],
  },
  "tag create": {
    args: ["tag", "create", "lakefs://repo/v1", "main"],
    shows: [["cat", "lakefs://repo/v1/first"], /^first$/],
  },
  "repo create": {
    args: ["repo", "create", "lakefs://another"],
    shows: [["log", "lakefs://another/main"], /Repository created/],
  },
  rm: { args: ["rm", `${MAIN}/second`], shows: [["status", MAIN], /^removed\tsecond\n$/] },
  reset: {
    args: ["reset", "lakefs://repo/staged", "--yes"],
    shows: [["status", "lakefs://repo/staged"], /^$/],
  },
  init: { args: ["init"], shows: [["version"], /\(ready\)/], isFirst: true },
  "repo create without a home": {
    args: ["repo", "create", "lakefs://another"],
    shows: [["log", "lakefs://another/main"], /Repository created/],
    isFirst: true,
  },
};

/** Makes files to put, and a home to begin from, in a folder. */
export function makeStart(folder: string): void {
  fs.mkdirSync(join(folder, "files"));
  for (let i = 0; i < 12; i++) fs.writeFileSync(join(folder, "files", `f${i}`), `${i % 10}`.repeat(3000));
  fs.writeFileSync(join(folder, "large"), "l".repeat(30000));
  const run = runner(folder, join(folder, "start"));
  const ok = (args: readonly string[], input?: string) =>
    assert.equal(run(args, { input }).exitCode, 0, args.join(" "));
  ok(["repo", "create", "lakefs://repo"]);
  ok(["put", `${MAIN}/first`, "-"], "first");
  ok(["commit", MAIN, "-m", "first"]);
  ok(["branch", "lakefs://repo/dev", "--from", "main"]);
  ok(["put", "lakefs://repo/dev/of-dev", "-"], "dev");
  ok(["commit", "lakefs://repo/dev", "-m", "of dev"]);
  ok(["put", `${MAIN}/second`, "-"], "second");
  ok(["commit", MAIN, "-m", "second"]);
  ok(["branch", "lakefs://repo/staged", "--from", "main"]);
  ok(["put", "lakefs://repo/staged/s/", "files", "-r"]);
  // Where the home is not there yet, the library has to be: it is larger than the room.
  fs.cpSync(join(folder, "start", "native"), join(folder, "cache", "tarn", "native"), { recursive: true });
}

/** A disk without room: how a home on it is limited to some pages, and how it is given room again. */
export interface Disk {
  readonly folder: string;
  /** By how much room grows from one try to the next. */
  readonly stepPages: number;
  /** Takes all room but this; returns what to run the executable by, if not directly. */
  limit(bytes: number): readonly string[];
  free(): void;
}

/** Tries a command with more and more room; returns how often it was refused. */
export function tryAllRooms(folder: string, { name, disk }: { name: string; disk: Disk }): number {
  const tried = CASES[name]!;
  const home = join(disk.folder, "home");
  const run = runner(folder, home);
  const before = tried.isFirst ? "" : stateOf(runner(folder, join(folder, "start")));
  for (let pages = 0; pages < MOST_PAGES; pages += tried.isFirst ? 3 : disk.stepPages) {
    disk.free();
    fs.rmSync(home, { recursive: true, force: true });
    if (!tried.isFirst) fs.cpSync(join(folder, "start"), home, { recursive: true });
    const by = disk.limit(pages * PAGE_BYTES);
    const first = run([...tried.args, "--json"], { by });
    if (first.exitCode !== 0) {
      requireFull(first, `${name}, ${pages} pages`);
      if (!tried.isFirst) assert.equal(run(["cat", `${MAIN}/first`]).stdout, "first", "reads need no room");
      disk.free();
      // What failed after it had landed, while it was tidying up, is done as a whole.
      const hasLanded = isDone(run, tried);
      if (!tried.isFirst && !tried.isBatch && !hasLanded) {
        assert.equal(stateOf(run), before, "half of it is done");
      }
      const again = hasLanded ? undefined : run(tried.args);
      assert.equal(again?.exitCode ?? 0, 0, again?.stderr);
    }
    disk.free();
    assert.ok(isDone(run, tried), `${name}, ${pages} pages: it is not done`);
    if (first.exitCode === 0) return pages;
  }
  throw new Error(`${name} does not succeed with ${MOST_PAGES} pages`);
}

function isDone(run: Run, { shows: [args, text] }: Case): boolean {
  const { exitCode, stdout } = run(args);
  return exitCode === 0 && text.test(stdout);
}

/** All that commands show before and after one that failed. */
function stateOf(run: Run): string {
  const shown = [
    ["repo", "list"],
    ["ls", "lakefs://repo"],
    ["status", MAIN],
    ["status", "lakefs://repo/staged"],
  ].map((args) => run(args));
  for (const { exitCode, stderr } of shown) assert.equal(exitCode, 0, stderr);
  return shown.map(({ stdout }) => stdout).join("--\n");
}

function requireFull({ exitCode, stderr }: BinaryRun, what: string): void {
  assert.equal(exitCode, 8, `${what}: exit ${exitCode}: ${stderr}`);
  let error;
  try {
    error = JSON.parse(stderr) as { code: string; hint?: string };
  } catch {
    throw new Error(`${what}: more than an error was said: ${stderr}`);
  }
  assert.ok(FULL.includes(error.code), `${what}: ${stderr}`);
  assert.match(error.hint ?? "", /Make room/, what);
}

type Run = (
  args: readonly string[],
  options?: { input?: string; by?: readonly string[] },
) => BinaryRun;

function runner(folder: string, home: string): Run {
  const environment = {
    TARN_HOME: home,
    TARN_USER: "tester",
    XDG_CACHE_HOME: join(folder, "cache"),
    TZ: "UTC",
  };
  return (args, { input, by = [] } = {}) => {
    const [program, ...rest] = [...by, binaryPath(), ...args];
    return runBinary(rest, { program, folder, environment, input });
  };
}
