/** What commits, diffs and merges read and write, counted by `--stats`: it follows the change, not the repository. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { type Home, openHome } from "../support/home.ts";

const REPOSITORY = "lakefs://costs";
const FILES = 3000;

async function costsOf(home: Home, args: readonly string[]): Promise<Record<string, number>> {
  const { stderr } = await home.ok([...args, "--stats"]);
  const line = stderr.split("\n").find((text) => text.includes("stats: "));
  assert.ok(line, stderr);
  return Object.fromEntries(
    [...line.matchAll(/(\w+)=(\d+)/g)].map(([, name, count]) => [name, Number(count)]),
  );
}

async function put(home: Home, branch: string, path: string): Promise<void> {
  const file = join(home.folder, "one");
  writeFileSync(file, `${branch} ${path}`);
  await home.ok(["put", `${REPOSITORY}/${branch}/${path}`, file]);
}

/** About 30 ranges of 100 files each. */
async function openFilled(t: Parameters<typeof openHome>[0]): Promise<Home> {
  const home = openHome(t);
  const folder = join(home.folder, "many");
  mkdirSync(folder);
  for (let i = 0; i < FILES; i++) {
    writeFileSync(join(folder, `file-${String(i).padStart(5, "0")}`), `content ${i}`);
  }
  await home.ok(["repo", "create", REPOSITORY, "--raggedness", "100"]);
  await home.ok(["put", `${REPOSITORY}/main/many`, folder, "-r"]);
  const first = await costsOf(home, ["commit", `${REPOSITORY}/main`, "-m", "all"]);
  assert.ok(first["tables_written"]! > 15, "there are many ranges");
  return home;
}

test("a commit of one change writes one range and the metarange, whatever else there is", async (t) => {
  const home = await openFilled(t);
  await put(home, "main", "many/file-01500");
  const costs = await costsOf(home, ["commit", `${REPOSITORY}/main`, "-m", "one"]);
  assert.equal(costs["tables_written"], 2);
  assert.ok(costs["ranges_reused"]! > 15);
  assert.ok(costs["tables_opened"]! <= 2, "the metarange and the range of the change");
  assert.ok(costs["blocks_read"]! <= 14, `${costs["blocks_read"]} blocks read`);

  const diff = await costsOf(home, ["diff", `${REPOSITORY}/main~1`, `${REPOSITORY}/main`]);
  assert.equal(diff["tables_written"], 0);
  assert.ok(diff["tables_opened"]! <= 4, "two metaranges and the range on each side");
  // Three of each table's own (names, properties, index), the metaranges' one, the changed block and perhaps its neighbour.
  assert.ok(diff["blocks_read"]! <= 20, `${diff["blocks_read"]} blocks read`);
});

test("a merge of sides that changed different ranges writes the metarange alone", async (t) => {
  const home = await openFilled(t);
  await home.ok(["branch", "create", `${REPOSITORY}/side`, "--source", `${REPOSITORY}/main`]);
  await put(home, "side", "many/file-00100");
  await home.ok(["commit", `${REPOSITORY}/side`, "-m", "theirs"]);
  await put(home, "main", "many/file-02900");
  await home.ok(["commit", `${REPOSITORY}/main`, "-m", "ours"]);
  const costs = await costsOf(home, ["merge", `${REPOSITORY}/side`, `${REPOSITORY}/main`]);
  assert.equal(costs["tables_written"], 1, "their range is taken over by ID");
  // Of a range of a few records all are read.
  assert.ok(costs["blocks_read"]! <= 40, `${costs["blocks_read"]} blocks read`);
  assert.equal(await home.text(["cat", `${REPOSITORY}/main/many/file-00100`]), "side many/file-00100");
  assert.equal(await home.text(["cat", `${REPOSITORY}/main/many/file-02900`]), "main many/file-02900");
});

test("a commit that appends writes the last range alone", async (t) => {
  const home = await openFilled(t);
  await put(home, "main", "zzz");
  const costs = await costsOf(home, ["commit", `${REPOSITORY}/main`, "-m", "append"]);
  assert.equal(costs["tables_written"], 2);
  assert.ok(costs["tables_opened"]! <= 2);
});
