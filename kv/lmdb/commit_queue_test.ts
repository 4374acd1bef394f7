import assert from "node:assert/strict";
import { test } from "node:test";
import { CommitQueue, type Write } from "./commit_queue.ts";
import { predicateFailed } from "./errors.ts";
import type { Removals } from "./records.ts";

/** What these writes have no use for. */
const NONE: Removals = { get: () => undefined, put: () => {}, remove: () => {} };

/** A transaction that keeps what was written only when its body ends without an error, and counts. */
function recorder(refusesBeyond = Infinity) {
  const committed: string[] = [];
  let open: string[] = [];
  let transactions = 0;
  const queue = new CommitQueue({
    transaction: (body) => {
      transactions++;
      open = [];
      body(NONE);
      if (open.length > refusesBeyond) throw new Error("too much for one transaction");
      committed.push(...open);
    },
  });
  const writing = (text: string): Write<Removals> => () => {
    open.push(text);
    return undefined;
  };
  return { queue, committed, writing, transactions: () => transactions };
}

test("writes of one turn share a transaction and keep their order", async () => {
  const { queue, committed, writing, transactions } = recorder();
  await Promise.all(["a", "b", "c"].map((text) => queue.commit(writing(text))));
  assert.deepEqual(committed, ["a", "b", "c"]);
  assert.equal(transactions(), 1);
});

test("a write is answered only after its transaction has ended", async () => {
  let ended = false;
  const queue = new CommitQueue({
    transaction: (body) => {
      body(NONE);
      assert.equal(ended, false);
      ended = true;
    },
  });
  const answer = queue.commit(() => undefined).then(() => assert.ok(ended));
  assert.equal(ended, false);
  await answer;
});

test("a refusal reaches its own caller and the rest is committed", async () => {
  const { queue, committed, writing, transactions } = recorder();
  const refused = queue.commit(() => predicateFailed());
  await Promise.all([queue.commit(writing("a")), assert.rejects(refused, { code: "predicate_failed" })]);
  assert.deepEqual(committed, ["a"]);
  assert.equal(transactions(), 1);
});

test("when a shared transaction fails each write is tried alone", async () => {
  const { queue, committed, writing } = recorder();
  const outcomes = await Promise.allSettled([
    queue.commit(writing("a")),
    queue.commit(() => {
      throw new Error("no room");
    }),
    queue.commit(writing("b")),
  ]);
  assert.deepEqual(outcomes.map(({ status }) => status), ["fulfilled", "rejected", "fulfilled"]);
  assert.deepEqual(committed, ["a", "b"]);
});

test("a transaction that cannot be committed rejects its writes", async () => {
  const { queue, committed, writing } = recorder(0);
  await assert.rejects(queue.commit(writing("a")), /too much/);
  assert.deepEqual(committed, []);
});

test("flush() carries out at once what waits", async () => {
  const { queue, committed, writing, transactions } = recorder();
  const answer = queue.commit(writing("a"));
  queue.flush();
  assert.deepEqual(committed, ["a"]);
  await answer;
  assert.equal(transactions(), 1);
});

test("no transaction is shared by more than 1,000 writes", async () => {
  const { queue, committed, writing, transactions } = recorder(1000);
  await Promise.all(Array.from({ length: 2500 }, (_, i) => queue.commit(writing(String(i)))));
  assert.equal(committed.length, 2500);
  assert.equal(transactions(), 3);
});
