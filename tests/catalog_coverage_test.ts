/** docs/catalog_coverage.md: what it says is built is there, and so are the tests that show it. */

import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { hasTest } from "./support/titles.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const NOT_BUILT = "not built";

interface Row {
  readonly id: string;
  readonly behaviour: string;
  readonly where: string;
  readonly test: string;
}

function rows(): readonly Row[] {
  const page = readFileSync(join(ROOT, "docs", "catalog_coverage.md"), "utf8");
  const lines = page.split("\n").filter((line) => /^\| [A-Z]+\d+ /.test(line));
  return lines.map((line) => {
    const cells = line.slice(1, -1).split(/(?<!\\)\|/).map((cell) => cell.trim().replaceAll("\\|", "|"));
    assert.equal(cells.length, 4, line);
    const [id, behaviour, where, test] = cells as [string, string, string, string];
    return { id, behaviour, where, test };
  });
}

it("the coverage page has the behaviours of every section, each once and with no empty cell", () => {
  const all = rows();
  assert.ok(all.length > 200);
  assert.equal(new Set(all.map(({ id }) => id)).size, all.length);
  for (const { id, behaviour, where, test } of all) {
    assert.ok(behaviour !== "" && where !== "" && test !== "", id);
    assert.equal(where === NOT_BUILT, test === NOT_BUILT, `${id}: what is not built has no test`);
  }
});

it("what the coverage page says is built is there, and so is each test that it names", () => {
  for (const { id, where, test } of rows()) {
    if (where === NOT_BUILT || where.startsWith("not ours: ")) continue;
    const path = /^`(.+)`$/.exec(where)?.[1];
    assert.ok(path !== undefined && existsSync(join(ROOT, path)), `${id}: ${where}`);
    for (const one of test.split("<br>")) {
      const [, file, title] = /^\s*(\S+_(?:test|suite)\.ts): (.+?)\s*$/.exec(one) ?? [];
      assert.ok(file !== undefined && title !== undefined, `${id}: "${one}" is no file with a title`);
      assert.ok(existsSync(join(ROOT, file)), `${id}: ${file}`);
      assert.ok(
        hasTest(readFileSync(join(ROOT, file), "utf8"), title),
        `${id}: no test "${title}" in ${file}`,
      );
    }
  }
});

it("hasTest() finds titles that are written, and those put together of what stands in the file", () => {
  const source =
    'it("adds", f); for (const [a] of [["x=1"]]) it(`takes ${a.replaceAll("\\n", "")} well`, f); it(name, f);';
  for (const title of ["adds", "takes x=1 well"]) assert.ok(hasTest(source, title), title);
  for (const title of ["subtracts", "takes y=2 well", "takes  well", "add"]) {
    assert.ok(!hasTest(source, title), title);
  }
});
