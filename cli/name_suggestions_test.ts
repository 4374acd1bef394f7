import assert from "node:assert/strict";
import { it } from "node:test";
import { write } from "../tests/support/test_engine.ts";
import { testCli } from "./testing.ts";

it("a mistyped object or folder gets the nearest one beside it as a hint", async (t) => {
  const { run, engine } = testCli(t);
  await engine.store.createRepository("repo", { committer: "x" });
  await write(engine.store, "main", { "tables/orders.csv": "", "tables/2026/x": "", "notes": "" });
  const slips: Record<string, string | undefined> = {
    "cat lakefs://repo/main/tables/order.csv": "tables/orders.csv",
    "stat lakefs://repo/main/note": "notes",
    "ls lakefs://repo/main/tabels/": "tables/",
    "ls lakefs://repo/main/tables/2025": "tables/2026/",
    "ls lakefs://repo/main/zebra": undefined,
    "cat lakefs://repo/main/nowhere/order.csv": undefined,
  };
  for (const [line, near] of Object.entries(slips)) {
    const { code, err } = await run(...line.split(" "));
    assert.equal(code, 3, line);
    const hint = err.split("\n")[1]!;
    if (near === undefined) assert.match(hint, /^ {2}"tarn ls/, line);
    else assert.equal(hint, `  Did you mean "${near}"?`, line);
  }
});

it("a mistyped repository, branch or tag gets the nearest known one as a hint", async (t) => {
  const { run, engine } = testCli(t);
  await engine.store.createRepository("sales", { committer: "x" });
  await engine.store.createBranch("sales", "feature", "main", "x");
  await engine.store.createTag("sales", "v1.0", "main", "x");
  const slips: Record<string, string | undefined> = {
    "ls lakefs://slaes/main": "sales",
    "repo show lakefs://sale": "sales",
    "cat lakefs://sales/mian/x": "main",
    "stat lakefs://sales/maim~1/x": "main",
    "branch show lakefs://sales/featrue": "feature",
    "tag show lakefs://sales/v1.1": "v1.0",
    "merge lakefs://sales/main --from feture": "feature",
    "branch delete lakefs://sales/v1.1": undefined,
    "ls lakefs://sales/zebra": undefined,
    "repo show lakefs://other": undefined,
  };
  for (const [line, near] of Object.entries(slips)) {
    const { code, err } = await run(...line.split(" "));
    assert.equal(code, 3, line);
    const hint = err.split("\n")[1]!;
    if (near === undefined) assert.match(hint, /^ {2}"tarn /, line);
    else assert.equal(hint, `  Did you mean "${near}"?`, line);
  }
  const { err } = await run("ls", "lakefs://slaes/main", "--json");
  assert.equal(JSON.parse(err).hint, 'Did you mean "sales"?');
  assert.equal(JSON.parse(err).details.suggestion, "sales");
});
