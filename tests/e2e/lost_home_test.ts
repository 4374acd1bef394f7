/** Homes, stores and storage namespaces that cannot be written to, that have gone, or that lie where they should not. */

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { binaryPath, runBinary } from "../support/binary.ts";
import { type Home, openHome } from "../support/home.ts";
import { findTool, requireThat, requireTool } from "../support/requires.ts";

const MAIN = "lakefs://repo/main";
const posix = { skip: process.platform === "win32" ? "needs POSIX permissions" : false };

async function homeWithObject(t: TestContext): Promise<Home> {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["put", `${MAIN}/a`, "-"], { stdin: "of a" });
  await home.ok(["commit", MAIN, "-m", "first"]);
  await home.ok(["put", `${MAIN}/staged`, "-"], { stdin: "of staged" });
  fs.writeFileSync(join(home.folder, "file"), "text");
  return home;
}

const READS: readonly (readonly [string, string])[] = [
  ["repo list", "repo"],
  [`cat ${MAIN}/a`, "of a"],
  [`cat ${MAIN}/staged`, "of staged"],
  [`ls ${MAIN}/`, "staged"],
  [`status ${MAIN}`, "staged"],
  [`log ${MAIN}`, "first"],
  [`diff lakefs://repo/main~1 ${MAIN}`, "a"],
  [`get ${MAIN}/ got -r`, "2 files"],
  ["doctor", "reading works"],
];

const WRITES: readonly string[] = [
  `put ${MAIN}/b file`,
  `commit ${MAIN} -m x`,
  "branch create lakefs://repo/more --from main",
  "tag create lakefs://repo/v1 main",
  "repo create lakefs://another",
  `rm ${MAIN}/a`,
  `reset ${MAIN} --yes`,
];

type Run = (line: string) => { exitCode: number | null; stdout: string; stderr: string };

/** What reads and writes do where only reading is possible. */
function checkReadOnly(run: Run): void {
  for (const [line, text] of READS) {
    const { exitCode, stdout, stderr } = run(line);
    assert.equal(exitCode, 0, `${line}: ${stderr}`);
    assert.ok(stdout.includes(text), `${line}: ${stdout}`);
  }
  for (const line of WRITES) {
    const { exitCode, stderr } = run(`${line} --json`);
    assert.equal(exitCode, 5, `${line}: ${stderr}`);
    assert.match(JSON.parse(stderr).code, /^(kv_read_only|storage_forbidden)$/, line);
  }
}

test("a home on a read-only disk is read, and every write is refused", posix, async (t) => {
  if (!requireTool(t, "unshare") || !requireTool(t, "mount")) return;
  const home = await homeWithObject(t);
  const mount = `mount --bind home home && mount -o remount,bind,ro home && exec "$@"`;
  const run: Run = (line) =>
    runBinary(["-rm", "sh", "-c", mount, "sh", binaryPath(), ...line.split(" ")], {
      program: findTool("unshare"),
      folder: home.folder,
      environment: { TARN_HOME: home.path, PATH: process.env["PATH"] ?? "" },
    });
  const { exitCode, stderr } = run("version");
  if (!requireThat(t, exitCode === 0, `nothing can be mounted here: ${stderr.trim()}`)) return;
  checkReadOnly(run);
});

test("a home that its user may not write to is read, and every write is refused", posix, async (t) => {
  const home = await homeWithObject(t);
  const setpriv = findTool("setpriv");
  const isRoot = process.getuid?.() === 0;
  if (isRoot && !requireTool(t, "setpriv")) return;
  // Permissions do not bind root: the home goes to somebody else, who runs the commands.
  const by = isRoot ? [setpriv!, "--reuid=65534", "--regid=65534", "--clear-groups"] : [];
  if (isRoot) changeAll(home.folder, (path) => fs.chownSync(path, 65534, 65534));
  changeAll(home.path, (path) => fs.chmodSync(path, fs.statSync(path).mode & 0o555));
  try {
    checkReadOnly((line) => {
      const [program, ...rest] = [...by, binaryPath(), ...line.split(" ")];
      return runBinary(rest, { program, folder: home.folder, environment: { TARN_HOME: home.path } });
    });
  } finally {
    changeAll(home.path, (path) => fs.chmodSync(path, 0o700));
  }
});

