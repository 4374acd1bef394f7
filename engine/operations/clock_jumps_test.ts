/** The machine's clock jumps, by a year and back: what was written stays, in the order in which it came to be. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandomness } from "../../base/randomness.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import { hookedKv } from "../../tests/support/hooked_kv.ts";
import {
  collect,
  commit,
  contents,
  paths,
  signs,
  testClock,
  testEngine,
  WHO,
  withRepository,
  write,
} from "../../tests/support/test_engine.ts";
import { newId, newIdAfter } from "../objects/mod.ts";

const YEAR_MS = 365 * 24 * 60 * 60 * 1000;

test("newIdAfter() sorts behind the last ID however far the clock went back, and takes the clock's time otherwise", () => {
  const randomness = seededRandomness(1);
  for (
    const startMs of [Date.UTC(1970, 0, 2), Date.UTC(2026, 0, 1), Date.UTC(2250, 0, 1), Date.UTC(3000, 0, 1)]
  ) {
    const clock = testClock(startMs);
    let last = newId(clock, randomness);
    for (const jump of [0, -YEAR_MS / 365 / 2, YEAR_MS, -YEAR_MS, 0, 0, 0]) {
      clock.advance(jump);
      const next = newIdAfter(last, clock, randomness);
      assert.ok(next > last && next.length === 26, `${last} ${next}`);
      last = next;
    }
  }
  const clock = testClock();
  assert.equal(newIdAfter("", clock, randomness).slice(0, 8), newId(clock, randomness).slice(0, 8));
});

test("moves stay in order when the clock goes back, the last deletion is the one restored, and dates are the clock's", async () => {
  const { store, clock } = await withRepository();
  const heads: string[] = [];
  for (const jump of [0, YEAR_MS, -2 * YEAR_MS, YEAR_MS]) {
    clock.advance(jump);
    heads.push(await commit(store, "main", { [`k${heads.length}`]: "v" }));
  }
  const moves = await collect(store.reflog("repo", "main"));
  assert.deepEqual(moves.map(({ newCommitId }) => newCommitId).slice(1), heads);
  assert.deepEqual(moves.slice(2).map(({ oldCommitId }) => oldCommitId), heads.slice(0, -1));
  assert.equal(new Set(moves.map(({ id }) => id)).size, moves.length);
  const log = await collect(store.log("repo", "main"));
  assert.deepEqual(log.map(({ id }) => id).slice(0, -1), [...heads].reverse());
  assert.ok(log[1]!.creationDate < log[2]!.creationDate);
  for (const ref of [heads[0]!, heads[1]!]) {
    clock.advance(-YEAR_MS);
    await store.createBranch("repo", "side", ref, WHO);
    await store.deleteBranch("repo", "side", WHO);
  }
  assert.equal((await store.restoreRef("repo", "branch", "side", { who: WHO })).commitId, heads[1]);
  assert.deepEqual(Object.keys(await contents(store, "main")), ["k0", "k1", "k2", "k3"]);
});

test("ts:TIME takes the first commit along first parents made by then, whatever dates its ancestors have", async () => {
  const { store, clock } = await withRepository(testEngine({ clock: testClock(Date.UTC(2026, 0, 1)) }));
  const first = await commit(store, "main", { a: "1" });
  clock.advance(YEAR_MS);
  const ahead = await commit(store, "main", { a: "2" });
  clock.advance(-YEAR_MS + 60_000);
  const now = await commit(store, "main", { a: "3" });
  const at = (value: string) => store.select("repo", { kind: "ts", value }, "main");
  clock.advance(2 * YEAR_MS);
  assert.equal(await at("2026-01-01T00:00:30Z"), first);
  assert.equal(await at("2026-06-01"), now);
  assert.equal(await at("2027-06-01"), now);
  assert.equal(await store.select("repo", { kind: "ts", value: "2027-06-01" }, ahead), ahead);
});

test("what is staged while the clock jumps stays staged, the last write of a path on top", async () => {
  const { store, clock } = await withRepository();
  await store.createBranch("repo", "side", "main", WHO);
  await commit(store, "side", { s: "v" });
  for (const [i, jump] of [0, YEAR_MS, -2 * YEAR_MS, YEAR_MS].entries()) {
    clock.advance(jump);
    await write(store, "main", { a: `${i}`, [`k${i}`]: "v" });
    // A merge that is refused has sealed what is staged.
    if (i < 3) {
      await assert.rejects(store.merge("repo", "side", "main", { committer: WHO }), { code: "branch_dirty" });
    }
  }
  assert.equal((await contents(store, "main"))["a"], "3");
  await store.commit("repo", "main", { message: "m", committer: WHO });
  assert.deepEqual(await contents(store, "main@"), { a: "3", k0: "v", k1: "v", k2: "v", k3: "v" });
});

test("a commit whose staging token is dropped and deleted under its eyes does not take the branch for clean", async () => {
  const kv = openMemoryKv();
  const others = await withRepository(testEngine({ kv }));
  await others.store.createBranch("repo", "side", "main", WHO);
  await write(others.store, "main", { "e/1": "dropped", a: "staged" });
  let scans = 0;
  const held = hookedKv(kv, {
    async before({ call, partition }) {
      // The first look tells whether anything is staged, the second whether the token has to be sealed.
      if (call !== "scan" || !partition.includes("/") || ++scans !== 2) return;
      await others.store.reset("repo", "main", { prefix: "e/" }, WHO);
      others.clock.advance(YEAR_MS);
      await commit(others.store, "side", { s: "v" });
    },
  });
  const { store } = testEngine({ kv: held, objects: others.objects, clock: others.clock });
  await store.commit("repo", "main", { message: "m", committer: WHO });
  assert.deepEqual(await contents(others.store, "main@"), { a: "staged" });
});

/**
 * Reads in one process, whose clock runs on as if nothing were, while two commits of another one land between two of its
 * pages and the machine's clock jumps between them.
 */
async function readAcross(jumpMs: number, read: "list" | "status"): Promise<string[] | string> {
  const kv = openMemoryKv();
  const others = await withRepository(testEngine({ kv }));
  const keys = Array.from({ length: 200 }, (_, i) => `k${String(i).padStart(3, "0")}`);
  await write(others.store, "main", Object.fromEntries(keys.map((key) => [key, "v"])));
  let scans = 0;
  const held = hookedKv(kv, {
    async before({ call, partition }) {
      // Between the first and second page of the staging token.
      if (call !== "scan" || !partition.includes("/") || ++scans !== 2) return;
      await commit(others.store, "main", { a: "1" });
      others.clock.advance(jumpMs);
      await commit(others.store, "main", { a: "2" });
    },
  });
  const clock = testClock(others.clock.now());
  const { store } = testEngine({ kv: held, objects: others.objects, clock });
  const done = read === "list"
    ? collect(store.list("repo", "main")).then(paths)
    : collect(store.status("repo", "main")).then(signs);
  const seen = await done.catch((error) => error.code);
  assert.ok(scans >= 2);
  return typeof seen === "string" ? seen : seen.length === keys.length ? ["all"] : seen;
}

for (const read of ["list", "status"] as const) {
  test(`a ${read} whose staged records a jump of the clock takes away says try_again, and never comes out short`, async () => {
    assert.equal(await readAcross(YEAR_MS, read), "try_again");
    // Without a jump, and after one back, nothing is deleted, and nobody has to try again.
    assert.deepEqual(await readAcross(0, read), ["all"]);
    assert.deepEqual(await readAcross(-YEAR_MS, read), ["all"]);
  });
}
