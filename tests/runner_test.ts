import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { requireThat, SKIP_MARK } from "./support/requires.ts";
import { countTests, findTestFiles, runTestFile, skipReasons } from "./support/running.ts";
import { temporaryFolder } from "./support/temporary.ts";

const IMPORTS = `import { test } from "node:test";\nimport assert from "node:assert/strict";\n`;

async function outcomeOf(folder: string, text: string) {
  writeFileSync(join(folder, "x_test.ts"), IMPORTS + text);
  const here = process.cwd();
  process.chdir(folder);
  try {
    const { passed, failed, skipped } = await runTestFile(process.execPath, { file: "x_test.ts", logs: "." });
    return [passed, failed, skipped];
  } finally {
    process.chdir(here);
  }
}

test("the runner counts what passed, failed and was skipped", async (t) => {
  const folder = temporaryFolder(t);
  const text = `
    test("one", () => {});
    test("two", () => {});
    test("three", () => assert.equal(1, 2));
    test("four", { skip: "for a reason" }, () => {});
    test("five", (t) => t.skip("inside"));`;
  assert.deepEqual(await outcomeOf(folder, text), [2, 1, 2]);
});

test("a file that crashes, does not parse, or runs no test has failed", async (t) => {
  const texts = [
    `test("crash", () => process.kill(process.pid, "SIGKILL"));`,
    `test("crash", () => {}); throw new Error("outside");`,
    `this is no program`,
    `export const nothing = 1;`,
    `test("exit", () => process.exit(0));`,
  ];
  for (const text of texts) {
    const [, failed] = await outcomeOf(temporaryFolder(t), text);
    assert.ok(failed! > 0, text);
  }
});

test("the report's counts are read from its first element, and nothing else is taken for a report", () => {
  const report =
    `<?xml?>\n<testsuites name="bun test" tests="7" assertions="0" failures="2" skipped="1" time="1">\n` +
    `<testsuite tests="3" failures="0" skipped="0">`;
  assert.deepEqual(countTests(report), { tests: 7, failures: 2, skipped: 1 });
  for (const text of ["", "<html>", `<testsuites tests="x" failures="0" skipped="0">`]) {
    assert.equal(countTests(text), undefined);
  }
});

test("test files are found in all folders but those of others", () => {
  const files = findTestFiles(".");
  assert.ok(files.includes("tests/runner_test.ts") && files.includes("base/bytes_test.ts"));
  assert.ok(files.every((file) => !file.startsWith("node_modules/") && !file.startsWith("dist/")));
});

test("a test whose need is not met tells why, and fails under CI", (t) => {
  const said: string[] = [];
  const original = console.error;
  const context = { name: "a test", skip: (reason: string) => said.push(reason) } as unknown as typeof t;
  const before = process.env["CI"];
  console.error = (line: string) => said.push(line);
  try {
    process.env["CI"] = "true";
    assert.throws(() => requireThat(context, false, "no tool"), /no tool/);
    process.env["CI"] = "false";
    assert.equal(requireThat(context, false, "no tool"), false);
    assert.equal(requireThat(context, true, "no tool"), true);
  } finally {
    console.error = original;
    if (before === undefined) delete process.env["CI"];
    else process.env["CI"] = before;
  }
  assert.deepEqual(said, [`${SKIP_MARK} a test: no tool`, "no tool"]);
  assert.deepEqual(skipReasons(`other\n${said[0]}\n`), ["a test: no tool"]);
});
