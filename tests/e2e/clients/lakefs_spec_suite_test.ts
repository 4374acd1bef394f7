import assert from "node:assert/strict";
import { cpSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openHome } from "../../support/home.ts";
import { serveAgain } from "../../support/server.ts";
import { runProgram } from "./programs.ts";
import { pythonWithSource } from "./python.ts";

const SOURCE = "lakefs-spec==0.15.1";
const PACKAGES = [SOURCE, "lakefs==0.16.0", "lakefs-sdk==1.88.0", "pytest==9.2.0"];
/** Tests of other packages with it, which are large; `lakefs_spec_test.ts` puts some of them to work. */
const LEFT_OUT = ["smoke_tests/test_integrations.py", "regression/test_gh_321.py"];
/** What the suite takes for granted: where lakeFS's container listens, and who may enter. */
const HOST = "localhost:8000";
const CREDENTIAL = {
  access_key_id: "AKIAIOSFOLQUICKSTART",
  secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
};

test("the suite that lakefs-spec brings passes, but for what needs more packages", async (t) => {
  const suite = pythonWithSource(t, SOURCE, PACKAGES);
  if (!suite) return;
  const home = openHome(t);
  const server = await serveAgain(t, home, { credential: CREDENTIAL });
  const setup = await fetch(`${server.url}/api/v1/setup_lakefs`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ username: "quickstart", key: CREDENTIAL }),
  });
  assert.equal(setup.status, 200, await setup.text());

  const folder = join(home.folder, "suite");
  cpSync(suite.folder, folder, { recursive: true });
  for (const name of readdirSync(join(folder, "tests"), { recursive: true, encoding: "utf8" })) {
    if (!name.endsWith(".py")) continue;
    const file = join(folder, "tests", name);
    writeFileSync(file, readFileSync(file, "utf8").replaceAll(HOST, new URL(server.url).host));
  }
  const args = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"];
  const left = LEFT_OUT.map((name) => `--ignore=${join("tests", name)}`);
  const { code, output } = await runProgram(suite.python, [...args, ...left], {
    cwd: folder,
    home: home.folder,
  });
  assert.equal(code, 0, output);
  assert.ok(Number(/(\d+) passed/.exec(output)?.[1]) > 100, output);
  assert.deepEqual(server.log().split("\n").filter((line) => /"status":50[^1]/.test(line)), []);
});
