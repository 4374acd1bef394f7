/** Puts that are interrupted, or whose files change under them: nothing torn is stored, and nothing unfinished stays. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { it, type TestContext } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import { binaryPath } from "../support/binary.ts";
import { type Home, openHome } from "../support/home.ts";

const CONFIG = `
schemes:
  data: {parts: [project], rest: path, target: "lakefs://{project}/{ref}/{path}", ref: main}
`;
const MAIN = "lakefs://repo/main";
/** A put of so much takes long enough to be met half-way. */
const LARGE_BYTES = 300_000_000;

interface Put {
  readonly ended: Promise<{ code: number | null; stderr: string }>;
  /** Gives a put of standard input something, and leaves that open. */
  feed(): Promise<void>;
  kill(signal: NodeJS.Signals): void;
}

function start(home: Home, args: readonly string[], stdin: "ignore" | "pipe" = "ignore"): Put {
  const env = { TARN_HOME: home.path, TARN_USER: "tester" };
  const child = spawn(binaryPath(), args, { cwd: home.folder, env, stdio: [stdin, "ignore", "pipe"] });
  child.stdin?.on("error", () => {});
  let stderr = "";
  child.stderr!.on("data", (piece) => stderr += piece);
  const ended = new Promise<{ code: number | null; stderr: string }>((resolve) => {
    child.on("close", (code) => resolve({ code, stderr }));
  });
  // More than a pipe holds: once it is gone, the command is reading.
  const feed = () => new Promise<void>((done) => child.stdin!.write(new Uint8Array(1_000_000), () => done()));
  return { ended, feed, kill: (signal) => void child.kill(signal) };
}

/** Returns the files that hold objects' bytes. */
function objectFiles(home: Home): { path: string; size: number }[] {
  const storage = join(home.path, "storage");
  return fs.readdirSync(storage, { recursive: true, withFileTypes: true }).flatMap((entry) => {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile() || !path.includes("/data/")) return [];
    const stat = fs.statSync(path, { throwIfNoEntry: false });
    return stat ? [{ path, size: stat.size }] : [];
  });
}

function storedBytes(home: Home): number {
  return objectFiles(home).reduce((sum, { size }) => sum + size, 0);
}

async function untilStored(home: Home, bytes: number): Promise<void> {
  for (const until = performance.now() + 60_000; storedBytes(home) < bytes; await sleep(2)) {
    assert.ok(performance.now() < until, "nothing was stored");
  }
}

async function withRepo(t: TestContext): Promise<Home> {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  return home;
}

/** Makes a file that is quick to make and slow to put. */
function largeFile(home: Home, name: string): string {
  const path = join(home.folder, name);
  fs.writeFileSync(path, "begin");
  fs.truncateSync(path, LARGE_BYTES);
  return path;
}

function overwrite(path: string, text: string): void {
  const descriptor = fs.openSync(path, "r+");
  fs.writeSync(descriptor, text, 0);
  fs.closeSync(descriptor);
}

const CHANGES: Readonly<Record<string, (path: string) => void>> = {
  "written to in place": (path) => overwrite(path, "BEGIN"),
  "cut": (path) => fs.truncateSync(path, 10),
  "appended to": (path) => fs.appendFileSync(path, "more"),
};

for (const [what, change] of Object.entries(CHANGES)) {
  it(`a file that is ${what} while it is put is refused, and nothing of it stays`, async (t) => {
    const home = await withRepo(t);
    const path = largeFile(home, "large");
    const put = start(home, ["put", `${MAIN}/large`, path]);
    await untilStored(home, 10_000_000);
    change(path);
    const { code, stderr } = await put.ended;
    assert.equal(code, 4, stderr);
    assert.equal(
      stderr,
      `tarn: Cannot put "${path}": it changed while it was read\n  Run it again when nothing writes to it.\n`,
    );
    assert.deepEqual(await home.json(["ls", "-r", MAIN]), []);
    assert.deepEqual(objectFiles(home), []);
  });
}

it("put -r and cp leave out a file that changes, and put the others; mv leaves it where it is", async (t) => {
  const home = await withRepo(t);
  for (const verb of ["put", "cp", "mv"]) {
    const folder = join(home.folder, verb);
    fs.mkdirSync(folder);
    const path = largeFile(home, `${verb}/large`);
    fs.writeFileSync(join(folder, "small"), verb);
    const uri = `${MAIN}/${verb}/`;
    const before = storedBytes(home);
    const put = start(home, verb === "put" ? ["put", uri, folder, "-r"] : [verb, folder, uri, "-r"]);
    await untilStored(home, before + 10_000_000);
    overwrite(path, "BEGIN");
    const { code, stderr } = await put.ended;
    assert.equal(code, 7, stderr);
    assert.equal(stderr, `tarn: Cannot put "${path}": it changed while it was read\n`);
    assert.deepEqual((await home.json(["ls", "-r", uri])).map(({ path }: { path: string }) => path), [
      `${verb}/small`,
    ]);
    assert.deepEqual(fs.readdirSync(folder).sort(), verb === "mv" ? ["large"] : ["large", "small"]);
  }
});