test("who reads a read-only home while others write to it elsewhere sees whole states", posix, async (t) => {
  if (!requireTool(t, "unshare") || !requireTool(t, "mount")) return;
  const home = await homeWithObject(t);
  const script = `mount --bind home home && mount -o remount,bind,ro home || exit 77
    for i in 1 2 3 4 5 6 7 8 9 10 11 12; do "$1" ls lakefs://repo/main/ --json > /dev/null || exit 1; done`;
  const reading = new Promise<number | null>((resolve) => {
    spawn(findTool("unshare")!, ["-rm", "sh", "-c", script, "sh", binaryPath()], {
      cwd: home.folder,
      env: { TARN_HOME: home.path, PATH: process.env["PATH"] },
    }).on("exit", resolve);
  });
  let done = false;
  const ended = reading.then((code) => {
    done = true;
    return code;
  });
  for (let i = 0; !done && i < 100; i++) await home.ok(["put", `${MAIN}/k${i}`, "-"], { stdin: `${i}` });
  const code = await ended;
  if (!requireThat(t, code !== 77, "nothing can be mounted here")) return;
  assert.equal(code, 0);
});

test("a home without its key-value store is no empty one", async (t) => {
  const home = await homeWithObject(t);
  fs.rmSync(join(home.path, "kv"), { recursive: true });
  for (const line of ["repo list", "repo create lakefs://another"]) {
    const { code, stderr } = await home.run(line.split(" "));
    assert.deepEqual([code, /key-value store .* is missing/.test(stderr)], [10, true]);
  }
  assert.ok(!fs.existsSync(join(home.path, "kv", "data.mdb")));
});

test("a key-value store that config.yaml names is not made anew when it is gone", async (t) => {
  const home = await homeWithObject(t);
  const elsewhere = join(home.folder, "elsewhere");
  fs.renameSync(join(home.path, "kv"), elsewhere);
  fs.writeFileSync(join(home.path, "config.yaml"), `kv: {driver: lmdb, folder: "${elsewhere}"}\n`);
  assert.match(await home.text(["repo", "list"]), /^repo\t/);
  fs.rmSync(elsewhere, { recursive: true });
  for (const line of ["repo list", "repo create lakefs://another"]) {
    const { code, stderr } = await home.run(line.split(" "));
    assert.deepEqual([code, /key-value store .* is missing/.test(stderr)], [10, true]);
  }
  assert.ok(!fs.existsSync(elsewhere));
});

test("a storage namespace whose folder is gone is not made anew, and comes back whole", async (t) => {
  const home = await homeWithObject(t);
  const storage = join(home.path, "storage");
  fs.renameSync(storage, join(home.folder, "away"));
  for (
    const line of [
      `cat ${MAIN}/a`,
      `ls ${MAIN}/`,
      `put ${MAIN}/b file`,
      `commit ${MAIN} -m x`,
      `get ${MAIN}/ got -r`,
    ]
  ) {
    const { code, stderr } = await home.run([...line.split(" "), "--json"]);
    assert.deepEqual([code, JSON.parse(stderr.toString()).code], [8, "storage_missing"], line);
  }
  assert.ok(!fs.existsSync(storage));
  const doctor = await home.run(["doctor"]);
  assert.deepEqual([doctor.code, /BAD {2}storage: the folders of "local:/.test(doctor.stdout.toString())], [
    1,
    true,
  ]);
  fs.renameSync(join(home.folder, "away"), storage);
  assert.equal(await home.text(["cat", `${MAIN}/a`]), "of a");
  await home.ok(["commit", MAIN, "-m", "second"]);
});

