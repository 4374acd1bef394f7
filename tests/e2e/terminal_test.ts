import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { binaryPath, runBinary } from "../support/binary.ts";
import { openHome } from "../support/home.ts";
import { requireTool } from "../support/requires.ts";
import { temporaryFolder } from "../support/temporary.ts";

/** Runs a command of the executable on a terminal of so many columns, and returns what it shows. */
function onTerminal(
  command: string,
  { home, env = {}, columns = 80 }: { home: string; env?: Record<string, string>; columns?: number },
): string {
  const { status, stdout } = spawnSync(
    "script",
    ["-qec", `stty cols ${columns} rows 50 && "${binaryPath()}" ${command}`, "/dev/null"],
    {
      env: { PATH: process.env["PATH"] ?? "", TARN_HOME: home, TERM: "xterm-256color", ...env },
      encoding: "utf8",
    },
  );
  assert.equal(status, 0, stdout);
  return stdout.replaceAll("\r\n", "\n");
}

test("stat prints what lakectl's fs stat prints, times with the name of the zone", async (t) => {
  if (!requireTool(t, "script")) return;
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://my-repo"]);
  await home.ok(["put", "lakefs://my-repo/main/allstar_games_stats.csv", "-"], {
    stdin: new Uint8Array(916_393),
  });
  await home.ok(["put", "lakefs://my-repo/main/empty", "-"], { stdin: "" });
  const stat = (command: string, zone: string) =>
    onTerminal(command, { home: home.path, env: { TZ: zone, NO_COLOR: "1" } });
  const shown = stat(
    "fs stat --pre-sign=false lakefs://my-repo/main/allstar_games_stats.csv",
    "America/New_York",
  );
  assert.match(
    shown,
    new RegExp(
      "^Path: allstar_games_stats\\.csv\n" +
        "Modified Time: \\d{4}-\\d\\d-\\d\\d \\d\\d:\\d\\d:\\d\\d (-0400 EDT|-0500 EST)\n" +
        "Size: 916393 bytes\n" +
        "Human Size: 916\\.4 kB\n" +
        "Physical Address: \\S+\n" +
        "Checksum: [0-9a-f]{32}\n" +
        "Content-Type: application/octet-stream\n$",
    ),
  );
  assert.match(
    stat("stat lakefs://my-repo/main/empty", "Asia/Kolkata"),
    / \+0530 IST\nSize: 0 bytes\nHuman Size: 0 B\n/,
  );
  const piped = await home.text(["fs", "stat", "lakefs://my-repo/main/empty"]);
  assert.match(piped, /^Path: empty\nModified Time: \S+ \S+ \+0000 UTC\nSize: 0 bytes\nHuman Size: 0 B\n/);
});

test("names that could steer a terminal are escaped there, and exact in pipes and JSON", async (t) => {
  if (!requireTool(t, "script")) return;
  const home = openHome(t);
  const name = "evil\x1b[31m\u202egpj";
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["put", "lakefs://repo/main", "-", "--key", name], { stdin: "x" });
  const shown = onTerminal("ls lakefs://repo/main/", { home: home.path });
  assert.ok(shown.includes("evil\\x1b[31m\\u{202e}gpj"), shown);
  assert.ok((await home.text(["ls", "lakefs://repo/main/"])).includes(name));
  assert.equal((await home.json(["ls", "lakefs://repo/main/"]))[0].path, name);
});

test("colours are for terminals, and for those who want them", async (t) => {
  if (!requireTool(t, "script")) return;
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  await home.ok(["put", "lakefs://repo/main/a", "-"], { stdin: "x" });
  const status = "status lakefs://repo/main";
  assert.equal(onTerminal(status, { home: home.path }), "\x1b[32m+ added    a\x1b[0m\n");
  assert.equal(onTerminal(status, { home: home.path, env: { NO_COLOR: "1" } }), "+ added    a\n");
  assert.equal(onTerminal(status, { home: home.path, env: { TERM: "dumb" } }), "+ added    a\n");
  assert.equal(await home.text(status.split(" ")), "added\ta\n");
});

