/** Every command of the pages for readers is run; those that need clients of others are in `clients/pages_test.ts`. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { runPage } from "../support/pages.ts";
import { requireTool } from "../support/requires.ts";

const PAGES = [
  { page: "README.md", boxes: 1 },
  { page: "docs/guide.md", boxes: 20 },
  { page: "docs/catalog.md", boxes: 8 },
  { page: "docs/ci.md", boxes: 8 },
];

for (const { page, boxes } of PAGES) {
  test(`every command of ${page} works, in order`, async (t) => {
    if (!requireTool(t, "bash")) return;
    assert.ok(await runPage(t, page) >= boxes);
  });
}