const WAYS = [["moved", fs.renameSync], ["deleted", removeHome]] as const;
for (const [what, lose, written] of [1, 20, 400].flatMap((n) => WAYS.map((way) => [...way, n] as const))) {
  test(
    `a home that is ${what} while a folder is put, after ${written} objects, is an error, and no new one is made in its place`,
    posix,
    async (t) => {
      const home = await homeWithObject(t);
      const files = join(home.folder, "files");
      fs.mkdirSync(files);
      for (let i = 0; i < 1000; i++) fs.writeFileSync(join(files, `f${i}`), `${i}`);
      const child = spawn(binaryPath(), ["put", `${MAIN}/x/`, "files", "-r", "--json"], {
        cwd: home.folder,
        env: { TARN_HOME: home.path },
      });
      let stderr = "";
      child.stderr.on("data", (text) => stderr += text);
      const ended = new Promise<number | null>((resolve) => child.on("exit", resolve));
      const data = join(home.path, "storage");
      const before = countFiles(data);
      while (child.exitCode === null && countFiles(data) < before + written) {
        await new Promise((go) => setTimeout(go, 1));
      }
      const away = join(home.folder, "away");
      lose(home.path, away);
      const code = await ended;
      assert.ok(code === 8 || code === 10, `exit ${code}: ${stderr}`);
      assert.match(JSON.parse(stderr).code, /^(kv_moved|storage_missing|missing_file|storage_unavailable)$/);
      assert.ok(!fs.existsSync(home.path), "something was made where the home was");
      if (what === "deleted") return;
      const at = { env: { TARN_HOME: away } };
      assert.equal(await home.text(["cat", `${MAIN}/a`], at), "of a");
      await home.ok(["put", `${MAIN}/x/`, "files", "-r"], at);
      await home.ok(["get", `${MAIN}/`, "got", "-r"], at);
      assert.equal(fs.readdirSync(join(home.folder, "got", "x")).length, 1000);
    },
  );
}

test(
  "H57 a home in a container's file system works, and init and doctor say where it lies",
  posix,
  async (t) => {
    if (!requireTool(t, "unshare") || !requireTool(t, "mount")) return;
    const { folder } = openHome(t);
    const script = `mount -t tmpfs tmpfs . && cd "$PWD" && mkdir lower upper work all &&
    mount -t overlay overlay -o lowerdir=lower,upperdir=upper,workdir=work all || exit 77
    cd all; "$1" init; "$1" repo create lakefs://repo; printf text | "$1" put lakefs://repo/main/a -
    "$1" commit lakefs://repo/main -m x; "$1" cat lakefs://repo/main/a; "$1" doctor; echo "exit $?"`;
    const { exitCode, stdout, stderr } = runBinary(["-rm", "sh", "-c", script, "sh", binaryPath()], {
      program: findTool("unshare"),
      folder,
      environment: { PATH: process.env["PATH"] ?? "", HOME: folder },
    });
    if (!requireThat(t, exitCode !== 77, `nothing can be mounted here: ${stderr.trim()}`)) return;
    assert.match(stderr, /The home lies on overlay: use it from one container alone/);
    assert.match(stdout, /\ntext/);
    assert.match(stdout, /note file system: overlay/);
    assert.match(stdout, /exit 0\n$/);
  },
);

/** Goes on until nothing is there: Bun's `rmSync` ends early, and says nothing, when a folder in it is removed by somebody else. */
function removeHome(path: string): void {
  while (fs.existsSync(path)) fs.rmSync(path, { recursive: true, force: true, maxRetries: 20 });
}

function changeAll(path: string, change: (path: string) => void): void {
  // A folder that may not be searched any more comes last.
  if (fs.statSync(path).isDirectory()) {
    fs.chmodSync(path, fs.statSync(path).mode | 0o700);
    for (const name of fs.readdirSync(path)) changeAll(join(path, name), change);
  }
  change(path);
}

function countFiles(path: string): number {
  return fs.readdirSync(path, { recursive: true }).length;
}
