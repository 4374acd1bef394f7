import assert from "node:assert/strict";
import { mkdirSync, unlinkSync } from "node:fs";
import { join } from "node:path";
import test from "node:test";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { WriteLock } from "./write_lock.ts";

test("calls side by side outlive the lock's file: one finds it gone, and none uses what that one closed", async (t) => {
  const folder = temporaryFolder(t);
  const lock = new WriteLock(folder, (missing) => mkdirSync(missing, { recursive: true }));
  t.after(() => lock.close());
  let runs = 0;
  const run = () => lock.run(() => void runs++);
  await run();
  for (let round = 0; round < 20; round++) {
    unlinkSync(join(folder, "write"));
    await Promise.all([run(), run(), run()]);
  }
  assert.equal(runs, 61);
});
