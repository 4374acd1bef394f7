/** The part of the KV suite about scanning. */

import assert from "node:assert/strict";
import { compareBytes, hex, utf8 } from "../../base/bytes.ts";
import type { ScanOptions } from "../../kv/store.ts";
import { type Check, entriesOf, K, keysOf, P, scanned } from "./kv_suite_support.ts";

/** Keys whose order text, signed bytes, lengths first, or an encoding with terminators would get wrong. */
function awkwardKeys(): Uint8Array[] {
  const keys: Uint8Array[] = [
    [0],
    [0, 0],
    [0, 1],
    [0, 255],
    [1],
    [1, 0],
    [127],
    [128],
    [128, 0],
    [254, 255],
    [255],
    [
      255,
      255,
    ],
  ]
    .map((bytes) => Uint8Array.from(bytes));
  keys.push(
    ...["a", "aa", "ab", "b", "Z", "a\0", "a\0b", "é", "e\u0301", "\uffee", "\u{1f600}", "10", "9"].map(utf8),
  );
  for (const length of [2, 3, 255, 256, 511, 512, 513, 1023, 1024]) {
    keys.push(new Uint8Array(length).fill(97), new Uint8Array(length).fill(255));
  }
  return [...new Map(keys.map((key) => [hex(key), key])).values()];
}

export function testScans(check: Check): void {
  check("scan() returns keys in byte order", async (store) => {
    const keys = awkwardKeys();
    for (const key of [...keys].reverse()) await store.set(P, key, key.slice(0, 4));
    const expected = [...keys].sort(compareBytes).map((key) => [hex(key), hex(key.slice(0, 4))]);
    assert.deepEqual(await scanned(store), expected);
  });

  check("scan() honours start and prefix, apart and together", async (store) => {
    const keys = awkwardKeys();
    await store.setMany(P, keys.map((key) => ({ key, value: key.slice(0, 4) })));
    const bounds = [
      ...keys,
      new Uint8Array(0),
      new Uint8Array(1025).fill(97),
      new Uint8Array(2000).fill(255),
    ];
    for (const start of bounds) {
      assert.deepEqual(await keysOf(store, { start }), expectedKeys(keys, { start }));
      assert.deepEqual(await keysOf(store, { prefix: start }), expectedKeys(keys, { prefix: start }));
      for (const prefix of [Uint8Array.of(97), Uint8Array.of(255), Uint8Array.of(0)]) {
        assert.deepEqual(await keysOf(store, { start, prefix }), expectedKeys(keys, { start, prefix }));
      }
    }
  });

  check("scan() gives the same entries at every page size, no page empty or too large", async (store) => {
    const keys = Array.from({ length: 25 }, (_, i) => utf8(`key ${String(i).padStart(2, "0")}`));
    await store.setMany(P, keys.map((key) => ({ key, value: key })));
    for (let pageSize = 1; pageSize <= 27; pageSize++) {
      const seen: string[] = [];
      for await (const page of store.scan(P, { pageSize })) {
        assert.ok(page.length >= 1 && page.length <= pageSize);
        seen.push(...page.map(({ key }) => hex(key)));
      }
      assert.deepEqual(seen, keys.map(hex));
    }
  });

  check("scan() may be left early and begun again", async (store) => {
    await store.setMany(P, Array.from({ length: 30 }, (_, i) => ({ key: Uint8Array.of(i), value: K })));
    const scan = store.scan(P, { pageSize: 10 });
    for await (const page of scan) {
      assert.equal(page.length, 10);
      break;
    }
    assert.equal((await entriesOf(store)).length, 30);
  });

  check("scan() goes on when what it has given, or is about to give, is deleted meanwhile", async (store) => {
    const keys = Array.from({ length: 100 }, (_, i) => Uint8Array.of(i));
    await store.setMany(P, keys.map((key) => ({ key, value: K })));
    const seen: number[] = [];
    for await (const page of store.scan(P, { pageSize: 10 })) {
      seen.push(...page.map(({ key }) => key[0]!));
      const last = page.at(-1)!.key[0]!;
      await store.deleteMany(P, [Uint8Array.of(last), Uint8Array.of(last + 1), Uint8Array.of(0)]);
    }
    const untouched = keys.map((key) => key[0]!).filter((i) => i % 11 !== 10);
    for (const key of untouched) assert.equal(seen.filter((other) => other === key).length, 1, `key ${key}`);
    assert.equal(new Set(seen).size, seen.length);
  });

  check(
    "scan() gives every entry that was there before exactly once while others are written",
    async (store) => {
      const old = Array.from({ length: 200 }, (_, i) => Uint8Array.of(i, 100));
      await store.setMany(P, old.map((key) => ({ key, value: K })));
      const seen: string[] = [];
      let round = 0;
      for await (const page of store.scan(P, { pageSize: 7 })) {
        seen.push(...page.map(({ key }) => hex(key)));
        await store.setMany(
          P,
          old.map((key) => ({ key: Uint8Array.of(key[0]!, 99 + 2 * (round % 2)), value: K })).slice(0, 50),
        );
        round++;
      }
      for (const key of old) assert.equal(seen.filter((other) => other === hex(key)).length, 1);
      assert.deepEqual([...seen].sort(), seen, "out of order");
    },
  );

  check("scan() sees what was written before it began, whoever wrote it last", async (store) => {
    await store.set(P, K, utf8("old"));
    assert.equal((await entriesOf(store)).length, 1);
    await store.set(P, K, utf8("new"));
    assert.deepEqual(await scanned(store), [[hex(K), hex(utf8("new"))]]);
  });
}

/** What a scan must give, by the plainest way to say it. */
function expectedKeys(keys: readonly Uint8Array[], { start, prefix }: ScanOptions): string[] {
  return keys.map(hex).sort()
    .filter((key) => !start || key >= hex(start))
    .filter((key) => !prefix || key.startsWith(hex(prefix)));
}
