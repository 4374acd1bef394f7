/** The catalog as the executable has it: without a network, with processes that are killed, with hooks that hear the end. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { after, before, describe, it, type TestContext } from "node:test";
import { binaryPath } from "../support/binary.ts";
import { type CliOptions, runTarn } from "../support/cli.ts";
import { requireThat } from "../support/requires.ts";
import { temporaryFolder } from "../support/temporary.ts";

const CONFIG = `
schemes:
  data: {parts: [project], rest: path, target: "lakefs://{project}/{ref}/{path}", ref: main}
stages:
  "data://sales/t": {audit: "ts:2026-06-01"}
cache: {root: ./cache}
`;

interface Place {
  readonly folder: string;
  readonly options: CliOptions;
  ok(...args: string[]): Promise<string>;
}

/** A folder with a configuration, a home and, in a repository, files that were committed. */
async function prepared(
  t: { after(done: () => void): void },
  files: Readonly<Record<string, string>>,
): Promise<Place> {
  const folder = temporaryFolder(t);
  writeFileSync(join(folder, "tarn.yaml"), CONFIG);
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, "in", name)), { recursive: true });
    writeFileSync(join(folder, "in", name), text);
  }
  const place = placeAt(folder);
  await place.ok("repo", "create", "lakefs://sales");
  await place.ok("put", "-r", "lakefs://sales/main/t/", "in");
  await place.ok("commit", "lakefs://sales/main", "-m", "first", "--date", "2026-01-01");
  return place;
}

function placeAt(folder: string, more: Readonly<Record<string, string>> = {}): Place {
  const options = { cwd: folder, env: { HOME: folder, TARN_USER: "tester", ...more } };
  return {
    folder,
    options,
    ok: async (...args) => {
      const { code, stdout, stderr } = await runTarn(args, options);
      assert.equal(code, 0, `${args.join(" ")}: ${stderr}`);
      return stdout.toString();
    },
  };
}

/** Whether this machine lets us make a network namespace, in which there is no network at all. */
function canCutOff(t: TestContext): boolean {
  const { status } = spawnSync("unshare", ["-rn", "true"]);
  return requireThat(t, status === 0, "unshare -rn is not allowed here");
}

/** Runs the executable where there is no network, under a watch that tells of every socket. */
function cutOff(args: readonly string[], { cwd, env }: CliOptions) {
  return spawnSync("unshare", ["-rn", binaryPath(), ...args], {
    cwd,
    env: { PATH: "/usr/bin:/bin", ...env },
    encoding: "utf8",
  });
}

