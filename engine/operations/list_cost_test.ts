/** What a folded listing reads: a leap for each folded prefix, however much is folded. */

import assert from "node:assert/strict";
import { test } from "node:test";
import { lossyText, utf8 } from "../../base/bytes.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import type { Store } from "../../drivers/store.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import type { KvStore } from "../../kv/store.ts";
import { collect, paths, testEngine, WHO } from "../../tests/support/test_engine.ts";

const FOLDERS = ["a", "b", "c", "d"];
const FILES = 3000;

test("folding committed keys opens a few ranges for each prefix, not those that it folds", async () => {
  const { store, counts } = await countedRepository();
  await fill(store, FOLDERS);
  await store.commit("repo", "main", { message: "m", committer: WHO });
  counts.reset();
  assert.equal((await collect(store.list("repo", "main"))).length, FOLDERS.length * FILES);
  const whole = counts.reset();
  assert.ok(whole.opened.size > 100, `the whole has ${whole.opened.size} tables`);
  // A new store has nothing open yet.
  const { store: fresh, counts: freshCounts } = countedEngine(counts);
  const folded = paths(await collect(fresh.list("repo", "main", { delimiter: "/" })));
  assert.deepEqual(folded, FOLDERS.map((name) => `${name}/`));
  // The metarange, and for each prefix the range that its leap lands in.
  const { opened } = freshCounts.reset();
  assert.ok(opened.size <= 1 + FOLDERS.length + 1, `${opened.size} tables opened`);
});

test("folding staged keys reads a few of them for each prefix", async () => {
  const { store, counts } = await countedRepository();
  await fill(store, FOLDERS);
  counts.reset();
  const folded = paths(await collect(store.list("repo", "main", { delimiter: "/" })));
  assert.deepEqual(folded, FOLDERS.map((name) => `${name}/`));
  const { scans, stagedRead } = counts.reset();
  assert.equal(scans, FOLDERS.length + 1);
  assert.ok(stagedRead <= FOLDERS.length * 4, `${stagedRead} staged records read`);
});

test("prefixes that lie close together are folded without a leap out of what was read", async () => {
  const { store, counts } = await countedRepository();
  const writer = await store.writer("repo", "main");
  const names = Array.from({ length: 600 }, (_, i) => `p${String(i).padStart(3, "0")}`);
  await writer.putMany(names.map((name) => ({ path: `${name}/only`, body: utf8("x") })));
  await writer.close();
  counts.reset();
  const folded = paths(await collect(store.list("repo", "main", { delimiter: "/" })));
  assert.deepEqual(folded, names.map((name) => `${name}/`));
  assert.ok(counts.reset().scans <= 600 / 4 + 2);
});

test("a page of a listing reads a page of what is staged, not all of it", async () => {
  const { store, counts } = await countedRepository();
  await fill(store, FOLDERS);
  counts.reset();
  const page = await collect(store.list("repo", "main", { prefix: "b/", amount: 10 }));
  assert.deepEqual(paths(page)[9], "b/00009");
  assert.ok(counts.reset().stagedRead <= 68);
});

async function fill(store: Store, folders: readonly string[]): Promise<void> {
  const writer = await store.writer("repo", "main");
  for (const folder of folders) {
    const files = Array.from({ length: FILES }, (_, i) => ({
      path: `${folder}/${String(i).padStart(5, "0")}`,
      body: utf8("x"),
    }));
    await writer.putMany(files);
  }
  await writer.close();
}

class Counts {
  readonly kv: KvStore;
  readonly objects: ObjectStore;
  #scans = 0;
  #stagedRead = 0;
  #opened = new Set<string>();

  constructor(kv: KvStore, objects: ObjectStore) {
    this.kv = kv;
    this.objects = objects;
  }

  reset(): { scans: number; stagedRead: number; opened: ReadonlySet<string> } {
    const counted = { scans: this.#scans, stagedRead: this.#stagedRead, opened: this.#opened };
    this.#scans = this.#stagedRead = 0;
    this.#opened = new Set();
    return counted;
  }

  countedKv(): KvStore {
    const { kv } = this;
    const scan: KvStore["scan"] = (partition, options) => this.#scan(partition, options);
    return new Proxy(kv, {
      get: (_, name: keyof KvStore) => name === "scan" ? scan : kv[name]?.bind(kv),
    });
  }

  countedObjects(): ObjectStore {
    const { objects } = this;
    const read: ObjectStore["read"] = (key, offset, length) => {
      this.#opened.add(key);
      return objects.read(key, offset, length);
    };
    return new Proxy(objects, {
      get(_, name: Exclude<keyof ObjectStore, "isFar">) {
        return name === "read" ? read : objects[name]?.bind(objects);
      },
    });
  }

  async *#scan(...[partition, options]: Parameters<KvStore["scan"]>): ReturnType<KvStore["scan"]> {
    // The partition of a staging token is named after its repository's.
    const isStaged = /^[^/]+\/.+/.test(lossyText(partition));
    if (isStaged) this.#scans++;
    for await (const page of this.kv.scan(partition, options)) {
      if (isStaged) this.#stagedRead += page.length;
      yield page;
    }
  }
}

function countedEngine({ kv, objects }: Counts): { store: Store; counts: Counts } {
  const counts = new Counts(kv, objects);
  const { store } = testEngine({ kv: counts.countedKv(), objects: counts.countedObjects() });
  return { store, counts };
}

async function countedRepository(): Promise<{ store: Store; counts: Counts }> {
  const engine = countedEngine(new Counts(openMemoryKv(), openMemoryObjectStore()));
  await engine.store.createRepository("repo", { committer: WHO, raggedness: 50 });
  return engine;
}
