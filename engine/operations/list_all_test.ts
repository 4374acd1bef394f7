import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import type { ListItem, Store } from "../../drivers/store.ts";
import { draw } from "../../tests/support/tables.ts";
import { collect, testEngine, WHO } from "../../tests/support/test_engine.ts";
import { MANY_ITEMS } from "./list_all.ts";

/** All that can be asked of an item, whether it is a property of its own or not. */
function shown(items: readonly ListItem[]): unknown[] {
  return items.map((item) => {
    assert.equal(item.kind, "object");
    if (item.kind !== "object") return item;
    const { path, physicalAddress, checksum, sha256, sizeBytes, mtimeMs, metadata, contentType } = item.stats;
    return { path, physicalAddress, checksum, sha256, sizeBytes, mtimeMs, metadata, contentType };
  });
}

async function put(store: Store, path: string, round: number): Promise<void> {
  const writer = await store.writer("repo", "main");
  const options = round % 2 === 0
    ? { metadata: { round: `${round}`, é: "ü" } }
    : { contentType: "text/plain" };
  await writer.put(path, utf8(`content ${round}`), options);
  await writer.close();
}

test("a listing of all gives what listings by the page give, whatever is committed and staged", async () => {
  for (let seed = 0; seed < 12; seed++) {
    const random = seededRandomness(seed);
    const { store } = testEngine();
    await store.createRepository("repo", { committer: WHO, raggedness: 1 + draw(random, 20) });
    const pathOf = () => `${"aéz"[draw(random, 3)]}/${"bé"[draw(random, 2)]}/${draw(random, 12)}`;
    for (let round = 0; round < 40; round++) {
      const what = draw(random, 12);
      if (what === 0) {
        await store.commit("repo", "main", { message: "m", committer: WHO, allowEmpty: true });
      } else if (what < 4) {
        const writer = await store.writer("repo", "main");
        await writer.delete(pathOf());
        await writer.close();
      } else await put(store, pathOf(), round);
    }
    for (const prefix of [undefined, "a", "é/", "z/é/1", "nothing"]) {
      for (const after of [undefined, "a/b/3", "é/é/5", "zz", ""]) {
        const byPage = await collect(store.list("repo", "main", { prefix, after, amount: MANY_ITEMS }));
        assert.deepEqual(shown(await collect(store.list("repo", "main", { prefix, after }))), shown(byPage));
      }
    }
    const all = await collect(store.list("repo", "main"));
    assert.ok(all.length > 3, `${all.length} items`);
  }
});

test("a listing of more than a page ends at the amount", async () => {
  const { store } = testEngine();
  await store.createRepository("repo", { committer: WHO });
  let writer = await store.writer("repo", "main");
  const many = Array.from(
    { length: 2500 },
    (_, i) => ({ path: String(i).padStart(5, "0"), body: utf8("x") }),
  );
  await writer.putMany(many);
  await writer.close();
  await store.commit("repo", "main", { message: "m", committer: WHO });
  writer = await store.writer("repo", "main");
  await writer.delete("00003");
  await writer.close();
  for (const amount of [undefined, 1001, 1024, 2499, 2500]) {
    const paths = (await collect(store.list("repo", "main", { amount })))
      .map((item) => item.kind === "object" ? item.stats.path : "");
    const kept = many.map(({ path }) => path).filter((path) => path !== "00003");
    assert.deepEqual(paths, kept.slice(0, amount));
  }
});