it("a put through the catalog refuses a file that changes", async (t) => {
  const home = await withRepo(t);
  const config = join(home.folder, "tarn.yaml");
  fs.writeFileSync(config, CONFIG);
  const path = largeFile(home, "large");
  const put = start(home, ["put", "data://repo/large", path, "--config", config]);
  await untilStored(home, 10_000_000);
  overwrite(path, "BEGIN");
  const { code, stderr } = await put.ended;
  assert.equal(code, 4, stderr);
  assert.match(stderr, /large": it changed while it was read/);
  assert.deepEqual(objectFiles(home), []);
});

it("what the system makes up as it is read is put, whatever its size says", async (t) => {
  const home = await withRepo(t);
  await home.ok(["put", `${MAIN}/version`, "/proc/version"]);
  assert.equal(await home.text(["cat", `${MAIN}/version`]), fs.readFileSync("/proc/version", "utf8"));
});

for (const [signal, exitCode] of [["SIGINT", 130], ["SIGTERM", 143], ["SIGHUP", 129]] as const) {
  it(`${signal} takes away what a put has not finished`, async (t) => {
    const home = await withRepo(t);
    await home.ok(["put", `${MAIN}/kept`, "-"], { stdin: "kept" });
    const put = start(home, ["put", `${MAIN}/endless`, "/dev/zero"]);
    await untilStored(home, 10_000_000);
    put.kill(signal);
    const { code, stderr } = await put.ended;
    assert.equal(code, exitCode);
    assert.equal(stderr, `tarn: Interrupted by ${signal}: what was not confirmed may or may not be done\n`);
    assert.equal(storedBytes(home), 4);
    assert.equal(await home.text(["cat", `${MAIN}/kept`]), "kept");
  });
}

it("an interrupt of put -r takes away files that were stored and not staged, too", async (t) => {
  const home = await withRepo(t);
  const folder = join(home.folder, "many");
  fs.mkdirSync(folder);
  for (let i = 0; i < 500; i++) fs.writeFileSync(join(folder, `a${i}`), `${i}`);
  largeFile(home, "many/large");
  const put = start(home, ["put", `${MAIN}/`, folder, "-r"]);
  await untilStored(home, 10_000_000);
  assert.ok(objectFiles(home).length > 100, "the small files are stored before the large one");
  put.kill("SIGINT");
  assert.equal((await put.ended).code, 130);
  assert.deepEqual(objectFiles(home), []);
  assert.deepEqual(await home.json(["ls", "-r", MAIN]), []);
});

it("an interrupt of a put to a folder of files takes away what it has not finished", async (t) => {
  const home = openHome(t);
  const out = join(home.folder, "out");
  fs.mkdirSync(out);
  const put = start(home, ["put", `file://${out}/endless`, "/dev/zero"]);
  const files = () => fs.readdirSync(out);
  while (files().length === 0) await sleep(2);
  put.kill("SIGINT");
  assert.equal((await put.ended).code, 130);
  assert.deepEqual(files(), []);
});

it("an interrupt while standard input says nothing ends the put at once", async (t) => {
  const home = await withRepo(t);
  const took: number[] = [];
  // One that waits for its input is ended by a time limit each time; a slow machine is not slow each time.
  for (let tries = 0; tries < 5 && !took.some((ms) => ms < 2500); tries++) {
    const put = start(home, ["put", `${MAIN}/x`, "-"], "pipe");
    await put.feed();
    const at = performance.now();
    put.kill("SIGINT");
    assert.equal((await put.ended).code, 130);
    took.push(performance.now() - at);
  }
  assert.ok(took.some((ms) => ms < 2500), `it waited for its input: ${took.join(", ")} ms`);
});

it("a put that is killed leaves a file that can be told from an object", async (t) => {
  const home = await withRepo(t);
  const put = start(home, ["put", `${MAIN}/endless`, "/dev/zero"]);
  await untilStored(home, 10_000_000);
  put.kill("SIGKILL");
  await put.ended;
  assert.equal(objectFiles(home).length, 1);
  const [{ path, size }] = objectFiles(home) as [{ path: string; size: number }];
  assert.match(path, /\/\.tarn-tmp-[0-9a-f]{24}$/);
  const told = async (name: string) => {
    const { findings } = await home.json(["doctor"]);
    return findings.find((finding: { name: string }) => finding.name === name)?.details;
  };
  assert.equal(await told("unfinished files"), undefined, "somebody may be writing to it");
  assert.deepEqual(await told("files at work"), { files: 1 });
  assert.match(
    await home.text(["doctor"]),
    /^note files at work: 1 file is being written now, or was left by a command that was killed less than an hour ago$/m,
  );
  const longAgo = Date.now() / 1000 - 2 * 60 * 60;
  fs.utimesSync(path, longAgo, longAgo);
  assert.equal(await told("files at work"), undefined);
  assert.deepEqual(await told("unfinished files"), { files: 1, size_bytes: size, paths: [path] });
});

it("a file that is put again unchanged is not stored again", async (t) => {
  const home = await withRepo(t);
  const path = join(home.folder, "x");
  fs.writeFileSync(path, "same");
  const first = await home.json(["put", `${MAIN}/x`, path]);
  assert.deepEqual(await home.json(["put", `${MAIN}/x`, path]), first);
  assert.deepEqual(await home.json(["cp", path, `${MAIN}/x`]), first);
  await home.ok(["commit", MAIN, "-m", "x"]);
  assert.deepEqual(await home.json(["put", `${MAIN}/x`, path]), first);
  assert.equal(objectFiles(home).length, 1);
  await home.ok(["put", `${MAIN}/x`, path, "--content-type", "text/plain"]);
  assert.equal((await home.json(["stat", `${MAIN}/x`])).content_type, "text/plain");
  fs.writeFileSync(path, "sane");
  await home.ok(["put", `${MAIN}/x`, path]);
  assert.equal(await home.text(["cat", `${MAIN}/x`]), "sane");
});
