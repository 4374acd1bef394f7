/**
 * What every KV store must do, whatever stands behind it. A driver's own test opens the driver and runs this suite;
 * decorators run it too.
 */

import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { compareBytes, hex, utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { setIfAround } from "../../kv/around.ts";
import type { KvEntry, KvStore, ListedKvStore } from "../../kv/store.ts";
import { testScans } from "./kv_suite_scans.ts";
import { type Check, entriesOf, K, keysOf, P, refused, scanned, valueOf } from "./kv_suite_support.ts";

export interface KvSuiteOptions {
  /** Opens an empty store and sees to it that it is closed and gone when the test ends. */
  readonly open: (t: TestContext) => Promise<KvStore>;
  /** Tells whether what the driver needs is there; if not, it has skipped the test (`tests/support/requires.ts`). */
  readonly requires?: (t: TestContext) => boolean;
  /** What the driver does beyond the contract's least. */
  readonly capabilities?: { readonly atomicSetMany?: boolean; readonly partitions?: boolean };
  /** Tests that the driver cannot pass, with the reason. */
  readonly skip?: Readonly<Record<string, string>>;
}

/** Declares the suite's tests for one driver. */
export function testKvStore(
  name: string,
  { open, requires, capabilities = {}, skip = {} }: KvSuiteOptions,
): void {
  const known = new Set<string>();
  function check(title: string, body: (store: KvStore) => Promise<void>): void {
    known.add(title);
    const reason = skip[title];
    test(`${name}: ${title}`, reason === undefined ? {} : { skip: reason }, async (t) => {
      if (requires && !requires(t)) return;
      await body(await open(t));
    });
  }

  testValues(check);
  testPredicates(check);
  testPartitions(check);
  testScans(check);
  testMany(check);
  if (capabilities.atomicSetMany) testAtomicity(check);
  if (capabilities.partitions) testPartitionList(check);

  test(`${name}: only tests that exist are skipped`, () => {
    for (const title of Object.keys(skip)) assert.ok(known.has(title), `no test is called "${title}"`);
  });
}

function testValues(check: Check): void {
  check("get() returns undefined for a key that was never set", async (store) => {
    assert.equal(await store.get(P, K), undefined);
  });

  check("get() returns what set() stored, also over an older value", async (store) => {
    await store.set(P, K, utf8("one"));
    assert.deepEqual(await valueOf(store, K), utf8("one"));
    await store.set(P, K, utf8("two, longer"));
    assert.deepEqual(await valueOf(store, K), utf8("two, longer"));
  });

  check("an empty value is a value", async (store) => {
    await store.set(P, K, new Uint8Array(0));
    assert.deepEqual(await valueOf(store, K), new Uint8Array(0));
    assert.deepEqual(await scanned(store), [[hex(K), ""]]);
  });

  check("keys and values may hold any bytes, and values up to 256 KiB", async (store) => {
    const all = Uint8Array.from({ length: 256 }, (_, i) => i);
    const big = seededRandomness(1).bytes(256 * 1024);
    await store.set(P, all, big);
    await store.set(P, K, all);
    assert.deepEqual(await valueOf(store, all), big);
    assert.deepEqual(await valueOf(store, K), all);
  });

  check("values of every size from 0 to 5,000 bytes come back whole", async (store) => {
    const bytes = seededRandomness(2).bytes(5000);
    const entries = Array.from({ length: 5001 }, (_, size) => ({
      key: utf8(`size ${size}`),
      value: bytes.slice(0, size),
    }));
    await store.setMany(P, entries);
    for (const { key, value } of entries) assert.deepEqual(await valueOf(store, key), value);
  });

  check("the arrays that get() and scan() return are plain, and the caller's own", async (store) => {
    await store.set(P, K, utf8("value"));
    const first = await store.get(P, K);
    const [entry] = (await entriesOf(store))!;
    for (const array of [first!.value, entry!.key, entry!.value]) {
      assert.equal(Object.getPrototypeOf(array), Uint8Array.prototype);
      array.fill(0);
    }
    assert.deepEqual(await valueOf(store, K), utf8("value"));
    await store.setIf(P, K, utf8("next"), first!.predicate);
    assert.deepEqual(await scanned(store), [[hex(K), hex(utf8("next"))]]);
  });

  check("arrays that a call was given may be reused when it has returned", async (store) => {
    const key = K.slice(), value = utf8("value");
    await store.set(P, key, value);
    key.fill(1);
    value.fill(1);
    assert.deepEqual(await valueOf(store, K), utf8("value"));
  });

  check("views into larger arrays are stored as the bytes that they show", async (store) => {
    const backing = utf8("..partition..key..value..");
    await store.set(backing.subarray(2, 11), backing.subarray(13, 16), backing.subarray(18, 23));
    assert.deepEqual(await valueOf(store, K), utf8("value"));
  });

  check("delete() removes a key and does not mind a missing one", async (store) => {
    await store.set(P, K, utf8("value"));
    await store.delete(P, K);
    assert.equal(await store.get(P, K), undefined);
    await store.delete(P, K);
    assert.deepEqual(await scanned(store), []);
  });

  check("writes that are not awaited one by one take effect in their order", async (store) => {
    await Promise.all([
      store.set(P, K, utf8("1")),
      store.set(P, K, utf8("2")),
      store.delete(P, K),
      store.set(P, K, utf8("3")),
      store.set(P, utf8("other"), utf8("4")),
    ]);
    assert.deepEqual(await valueOf(store, K), utf8("3"));
    assert.deepEqual(await valueOf(store, utf8("other")), utf8("4"));
  });
}

function testPredicates(check: Check): void {
  check("setIf() without a predicate stores only a key that does not exist", async (store) => {
    await store.setIf(P, K, utf8("first"), undefined);
    await refused(store.setIf(P, K, utf8("second"), undefined));
    assert.deepEqual(await valueOf(store, K), utf8("first"));
    await store.delete(P, K);
    await store.setIf(P, K, utf8("third"), undefined);
    assert.deepEqual(await valueOf(store, K), utf8("third"));
  });

  check("setIf() without a predicate sees an empty value", async (store) => {
    await store.set(P, K, new Uint8Array(0));
    await refused(store.setIf(P, K, utf8("value"), undefined));
  });

  check("setIf() stores over what its predicate was read from, once", async (store) => {
    await store.set(P, K, utf8("one"));
    const { predicate } = (await store.get(P, K))!;
    await store.setIf(P, K, utf8("two"), predicate);
    await refused(store.setIf(P, K, utf8("three"), predicate));
    assert.deepEqual(await valueOf(store, K), utf8("two"));
  });

  check("setIf() refuses when the key has been changed or deleted", async (store) => {
    await store.set(P, K, utf8("one"));
    const { predicate } = (await store.get(P, K))!;
    await store.set(P, K, utf8("one and more"));
    await refused(store.setIf(P, K, utf8("x"), predicate));
    await store.delete(P, K);
    await refused(store.setIf(P, K, utf8("x"), predicate));
    assert.equal(await store.get(P, K), undefined);
  });

  check("setIf() works with the predicate of an empty value", async (store) => {
    await store.set(P, K, new Uint8Array(0));
    const { predicate } = (await store.get(P, K))!;
    await store.setIf(P, K, utf8("value"), predicate);
    await refused(store.setIf(P, K, utf8("other"), predicate));
  });

  check("writes around a compare-and-set are stored with it", async (store) => {
    await store.set(P, K, utf8("one"));
    await store.set(P, utf8("before"), utf8("old"));
    const { predicate } = (await store.get(P, K))!;
    const before = [{ key: utf8("before"), value: utf8("b") }],
      after = [{ key: utf8("after"), value: utf8("a") }];
    await setIfAround(store, P, { key: K, value: utf8("two") }, { predicate, before, after });
    assert.deepEqual(await valueOf(store, K), utf8("two"));
    assert.deepEqual(await valueOf(store, utf8("before")), utf8("b"));
    assert.deepEqual(await valueOf(store, utf8("after")), utf8("a"));
    // Its predicate is as good as that of any other write.
    const seen = (await store.get(P, utf8("after")))!;
    await store.setIf(P, utf8("after"), utf8("next"), seen.predicate);
  });

  check("what comes after a compare-and-set that is refused is not stored", async (store) => {
    await store.set(P, K, utf8("one"));
    const { predicate } = (await store.get(P, K))!;
    await store.set(P, K, utf8("theirs"));
    const before = [{ key: utf8("before"), value: utf8("b") }],
      after = [{ key: utf8("after"), value: utf8("a") }];
    await refused(setIfAround(store, P, { key: K, value: utf8("ours") }, { predicate, before, after }));
    await refused(
      setIfAround(store, P, { key: K, value: utf8("ours") }, { predicate: undefined, before, after }),
    );
    assert.deepEqual(await valueOf(store, K), utf8("theirs"));
    assert.equal(await store.get(P, utf8("after")), undefined);
  });

  check("of many setIf() on one key that run at once exactly one wins", async (store) => {
    for (let round = 0; round < 10; round++) {
      const seen = await store.get(P, K);
      const outcomes = await Promise.allSettled(
        Array.from({ length: 20 }, (_, i) => store.setIf(P, K, utf8(`${round}/${i}`), seen?.predicate)),
      );
      assert.equal(outcomes.filter(({ status }) => status === "fulfilled").length, 1);
      const winner = outcomes.findIndex(({ status }) => status === "fulfilled");
      assert.deepEqual(await valueOf(store, K), utf8(`${round}/${winner}`));
    }
  });

  check("counters raised with setIf() by many at once lose nothing", async (store) => {
    await Promise.all(Array.from({ length: 10 }, async () => {
      for (let i = 0; i < 10; i++) await raise(store);
    }));
    assert.equal(new TextDecoder().decode(await valueOf(store, K)), "100");
  });
}

/** Adds one to the decimal number under `K`, as often as it takes. */
async function raise(store: KvStore): Promise<void> {
  for (;;) {
    const seen = await store.get(P, K);
    const count = seen ? Number(new TextDecoder().decode(seen.value)) : 0;
    try {
      return await store.setIf(P, K, utf8(String(count + 1)), seen?.predicate);
    } catch (error) {
      if (!isCoded(error, "predicate_failed")) throw error;
    }
  }
}

function testPartitions(check: Check): void {
  check("partitions are apart, also when one's name begins another's", async (store) => {
    const names = ["a", "ab", "a\0", "abc", "b", "\xff", "\xff\xff"].map((text) =>
      Uint8Array.from(text, (c) => c.charCodeAt(0))
    );
    names.push(new Uint8Array(255).fill(0xff), new Uint8Array(255).fill(0), new Uint8Array(254).fill(0xff));
    for (const name of names) {
      await store.setMany(name, [{ key: K, value: name }, { key: utf8("b"), value: name }]);
    }
    for (const name of names) {
      assert.deepEqual((await store.get(name, K))!.value, name);
      assert.deepEqual(await keysOf(store, {}, name), [hex(utf8("b")), hex(K)]);
      assert.deepEqual(await keysOf(store, { start: utf8("c") }, name), [hex(K)]);
    }
    await store.delete(names[0]!, K);
    assert.equal(await store.get(names[0]!, K), undefined);
    for (const name of names.slice(1)) assert.ok(await store.get(name, K));
  });

  check("a partition that nothing was stored in is empty", async (store) => {
    await store.set(P, K, utf8("value"));
    assert.deepEqual(await keysOf(store, {}, utf8("partitio")), []);
    assert.deepEqual(await keysOf(store, {}, utf8("partition2")), []);
  });
}

function testMany(check: Check): void {
  check("setMany() stores 10,000 entries and deleteMany() removes them", async (store) => {
    const entries = Array.from(
      { length: 10_000 },
      (_, i) => ({ key: utf8(`key ${i}`), value: utf8(`value ${i}`) }),
    );
    await store.setMany(P, entries);
    const all = await entriesOf(store);
    assert.equal(all.length, 10_000);
    const sorted = [...entries].sort((a, b) => compareBytes(a.key, b.key));
    assert.deepEqual(all.map(({ value }) => hex(value)), sorted.map(({ value }) => hex(value)));
    await store.deleteMany(P, entries.slice(1).map(({ key }) => key));
    assert.deepEqual(await keysOf(store), [hex(entries[0]!.key)]);
  });

  check("setMany() and deleteMany() of nothing do nothing", async (store) => {
    await store.setMany(P, []);
    await store.deleteMany(P, []);
    assert.deepEqual(await scanned(store), []);
  });

  check("of one key twice in setMany() the later one stays", async (store) => {
    await store.setMany(P, [{ key: K, value: utf8("1") }, { key: K, value: utf8("2") }]);
    assert.deepEqual(await scanned(store), [[hex(K), hex(utf8("2"))]]);
  });

  check("deleteMany() does not mind missing and repeated keys", async (store) => {
    await store.set(P, K, utf8("value"));
    await store.deleteMany(P, [K, utf8("missing"), K]);
    assert.deepEqual(await scanned(store), []);
  });

  check("a random run of calls leaves what a plain map holds", async (store) => {
    const chance = seededRandomness(7);
    const model = new Map<string, Uint8Array>();
    const pick = (below: number) => Math.floor(chance.fraction() * below);
    for (let step = 0; step < 400; step++) {
      const key = chance.bytes(1 + pick(3)).map((byte) => byte & 0x83);
      const value = chance.bytes(pick(40));
      await [stepSet, stepSet, stepSetIf, stepDelete, stepCompare][pick(5)]!(store, model, { key, value });
    }
    assert.deepEqual(await scanned(store), modelEntries(model));
  });
}

type Step = (store: KvStore, model: Map<string, Uint8Array>, entry: KvEntry) => Promise<void>;

const stepSet: Step = async (store, model, { key, value }) => {
  await store.set(P, key, value);
  model.set(hex(key), value);
};

const stepDelete: Step = async (store, model, { key }) => {
  await store.delete(P, key);
  model.delete(hex(key));
};

const stepSetIf: Step = async (store, model, { key, value }) => {
  const seen = await store.get(P, key);
  assert.deepEqual(seen?.value, model.get(hex(key)));
  await store.setIf(P, key, value, seen?.predicate);
  model.set(hex(key), value);
};

const stepCompare: Step = async (store, model, { key }) => {
  const range = { start: key, prefix: key.slice(0, 1) };
  const expected = modelEntries(model).filter(([name]) =>
    name >= hex(key) && name.startsWith(hex(range.prefix))
  );
  assert.deepEqual(await scanned(store, range), expected);
};

function modelEntries(model: Map<string, Uint8Array>): [string, string][] {
  const entries = [...model].map(([key, value]): [string, string] => [key, hex(value)]);
  return entries.sort(([a], [b]) => a < b ? -1 : 1);
}

function testAtomicity(check: Check): void {
  check("setMany() that fails has stored nothing", async (store) => {
    const tooLong = new Uint8Array(5000).fill(1);
    await assert.rejects(store.setMany(P, [{ key: K, value: K }, { key: tooLong, value: K }]));
    assert.deepEqual(await scanned(store), []);
  });

  check("a write that fails does not take those beside it along", async (store) => {
    const tooLong = new Uint8Array(5000).fill(1);
    const outcomes = await Promise.allSettled([
      store.set(P, utf8("1"), K),
      store.set(P, tooLong, K),
      store.setIf(P, utf8("1"), K, undefined),
      store.set(P, utf8("2"), K),
    ]);
    assert.deepEqual(outcomes.map(({ status }) => status), [
      "fulfilled",
      "rejected",
      "rejected",
      "fulfilled",
    ]);
    assert.deepEqual(await keysOf(store), ["31", "32"]);
  });
}

function testPartitionList(check: Check): void {
  check("partitions() yields each partition that holds anything, once", async (store) => {
    assert.deepEqual(await partitionsOf(store), []);
    const names: Uint8Array[] = [...Array(255).keys()].map((i) => new Uint8Array(i + 1).fill(255 - i));
    names.push(
      ...Array.from({ length: 1100 }, (_, i) => utf8(`name ${i}`)),
      Uint8Array.of(0),
      Uint8Array.of(0, 0),
    );
    for (const name of names) await store.set(name, K, name);
    await store.set(names[0]!, new Uint8Array(1024).fill(255), K);
    assert.deepEqual(await partitionsOf(store), names.map(hex).sort());
    for (const name of names.slice(1)) await store.delete(name, K);
    assert.deepEqual(await partitionsOf(store), [hex(names[0]!)]);
  });
}

async function partitionsOf(store: KvStore): Promise<string[]> {
  const found: string[] = [];
  for await (const partition of (store as ListedKvStore).partitions()) found.push(hex(partition));
  return found.sort();
}