/** Returns the sockets that a run makes. */
function socketsOf(args: readonly string[], { cwd, env, folder }: CliOptions & { folder: string }) {
  const log = join(folder, "strace.log");
  const run = spawnSync(
    "strace",
    ["-f", "-qq", "-e", "trace=socket,connect,sendto,bind", "-o", log, binaryPath(), ...args],
    { cwd, env: { PATH: "/usr/bin:/bin", ...env }, encoding: "utf8" },
  );
  const calls = readFileSync(log, "utf8").split("\n").filter((line) =>
    /(socket|connect|sendto|bind)\(/.test(line)
  );
  return { ...run, calls };
}

describe("offline", () => {
  it("fetch --locked gives every byte with the network cut off, after the cache was copied to another place", async (t) => {
    if (!canCutOff(t)) return;
    const { folder, ok } = await prepared(t, { a: "1", "sub/b c": "22" });
    await ok("pin", "--write", "tarn.lock", "data://sales/t", "data://sales/t/a?at=ts:2026-06-01");
    const elsewhere = temporaryFolder(t);
    for (const name of ["cache", "tarn.lock", "tarn.yaml"]) {
      cpSync(join(folder, name), join(elsewhere, name), { recursive: true });
    }
    rmSync(folder, { recursive: true });
    const place = placeAt(elsewhere);
    const { status, stdout, stderr } = cutOff(["fetch", "--locked", "tarn.lock", "--offline"], place.options);
    assert.equal(status, 0, stderr);
    const paths = stdout.trimEnd().split("\n").map((line) => line.split("\t")[1]!);
    assert.ok(paths.every((path) => path.startsWith(join(elsewhere, "cache"))));
    const [whole, file] = paths as [string, string];
    assert.deepEqual(
      [
        readFileSync(join(whole, "sub/b c"), "utf8"),
        readFileSync(join(whole, "a"), "utf8"),
        readFileSync(file, "utf8"),
      ],
      ["22", "1", "1"],
    );
    writeFileSync(join(whole, "a"), "2");
    const again = cutOff(["fetch", "--locked", "tarn.lock", "--offline"], place.options);
    assert.equal(
      again.status,
      8,
      "what was changed in the cache is not there any more, and nothing can be asked",
    );
    assert.match(again.stderr, /offline mode/);
  });

  it("opens no socket, whatever is asked; one pin cached and one not (H54)", async (t) => {
    if (!requireThat(t, spawnSync("strace", ["-V"]).status === 0, "strace is not installed")) return;
    const { folder, options, ok } = await prepared(t, { a: "1" });
    await ok("pin", "data://sales/t", "data://sales/t?at=stage:audit");
    await ok("fetch", "data://sales/t");
    await ok("pin", "--write", "tarn.lock", "data://sales/t");
    const lines: readonly (readonly [line: string, code: number])[] = [
      ["pin data://sales/t", 0],
      ["pin data://sales/t?at=stage:audit", 0],
      ["pin data://sales/t?at=tag:v1", 8],
      ["pin github://octo/repo/x", 9],
      ["stat data://sales/t/a", 0],
      ["ls data://sales/t", 0],
      ["cat data://sales/t/a", 0],
      ["fetch data://sales/t", 0],
      ["fetch data://sales/u", 8],
      ["fetch --locked tarn.lock", 0],
      ["pin --check", 0],
      ["snapshot data://sales/t copy", 0],
      ["put s3://bucket/x tarn.yaml", 8],
      ["put data://sales/x tarn.yaml", 0],
      ["log data://sales", 0],
      ["config show --config etcd+http://127.0.0.1:1/x", 8],
    ];
    for (const [line, expected] of lines) {
      const { status, calls, stderr } = socketsOf([...line.split(" "), "--offline"], { ...options, folder });
      assert.equal(status, expected, `${line}: ${stderr}`);
      assert.deepEqual(calls, [], line);
      if (line.includes("tag:v1")) {
        assert.match(
          stderr,
          /^tarn: Cannot pin "lakefs:..sales.v1.t" in offline mode: it is not in the cache\n/,
        );
      }
    }
  });

  it("the watch for sockets sees one: a key-value store on the network without --offline", async (t) => {
    if (!requireThat(t, spawnSync("strace", ["-V"]).status === 0, "strace is not installed")) return;
    const folder = temporaryFolder(t);
    const kv = { TARN_KV: "postgres://x@127.0.0.1:1/x?sslmode=disable" };
    const { options } = placeAt(folder, kv);
    assert.ok(socketsOf(["stat", "lakefs://repo/main/x"], { ...options, folder }).calls.length > 0);
    const offline = socketsOf(["stat", "lakefs://repo/main/x", "--offline"], { ...options, folder });
    assert.deepEqual([offline.status, offline.calls], [8, []]);
    const variable = placeAt(folder, { ...kv, TARN_OFFLINE: "1" });
    assert.deepEqual(socketsOf(["ls"], { ...variable.options, folder }).calls, []);
  });
});

describe("processes that fetch one folder", () => {
  const files = Object.fromEntries(
    Array.from({ length: 400 }, (_, i) => [`d${i % 7}/f${i}`, `${i} `.repeat(2000)]),
  );
  let place: Place;
  const ends: (() => void)[] = [];
  before(async () => {
    place = await prepared({ after: (end) => void ends.push(end) }, files);
  });
  after(() => ends.forEach((end) => end()));

  it("while a third is killed at any moment end well, and no file is torn", async () => {
    const { folder, options } = place;
    for (const killAfterMs of [60, 90, 120, 160, 220]) {
      rmSync(join(folder, "cache"), { recursive: true, force: true });
      const fetch = ["fetch", "data://sales/t"];
      const [killed, ...others] = await Promise.all([
        runTarn(fetch, { ...options, killAfterMs }),
        runTarn(fetch, options),
        runTarn(fetch, options),
      ]);
      assert.ok(killed.signal === "SIGKILL" || killed.code === 0);
      for (const { code, stdout, stderr } of others) {
        assert.equal(code, 0, stderr);
        const path = stdout.toString().trimEnd();
        for (const [name, text] of Object.entries(files)) {
          assert.equal(readFileSync(join(path, name), "utf8"), text, name);
        }
      }
    }
  });

  it("have a cache that is valid after it was copied, and after a kill nothing of it is believed unseen", async () => {
    const { folder, options, ok } = place;
    rmSync(join(folder, "cache"), { recursive: true, force: true });
    await runTarn(["fetch", "data://sales/t"], { ...options, killAfterMs: 100 });
    await ok("fetch", "data://sales/t");
    cpSync(join(folder, "cache"), join(folder, "copied"), { recursive: true });
    rmSync(join(folder, "cache"), { recursive: true });
    renameSync(join(folder, "copied"), join(folder, "cache"));
    const path = (await ok("fetch", "data://sales/t", "--offline")).trimEnd();
    for (const [name, text] of Object.entries(files)) {
      assert.equal(readFileSync(join(path, name), "utf8"), text);
    }
  });
});

describe("the home that a configuration names", () => {
  it("is the one of every command on lakefs://, and of the server; --home comes before it", async (t) => {
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, "tarn.yaml"), "stores: {lakefs: {driver: graveler, home: ./own}}\n");
    const { ok, options } = placeAt(folder);
    await ok("repo", "create", "lakefs://sales");
    await ok("put", "lakefs://sales/main/a", "tarn.yaml");
    assert.ok(existsSync(join(folder, "own/tarn-home.json")));
    assert.match(await ok("ls"), /sales/);
    assert.match(await ok("doctor"), /own/);
    assert.match(await ok("version"), /own/);
    await ok("auth", "setup", "admin");
    assert.ok(existsSync(join(folder, "own/secret.key")));
    assert.equal((await runTarn(["stat", "lakefs://sales/main/a", "--home", "other"], options)).code, 3);
    rmSync(join(folder, "tarn.yaml"));
    assert.equal(await ok("ls"), "");
  });
});

