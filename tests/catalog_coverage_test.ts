/** docs/catalog_coverage.md: what it says is built is there, and so are the tests that show it; what it waits for is not. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { openCatalogStore } from "../catalog/registry.ts";
import {
  CATALOG_DRIVERS,
  type CatalogDriverName,
  DRIVERS_OF_THIS_VERSION,
} from "../drivers/catalog_store.ts";
import { parseCoverage, testsWithoutReport } from "./support/coverage.ts";
import { hasTest } from "./support/titles.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

const rows = () => parseCoverage(readFileSync(join(ROOT, "docs", "catalog_coverage.md"), "utf8"));

it("the coverage page has the behaviours of every section, each once", () => {
  const all = rows();
  assert.ok(all.length > 240);
  assert.equal(new Set(all.map(({ id }) => id)).size, all.length);
});

it("what the coverage page says is built is there, and so is each test that it names", () => {
  for (const { id, path, tests } of rows()) {
    if (path !== undefined) assert.ok(existsSync(join(ROOT, path)), `${id}: ${path}`);
    for (const { file, title } of tests) {
      assert.ok(existsSync(join(ROOT, file)), `${id}: ${file}`);
      const source = readFileSync(join(ROOT, file), "utf8");
      assert.ok(hasTest(source, title), `${id}: no test "${title}" in ${file}`);
    }
  }
});

it("a row waits for drivers only that are not there yet", async () => {
  const missing = new Set<string>();
  for (const driver of Object.keys(CATALOG_DRIVERS) as CatalogDriverName[]) {
    if (!await canOpen(driver)) missing.add(driver);
    assert.equal(DRIVERS_OF_THIS_VERSION.includes(driver), !missing.has(driver), driver);
  }
  for (const { id, waitsFor } of rows()) {
    for (const driver of waitsFor) {
      assert.ok(missing.has(driver), `${id} waits for "${driver}": it is there, so fill in the row`);
    }
  }
});

/** Returns whether the driver is there; how well it opens without options is no matter here. */
async function canOpen(driver: CatalogDriverName): Promise<boolean> {
  const openEngine = () => Promise.reject(new Error("There is no engine here"));
  try {
    const store = await openCatalogStore({ name: "s", driver, options: {} }, { openEngine });
    await store.close();
    return true;
  } catch (error) {
    return (error as { code?: string }).code !== "driver_missing";
  }
}

it("parseCoverage() reads each kind of row, and refuses those that say nothing or too much", () => {
  const parsed = parseCoverage(
    "# Page\n| id | behaviour |\n| A1 | all of it | `a/b.ts` | a/b_test.ts: one \\| two <br> c_suite.ts: three |\n" +
      "| A2 | a part | `a/b.ts`, waits for s3, gcs | a/b_test.ts: x |\n| A3 | none | waits for hf | — |\n" +
      "| A4 | another's | not ours: it is about them | — |\n",
  );
  assert.deepEqual(parsed.map(({ id, path, waitsFor, tests }) => [id, path, waitsFor, tests]), [
    ["A1", "a/b.ts", [], [{ file: "a/b_test.ts", title: "one | two" }, {
      file: "c_suite.ts",
      title: "three",
    }]],
    ["A2", "a/b.ts", ["s3", "gcs"], [{ file: "a/b_test.ts", title: "x" }]],
    ["A3", undefined, ["hf"], []],
    ["A4", undefined, [], []],
  ]);
  for (
    const row of [
      "| A1 | x | not built | — |",
      "| A1 | x |  | — |",
      "| A1 | x | `a.ts` | — |",
      "| A1 | x | waits for hf | a_test.ts: x |",
      "| A1 | x | `a.ts` waits for hf | a_test.ts: x |",
      "| A1 | x | `a.ts` | a.ts: x |",
      "| A1 | x | `a.ts` | a_test.ts: x | y |",
    ]
  ) assert.throws(() => parseCoverage(row), /^Error: A1: /, row);
});

it("testsWithoutReport() finds the tests that did not run, in their own file or in that of a driver", () => {
  const rows = parseCoverage(
    "| A1 | x | `a.ts` | a_test.ts: it's <br> a_test.ts: gone <br> s_suite.ts: reads <br> s_suite.ts: writes |",
  );
  const reports = new Map([
    ["a_test.ts", '<testsuite name="gone"><testcase name="it&apos;s" classname="" /></testsuite>'],
    ["b_test.ts", '<testcase name="gone" /><testcase name="file: reads" /><testcase name="writes" />'],
  ]);
  assert.deepEqual(testsWithoutReport(rows, reports), ["A1: a_test.ts: gone", "A1: s_suite.ts: writes"]);
});

it("hasTest() finds titles that are written, and those put together of what stands in the file", () => {
  const source =
    'it("adds", f); for (const [a] of [["x=1"]]) it(`takes ${a.replaceAll("\\n", "")} well`, f); it(name, f);';
  for (const title of ["adds", "takes x=1 well"]) assert.ok(hasTest(source, title), title);
  for (const title of ["subtracts", "takes y=2 well", "takes  well", "add"]) {
    assert.ok(!hasTest(source, title), title);
  }
});
