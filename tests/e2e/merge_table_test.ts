/** The table of merges, row by row and with both strategies, through the executable. X stands for a missing file. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { type Home, openHome } from "../support/home.ts";
import { MERGE_TABLE } from "../support/merge_table.ts";

for (const [row, plain, sourceWins, destWins] of MERGE_TABLE) {
  test(`merging ${row} gives ${plain}, ${sourceWins} where the source wins, ${destWins} where the destination wins`, async (t) => {
    const home = openHome(t);
    const [base, source, destination] = [...row] as [string, string, string];
    await home.ok(["repo", "create", "lakefs://repo"]);
    await home.ok(["put", "lakefs://repo/main/other", "-"], { stdin: "0" });
    if (base !== "X") await home.ok(["put", "lakefs://repo/main/f", "-"], { stdin: base });
    await home.ok(["commit", "lakefs://repo/main", "-m", "base"]);
    await home.ok(["branch", "lakefs://repo/source", "--from", "main"]);
    await change(home, "source", { from: base, to: source });
    await change(home, "main", { from: base, to: destination });
    for (const branch of ["sw", "dw"]) await home.ok(["branch", `lakefs://repo/${branch}`, "--from", "main"]);
    const before = await home.text(["log", "lakefs://repo/main", "--json"]);

    const merge = await home.run(["merge", "lakefs://repo/source", "lakefs://repo/main"]);
    if (plain === "conflict") {
      assert.equal(merge.code, 4, merge.stderr);
      assert.match(merge.stderr, /^tarn: .*"f"/);
      assert.equal(await home.text(["log", "lakefs://repo/main", "--json"]), before);
    } else {
      assert.equal(merge.code, 0, merge.stderr);
      await checkContents(home, "main", plain);
    }
    for (
      const [branch, strategy, result] of [["sw", "source-wins", sourceWins], [
        "dw",
        "dest-wins",
        destWins,
      ]] as const
    ) {
      await home.ok(["merge", "lakefs://repo/source", `lakefs://repo/${branch}`, "--strategy", strategy]);
      await checkContents(home, branch, result);
    }
  });
}

/** Makes one side's change, and another so that the side has a commit of its own. */
async function change(home: Home, branch: string, { from, to }: { from: string; to: string }): Promise<void> {
  if (to === "X" && from !== "X") await home.ok(["rm", `lakefs://repo/${branch}/f`]);
  if (to !== "X" && to !== from) await home.ok(["put", `lakefs://repo/${branch}/f`, "-"], { stdin: to });
  await home.ok(["put", `lakefs://repo/${branch}/of-${branch}`, "-"], { stdin: branch });
  await home.ok(["commit", `lakefs://repo/${branch}`, "-m", branch]);
}

async function checkContents(home: Home, branch: string, result: string): Promise<void> {
  const listed = JSON.parse(await home.text(["ls", "-r", `lakefs://repo/${branch}`, "--json"]));
  const expected = [...(result === "X" ? [] : ["f"]), "of-main", "of-source", "other"];
  assert.deepEqual(listed.map(({ path }: { path: string }) => path), expected);
  if (result !== "X") assert.equal(await home.text(["cat", `lakefs://repo/${branch}/f`]), result);
}
