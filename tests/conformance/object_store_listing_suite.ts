/** The part of the object-store suite that compares listings with a model: all keys, sorted by their bytes. */

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { compareBytes, utf8 } from "../../base/bytes.ts";
import type { ListOptions, ObjectStore } from "../../drivers/object_store.ts";
import type { Check } from "./object_store_suite.ts";

/** Keys that every medium with byte names holds, and whose order or spelling is a trap. */
export const HOSTILE_KEYS: readonly string[] = [
  "a!",
  "a/b",
  "a/b!",
  "a0",
  "a.txt",
  "a-b/c",
  "a/c/d",
  "a/c/e/f/g/h/i/j/k/l/m",
  "a/c.d",
  "A/b",
  "B",
  "_",
  "~",
  " lead and trail ",
  "plus+percent%2F%percent",
  "tab\tnew\nline",
  'quote"back\\slash',
  ".hidden",
  "...",
  "..a/b..",
  "-rf",
  "nfc-\u00e9",
  "nfd-e\u0301",
  "rtl-\u202egpj.exe",
  "\u007f",
  "\u0080",
  "\u07ff",
  "\u20ac/\uffee",
  "\u20ac/\u{1f600}",
  "\u20ac/\ue000",
  "\u20ac/\ud7ff",
  "\u{1f600}/x",
  "\ufffd",
  "\ufeffbom",
  "x".repeat(255),
  "\u20ac".repeat(85),
  `${"d".repeat(255)}/${"e".repeat(255)}/${"f".repeat(255)}`,
  "z/0",
  "z/1",
  "z/10",
  "z/2",
];

/** Registers the listing tests. */
export function testObjectListing(check: Check): void {
  check("pages() of an empty store, or of a prefix that nothing has, gives no item", async (store) => {
    assert.deepEqual(await itemsOf(store, {}), []);
    await store.put("a/b", utf8("x"));
    for (const prefix of ["b", "a/c", "a/b/", "a//", "/", "../", "a/../a/", "\0", "a\0/"]) {
      assert.deepEqual(await itemsOf(store, { prefix }), [], JSON.stringify(prefix));
    }
  });

  check("pages() gives all keys in byte order, for every page size", async (store) => {
    await putAll(store);
    const expected = modelOf({});
    for (let pageSize = 1; pageSize <= HOSTILE_KEYS.length + 1; pageSize++) {
      assert.deepEqual(await itemsOf(store, { pageSize }), expected);
    }
  });

  check("pages() gives exactly what has a prefix, folded or not", async (store) => {
    await putAll(store);
    const prefixes = new Set(
      HOSTILE_KEYS.flatMap((key) => [...key].map((_, i, all) => all.slice(0, i).join(""))),
    );
    for (const prefix of [...prefixes].filter((_, i) => i < 60 || i % 50 === 0)) {
      for (const delimiter of [undefined, "/"]) {
        await assertListing(store, { prefix, delimiter, pageSize: 3 });
      }
    }
  });

  check("pages() begins behind any key, there or not", async (store) => {
    await putAll(store);
    const places = HOSTILE_KEYS.flatMap((
      key,
    ) => [key, `${key}\u0001`, `${key}/`, key.slice(0, -1), `${key}0`]);
    for (const after of places.filter((text) => text.isWellFormed())) {
      await assertListing(store, { after, pageSize: 7 });
      await assertListing(store, { after, delimiter: "/" });
    }
    for (const prefix of ["a", "a/", "a/c/", "z/", "\u20ac/"]) {
      for (const after of places.filter((text) => text.isWellFormed())) {
        await assertListing(store, { prefix, after, delimiter: "/" });
        await assertListing(store, { prefix, after });
      }
    }
  });

  check("pages() tells sizes and times as head() does", async (store) => {
    for (const [key, size] of [["a", 0], ["b/c", 10], ["b/d", 200_000]] as const) {
      await store.put(key, new Uint8Array(size));
    }
    for await (const page of store.pages()) {
      for (const info of page.objects) assert.deepEqual(info, await store.head(info.key));
    }
  });

  check("pages() shows once what stays while other objects come and go", async (store) => {
    const stay = Array.from({ length: 40 }, (_, i) => `f${i % 4}/stay${i}`);
    for (const key of stay) await store.put(key, utf8("x"));
    const seen: string[] = [];
    let round = 0;
    for await (const page of store.pages({ pageSize: 3 })) {
      seen.push(...page.objects.map(({ key }) => key).filter((key) => key.includes("stay")));
      await store.put(`f${round % 4}/go${round}`, utf8("x"));
      if (round >= 2) await store.delete(`f${(round - 2) % 4}/go${round - 2}`);
      round++;
    }
    assert.deepEqual(seen, sorted(stay));
  });

  check("a listing may be left before its end", async (store) => {
    await putAll(store);
    for await (const page of store.pages({ pageSize: 2 })) {
      assert.deepEqual(page.objects.map(({ key }) => key), modelOf({}).slice(0, 2));
      break;
    }
  });

  check("a prefix is not listed once all under it are deleted", async (store) => {
    await store.put("a/b/c", utf8("x"));
    await store.put("d/e", utf8("x"));
    await store.delete("a/b/c");
    assert.deepEqual(await itemsOf(store, { delimiter: "/" }), ["d/"]);
  });
}

async function putAll(store: ObjectStore): Promise<void> {
  for (const key of HOSTILE_KEYS) await store.put(key, utf8(key));
}

async function assertListing(store: ObjectStore, options: ListOptions): Promise<void> {
  assert.deepEqual(await itemsOf(store, options), modelOf(options), JSON.stringify(options));
}

/** Returns the keys and folded prefixes of a listing in the order in which they come. */
async function itemsOf(store: ObjectStore, options: ListOptions): Promise<string[]> {
  const items: string[] = [];
  for await (const { objects, prefixes } of store.pages(options)) {
    const keys = objects.map(({ key }) => key);
    assert.deepEqual(keys, sorted(keys), "the objects of a page are in byte order");
    assert.deepEqual(prefixes, sorted(prefixes), "the prefixes of a page are in byte order");
    const page = sorted([...keys, ...prefixes]);
    assert.ok(page.length <= (options.pageSize ?? 1000), "a page is no larger than asked for");
    items.push(...page);
  }
  return items;
}

function modelOf({ prefix = "", delimiter, after = "" }: ListOptions): string[] {
  const items = new Set<string>();
  for (const key of HOSTILE_KEYS) {
    if (!key.startsWith(prefix) || compareBytes(utf8(key), utf8(after)) <= 0) continue;
    const at = delimiter ? key.indexOf(delimiter, prefix.length) : -1;
    items.add(at < 0 ? key : key.slice(0, at + 1));
  }
  return sorted([...items]);
}

function sorted(keys: readonly string[]): string[] {
  return keys.toSorted((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b)));
}
