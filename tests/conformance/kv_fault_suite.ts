/** What every KV store that is reached over a network must do when requests and answers are lost. */

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import { setIfAround } from "../../kv/around.ts";
import type { KvStore } from "../../kv/store.ts";
import type { Proxy } from "../services/proxy.ts";
import { K, P, refused, scanned, valueOf } from "./kv_suite_support.ts";

export interface KvFaultSuiteOptions {
  readonly requires: (t: TestContext) => boolean;
  /** Opens one store twice: through a proxy, connected already, and straight. */
  readonly open: (t: TestContext) => Promise<{ store: KvStore; straight: KvStore; proxy: Proxy }>;
}

interface Opened {
  readonly store: KvStore;
  readonly straight: KvStore;
  readonly proxy: Proxy;
}

/** Declares the suite's tests for one driver. */
export function testKvFaults(name: string, { requires, open }: KvFaultSuiteOptions): void {
  function check(title: string, body: (opened: Opened) => Promise<void>): void {
    test(`${name}: ${title}`, async (t) => {
      if (!requires(t)) return;
      const opened = await open(t);
      await opened.store.set(P, K, utf8("old"));
      await body(opened);
    });
  }

  for (const at of ["request", "sent", "answer", "silence"] as const) {
    check(`every call gets through when one connection breaks (${at})`, async ({ store, proxy }) => {
      proxy.breaks({ at });
      assert.deepEqual(await valueOf(store, K), utf8("old"));
      proxy.breaks({ at });
      await store.set(P, K, utf8("new"));
      proxy.breaks({ at });
      const seen = await store.get(P, K);
      proxy.breaks({ at });
      await store.setIf(P, K, utf8("newer"), seen!.predicate);
      proxy.breaks({ at });
      await store.setIf(P, utf8("fresh"), utf8("1"), undefined);
      proxy.breaks({ at });
      await store.setMany(P, [{ key: utf8("a"), value: K }, { key: utf8("b"), value: K }]);
      for (const after of [0, 1]) {
        await store.set(P, utf8("gone"), K);
        proxy.breaks({ at, after });
        await store.delete(P, utf8("gone"));
      }
      proxy.breaks({ at });
      await store.deleteMany(P, [utf8("a"), utf8("fresh")]);
      proxy.breaks({ at });
      assert.deepEqual((await scanned(store)).map(([key]) => key), ["62", "6b6579"]);
      assert.deepEqual(await valueOf(store, K), utf8("newer"));
      assert.equal(proxy.broken, 10);
    });
  }

  testVerdicts(check);
}

function testVerdicts(check: (title: string, body: (opened: Opened) => Promise<void>) => void): void {
  check("setIf() that landed, its answer lost, succeeds though another has followed", async (opened) => {
    const { store, straight, proxy } = opened;
    const seen = await store.get(P, K);
    proxy.breaks({ at: "answer", meanwhile: () => follow(straight, "theirs") });
    await store.setIf(P, K, utf8("ours"), seen!.predicate);
    assert.deepEqual(await valueOf(straight, K), utf8("ours, theirs"));
  });

  check("writes around a compare-and-set are there though an answer was lost", async (opened) => {
    const { store, straight, proxy } = opened;
    const seen = await store.get(P, K);
    const before = [{ key: utf8("before"), value: K }], after = [{ key: utf8("after"), value: K }];
    proxy.breaks({ at: "answer" });
    await setIfAround(store, P, { key: K, value: utf8("ours") }, {
      predicate: seen!.predicate,
      before,
      after,
    });
    assert.deepEqual(await valueOf(straight, K), utf8("ours"));
    for (const { key } of [...before, ...after]) assert.deepEqual(await valueOf(straight, key), K);
  });

  check("setIf() that was lost on the way is refused when another came first", async (opened) => {
    const { store, straight, proxy } = opened;
    const seen = await store.get(P, K);
    proxy.breaks({ at: "request", meanwhile: () => follow(straight, "theirs") });
    await refused(store.setIf(P, K, utf8("ours"), seen!.predicate));
    assert.deepEqual(await valueOf(straight, K), utf8("old, theirs"));
  });

  check("setIf() of which nobody can tell what became is not called refused", async (opened) => {
    const { store, straight, proxy } = opened;
    const seen = await store.get(P, K);
    const meanwhile = async () => {
      await follow(straight, "theirs");
      await follow(straight, "more");
    };
    proxy.breaks({ at: "answer", meanwhile });
    await assert.rejects(
      store.setIf(P, K, utf8("ours"), seen!.predicate),
      (error) => isCoded(error, "kv_unavailable") && /answer was lost/.test(error.message),
    );
    proxy.breaks({ at: "answer", meanwhile: () => straight.delete(P, utf8("new")) });
    await assert.doesNotReject(store.setIf(P, utf8("new"), K, undefined));
  });

  check("set() that landed is not done again over what another has made of it", async (opened) => {
    const { store, straight, proxy } = opened;
    proxy.breaks({ at: "answer", meanwhile: () => follow(straight, "theirs") });
    await store.set(P, K, utf8("ours"));
    assert.deepEqual(await valueOf(straight, K), utf8("ours, theirs"));
  });

  check("delete() that landed does not take along what another has stored since", async (opened) => {
    const { store, straight, proxy } = opened;
    const meanwhile = () => straight.setIf(P, K, utf8("theirs"), undefined);
    proxy.breaks({ at: "answer", after: 1, meanwhile });
    await store.delete(P, K);
    assert.deepEqual(await valueOf(straight, K), utf8("theirs"));
  });

  check("counters raised over a bad line lose and double nothing", async ({ store, proxy }) => {
    await store.set(P, K, utf8("0"));
    for (let i = 0; i < 20; i++) {
      proxy.breaks({ at: i % 2 === 0 ? "answer" : "request", after: i % 3 });
      const seen = await store.get(P, K);
      const next = Number(new TextDecoder().decode(seen!.value)) + 1;
      await store.setIf(P, K, utf8(String(next)), seen!.predicate);
    }
    assert.deepEqual(await valueOf(store, K), utf8("20"));
  });

  check("a line that stays bad fails with kv_unavailable", async ({ store, proxy }) => {
    proxy.breaks({ at: "answer", times: 1000 });
    await assert.rejects(store.get(P, K), { kind: "unavailable", code: "kv_unavailable" });
  });
}

/** Adds to the value that is there, by compare-and-set. */
async function follow(store: KvStore, text: string): Promise<void> {
  const seen = await store.get(P, K);
  const value = `${new TextDecoder().decode(seen!.value)}, ${text}`;
  await store.setIf(P, K, utf8(value), seen!.predicate);
}
