import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { ListItem, ListObjectsOptions, Store } from "../../drivers/store.ts";
import { testEngine, withRepository, write } from "../../tests/support/test_engine.ts";
import { ExistingObjects } from "./existing.ts";

async function filled(count: number): Promise<Store> {
  const { store } = await withRepository(testEngine());
  const names = Array.from(
    { length: count },
    (_, i) => [`d/${String(i).padStart(5, "0")}`, `text ${i}`] as const,
  );
  await write(store, "main", Object.fromEntries(names));
  return store;
}

/** Counts pages read and look-ups made; hands over pages of ten. */
function counting(store: Store): { store: Store; pages: number; stats: number } {
  const counts = { store, pages: 0, stats: 0 };
  counts.store = new Proxy(store, {
    get(target, name) {
      if (name === "stat") {
        return (...args: Parameters<Store["stat"]>) => {
          counts.stats++;
          return target.stat(...args);
        };
      }
      if (name === "list") {
        return async function* (repository: string, ref: string, options: ListObjectsOptions) {
          for await (const page of target.list(repository, ref, options)) {
            for (let at = 0; at < page.length; at += 10) {
              counts.pages++;
              yield page.slice(at, at + 10) as readonly ListItem[];
            }
          }
        };
      }
      return Reflect.get(target, name).bind(target);
    },
  });
  return counts;
}

const PLACE = { repository: "repo", ref: "main", prefix: "d/" };

describe("ExistingObjects", () => {
  it("finds what is there, in order, from one listing", async () => {
    const counts = counting(await filled(100));
    const existing = new ExistingObjects(counts.store, PLACE);
    for (let i = 0; i < 100; i++) {
      const key = `d/${String(i).padStart(5, "0")}`;
      assert.equal((await existing.find(key))?.path, key);
      assert.equal(await existing.find(`${key}x`), undefined);
    }
    assert.equal(await existing.find("d/z"), undefined);
    assert.deepEqual([counts.pages, counts.stats], [10, 0]);
  });

  it("does not read a large branch for a few keys", async () => {
    const counts = counting(await filled(2000));
    const existing = new ExistingObjects(counts.store, PLACE);
    for (const key of ["d/00500", "d/00501", "d/01500", "d/01999x"]) {
      assert.equal((await existing.find(key))?.path, key.endsWith("x") ? undefined : key);
    }
    assert.ok(counts.pages < 15, `${counts.pages} pages were read`);
  });

  it("finds nothing on an empty branch", async () => {
    const { store } = await withRepository(testEngine());
    assert.equal(await new ExistingObjects(store, PLACE).find("d/a"), undefined);
  });
});
