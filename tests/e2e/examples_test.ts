import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { after, before, describe, it } from "node:test";
import { VERBS } from "../../cli/verbs/mod.ts";
import { binaryPath } from "../support/binary.ts";
import { temporaryFolder } from "../support/temporary.ts";
import { requireEtcd, sharedEtcd } from "../services/services.ts";

/** What is there before each example: a history on main, a branch with changes of its own, a tag. */
const PREPARED = `
tarn repo create lakefs://sales
tarn put lakefs://sales/main/report.csv report.csv
tarn put lakefs://sales/main/tables/ data -r
tarn commit lakefs://sales/main -m first --date 2026-01-15
tarn branch lakefs://sales/feature --from main
tarn branch lakefs://sales/dev --from main
for name in one two three; do
  echo $name > new
  tarn put lakefs://sales/feature/$name.csv new
  tarn put lakefs://sales/feature/report.csv new
  tarn commit lakefs://sales/feature -m $name --date 2026-02-01
  tarn put lakefs://sales/dev/report.csv new
  tarn commit lakefs://sales/dev -m $name --date 2026-02-02
  tarn put lakefs://sales/main/$name.txt new
  tarn commit lakefs://sales/main -m "main $name" --date 2026-03-01
done
tarn tag lakefs://sales/v1.0 --from main~1
`;

const CONFIGURED = `echo 'stores: {files: {driver: file, root: /srv/data}}' > tarn.yaml`;

const LOCKED =
  `echo 'schemes: {data: {parts: [repo], rest: path, target: "lakefs://{repo}/{ref}/{path}", ref: main}}' > tarn.yaml
tarn pin --write sales.lock lakefs://sales/main/tables/`;

/** What else a verb's examples need, or need gone. */
const BEFORE: Readonly<Record<string, string>> = {
  "repo create": "tarn repo delete lakefs://sales --yes",
  "branch create": "tarn branch delete lakefs://sales/feature",
  "branch restore": "tarn branch delete lakefs://sales/feature",
  "tag create": "tarn tag delete lakefs://sales/v1.0; tarn tag lakefs://sales/v0 --from main",
  "tag restore": "tarn tag delete lakefs://sales/v1.0",
  "cp": "tarn repo create lakefs://backup",
  "mv": "tarn put lakefs://sales/main/raport.csv data/a.csv; tarn rm lakefs://sales/main/report.csv; " +
    "tarn put lakefs://sales/main/2025/ data -r; mkdir incoming; cp data/a.csv incoming/",
  "commit":
    "tarn put lakefs://sales/main/report.csv data/a.csv; tarn put lakefs://sales/main/tables/new.csv data/a.csv",
  "bisect run":
    "printf '#!/bin/sh\\ntarn get -r \"$TARN_URI\" checked/$TARN_COMMIT\\n' > check.sh; chmod +x check.sh",
  "pin": LOCKED,
  "fetch": LOCKED,
  "kv copy": "tarn init; tarn repo create lakefs://other",
  "config show": CONFIGURED,
  "config check": CONFIGURED,
  "config push": CONFIGURED,
  "config trust": CONFIGURED,
  "auth key": "tarn auth setup admin",
  "serve": "tarn auth setup admin",
  "reset": "tarn put lakefs://sales/main/report.csv data/a.csv",
};

/** Where examples have an etcd; a test uses no other than its own. */
const ETCD = "127.0.0.1:2379";

/** Verbs that run until they are told to stop, and then end well. */
const ENDLESS = new Set(["serve"]);

/** The environment of a new user, with the executable on the path. */
function runShell(folder: string, script: string) {
  return spawnSync("sh", ["-c", script], {
    cwd: join(folder, "work"),
    env: { PATH: `${join(folder, "bin")}:${process.env["PATH"] ?? ""}`, HOME: folder, TARN_USER: "tester" },
    encoding: "utf8",
  });
}

function prepare(folder: string): void {
  const files = join(folder, "work");
  mkdirSync(join(files, "data", "inner"), { recursive: true });
  for (const name of ["report.csv", "prices.csv", "log", "data/a.csv", "data/inner/b.csv"]) {
    writeFileSync(join(files, name), `${name}\n`);
  }
  mkdirSync(join(folder, "bin"));
  symlinkSync(binaryPath(), join(folder, "bin", "tarn"));
  const { status, stderr } = runShell(folder, `set -e\n${PREPARED}`);
  assert.equal(status, 0, stderr);
}

describe("examples of the help", () => {
  const prepared = mkdtempSync(join(tmpdir(), "tarn-test-"));
  before(() => prepare(prepared));
  after(() => rmSync(prepared, { recursive: true, force: true }));

  for (const verb of VERBS) {
    it(`of "${verb.name}" do what they say`, async (t) => {
      assert.ok(verb.examples.length > 0);
      const folder = temporaryFolder(t);
      for (const [i, example] of verb.examples.entries()) {
        const own = join(folder, String(i));
        cpSync(prepared, own, { recursive: true, verbatimSymlinks: true });
        const given = / \| tarn /.test(example) ? example : `tarn ${example}`;
        if (given.includes(ETCD) && !requireEtcd(t)) return;
        const line = given.includes(ETCD)
          ? given.replace(ETCD, `127.0.0.1:${(await sharedEtcd()).port}`)
          : given;
        const whole = ENDLESS.has(verb.name) ? `timeout --preserve-status 3 ${line}` : line;
        const { status, stderr, stdout } = runShell(own, `${BEFORE[verb.name] ?? ""}\n${whole}`);
        assert.equal(status, 0, `${line}\n${stdout}${stderr}`);
      }
    });
  }
});