describe("the session of a run", () => {
  /** A configuration whose hook writes down each line that it is told. */
  async function withHook(t: TestContext) {
    const place = await prepared(t, { a: "1" });
    const log = join(place.folder, "hook.log");
    writeFileSync(
      join(place.folder, "hook"),
      `#!/bin/sh\nwhile read -r line; do echo "$line" >> "${log}"; echo '{}'; done\necho ended >> "${log}"\n`,
      { mode: 0o755 },
    );
    writeFileSync(join(place.folder, "hooked.yaml"), `hooks: ["exec:./hook"]\n${CONFIG}`);
    const lines = () => existsSync(log) ? readFileSync(log, "utf8").trimEnd().split("\n") : [];
    return { ...place, lines, hooked: ["--config", "hooked.yaml"] };
  }

  it("begins and ends with hooks that are programs, also where the command fails", async (t) => {
    const { options, lines, hooked } = await withHook(t);
    const { code } = await runTarn(["stat", "data://sales/none", ...hooked], options);
    assert.equal(code, 3);
    const spots = lines().map((line) => line === "ended" ? line : JSON.parse(line).request);
    const phases = spots.filter((request) => request?.spot === "session").map(({ phase }) => phase);
    assert.deepEqual([phases, spots.at(-1)], [["start", "end"], "ended"]);
  });

  it("ends also when an interrupt ends the run", async (t) => {
    const { options, lines, hooked } = await withHook(t);
    const child = spawn(binaryPath(), ["put", "data://sales/x", "-", ...hooked], {
      cwd: options.cwd,
      env: { ...options.env },
      stdio: ["pipe", "ignore", "ignore"],
    });
    const ended = new Promise((resolve) => child.on("close", resolve));
    // Its standard input stays open: it waits in the middle of its put.
    while (!lines().some((line) => line.includes('"put"'))) {
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    child.kill("SIGINT");
    assert.equal(await ended, 130);
    assert.ok(lines().some((line) => line.includes('"phase":"end"')));
    assert.equal(lines().at(-1), "ended");
  });

  it("a module is loaded by the executable as it stands on the disk", async (t) => {
    const { folder, options } = await prepared(t, { a: "1" });
    writeFileSync(
      join(folder, "guard.ts"),
      `import { join } from "node:path";
import { why } from "./why.ts";
export const spots: string[] = ["put"];
export default (request: { uri: string }): never => { throw new Error(join(why, request.uri)); };
`,
    );
    writeFileSync(join(folder, "why.ts"), 'export const why = "closed";\n');
    writeFileSync(join(folder, "hooked.yaml"), `hooks: ["module:guard.ts"]\n${CONFIG}`);
    const { code, stderr } = await runTarn(
      ["put", "data://sales/x", "tarn.yaml", "--config", "hooked.yaml"],
      options,
    );
    assert.deepEqual([code, stderr], [5, 'tarn: Cannot put "data://sales/x": closed/data:/sales/x\n']);
    assert.equal((await runTarn(["cat", "data://sales/t/a", "--config", "hooked.yaml"], options)).code, 0);
  });
});