test("on a narrow terminal errors, and the help of a verb, break between words", async (t) => {
  if (!requireTool(t, "script")) return;
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  const told = onTerminal("cat lakefs://repo/main/there-is-no-such-object || true", {
    home: home.path,
    columns: 40,
  });
  assert.match(told, /\n {6}"there-is-no-such-object"/);
  for (
    const text of [
      told,
      ...["help commit", "help", "help uris"].map((c) => onTerminal(c, { home: home.path, columns: 40 })),
    ]
  ) {
    const long = text.replaceAll(/\x1b\[\d+m/g, "").split("\n").filter((line) =>
      line.length > 40 && /\S +\S.*/.test(line.trim().replace(/ \\$/, ""))
    );
    assert.deepEqual(long, []);
  }
});

test("a reader that stops early is no failure", async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  mkdirSync(join(home.folder, "tree"));
  for (let i = 0; i < 1500; i++) {
    writeFileSync(join(home.folder, "tree", `${"long-name-".repeat(5)}${i}`), "");
  }
  await home.ok(["put", "lakefs://repo/main/", "tree", "-r"]);
  const commands = [
    "ls lakefs://repo/main/",
    "status lakefs://repo/main",
    "ls lakefs://repo/main/ --json",
    "help",
  ];
  for (const command of commands) {
    const { stdout, stderr } = spawnSync(
      "sh",
      ["-c", `{ "${binaryPath()}" ${command}; echo "exit $?" >&2; } | head -1`],
      { env: { PATH: process.env["PATH"] ?? "", TARN_HOME: home.path }, encoding: "utf8" },
    );
    assert.deepEqual([stdout.split("\n").length, stderr], [2, "exit 0\n"], command);
  }
});

test("quickstart works on an empty machine with an empty environment, and can be run again", (t) => {
  const folder = temporaryFolder(t);
  const program = join(folder, "tarn");
  copyFileSync(binaryPath(), program);
  const tarn = (...args: string[]) => {
    const { exitCode, stdout, stderr } = runBinary(["--home", join(folder, "home"), ...args], {
      folder,
      program,
    });
    assert.equal(exitCode, 0, stderr);
    return stdout;
  };
  const first = tarn("quickstart");
  assert.match(first, /^\$ tarn --home \S+ merge \S+ \S+ --strategy source-wins /m);
  assert.match(first, /^\*.* Merge iau-2006 .*\n\|\\\n/m);
  assert.match(first, /equals .*planets\.csv, byte for byte$/m);
  assert.match(tarn("quickstart"), /lakefs:\/\/quickstart-2/);
  assert.match(tarn("cat", "lakefs://quickstart/main/dwarf_planets.csv"), /^Eris,2006$/m);
  assert.deepEqual(readdirSync(folder).sort(), ["home", "tarn"]);
});

test("put and cp of one large file show how far they are, on a terminal alone", async (t) => {
  if (!requireTool(t, "script")) return;
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  const path = join(home.folder, "large");
  writeFileSync(path, new Uint8Array(120_000_000));
  for (const command of [`put lakefs://repo/main/a ${path}`, `cp ${path} lakefs://repo/main/b`]) {
    const shown = onTerminal(command, { home: home.path });
    assert.match(
      shown,
      /\rPutting: 0 of 1 file, [\d.]+ MB of 120\.0 MB, [\d.]+ [kMG]B\/s, \d+ s left/,
      command,
    );
  }
  const piped = onTerminal(`put lakefs://repo/main/c - < ${path}`, { home: home.path });
  assert.match(piped, /\rPutting: 0 files, [\d.]+ MB, [\d.]+ [kMG]B\/s/);
  assert.equal((await home.ok(["put", "lakefs://repo/main/d", path])).stderr, "");
});
