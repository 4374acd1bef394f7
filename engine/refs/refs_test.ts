import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { systemClock } from "../../base/clock.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import { Refs } from "./refs.ts";

test("find() gives the same record as long as the stored bytes are the same, and the new one from then on", async () => {
  const kv = openMemoryKv();
  const open = (seed: number) =>
    new Refs(kv, utf8("repository"), { clock: systemClock, randomness: seededRandomness(seed) });
  const [ours, theirs] = [open(1), open(2)];
  const branch = { commitId: "c1", stagingToken: "t1", sealedTokens: [] };
  const note = { operation: "test", who: "test" };
  await ours.create({ name: "main", isDeleted: false, branch }, note);

  const first = await ours.find("main");
  assert.equal((await ours.find("main"))!.record, first!.record);
  assert.notEqual((await theirs.find("main"))!.record, first!.record);

  const seen = await theirs.find("main");
  const sealed = { ...branch, stagingToken: "t2", sealedTokens: ["t1"] };
  assert.ok(await theirs.retoken(seen!, { ...seen!.record, branch: sealed }));
  const second = await ours.find("main");
  assert.deepEqual(second!.record.branch, sealed);
  assert.equal(await ours.retoken(first!, first!.record), false);

  assert.ok(await ours.change(second!, { name: "main", isDeleted: true, branch: sealed }, note));
  assert.equal(await ours.find("main"), undefined);
  assert.equal(await theirs.find("main"), undefined);
});
