import assert from "node:assert/strict";
import { test } from "node:test";
import { type Randomness, seededRandomness } from "../../base/randomness.ts";
import type { DiffItem, Store } from "../../drivers/store.ts";
import { collect, commit, testEngine, WHO, withRepository, write } from "../../tests/support/test_engine.ts";

const shown = ({ type, path }: DiffItem) => `${type} ${path}`;

async function fork(store: Store, base: Record<string, string>): Promise<void> {
  await commit(store, "main", base, "base");
  await store.createBranch("repo", "work", "main", WHO);
}

test("compare() shows what the right side changed, not what the left side did since", async () => {
  const { store } = await withRepository();
  await fork(store, { a: "1", b: "1", c: "1", d: "1", e: "1" });
  await commit(store, "main", { a: "2", d: undefined, e: "2", left: "1", both: "1" });
  await commit(store, "work", { b: "2", c: undefined, d: "2", e: "2", both: "1", right: "1" });
  const items = await collect(store.compare("repo", "main", "work"));
  assert.deepEqual(items.map(shown), ["changed b", "removed c", "conflict d", "added right"]);
  assert.equal(items[2]!.left, undefined);
  assert.equal(items[2]!.right!.sizeBytes, 1);
  const { leftCommitId, rightCommitId, baseCommitId } = await store.fork("repo", "main", "work");
  assert.deepEqual(
    [leftCommitId, rightCommitId, baseCommitId],
    await Promise.all(["main", "work", "main~1"].map((ref) => store.resolve("repo", ref))),
  );
});

test("compare() equals the preview of the merge, whatever the histories", async () => {
  for (let seed = 1; seed <= 30; seed++) {
    const { store } = await withRepository(testEngine());
    const randomness = seededRandomness(seed);
    await fork(store, randomContents(randomness));
    for (const branch of ["main", "work", "work", "main"]) {
      await write(store, branch, randomContents(randomness));
      await store.commit("repo", branch, { message: "m", committer: WHO, allowEmpty: true });
    }
    const whole = (await collect(store.compare("repo", "main", "work"))).map(shown);
    assert.deepEqual(
      whole,
      (await collect(store.previewMerge("repo", "work", "main"))).map(shown),
      `${seed}`,
    );
    for (const delimiter of ["", "/"]) {
      const all = (await collect(store.compare("repo", "main", "work", { delimiter }))).map(shown);
      const paged: string[] = [];
      let after: string | undefined;
      while (true) {
        const options = { delimiter, amount: 2, ...(after === undefined ? {} : { after }) };
        const page = await collect(store.compare("repo", "main", "work", options));
        paged.push(...page.map(shown));
        after = page.at(-1)?.path;
        if (page.length < 2) break;
      }
      assert.deepEqual(paged, all, `seed ${seed}, delimiter "${delimiter}"`);
    }
  }
});

test("a page of folded differences costs what it shows, not what it folds", async () => {
  const { store } = await withRepository();
  await store.createBranch("repo", "work", "main", WHO);
  const many: Record<string, string> = {};
  for (const folder of ["a", "b", "c"]) for (let i = 0; i < 4000; i++) many[`${folder}/${i}`] = `${i}`;
  await commit(store, "work", many);
  const blocksOf = async (kind: "diff" | "compare", delimiter: string) => {
    const before = (await store.costs!()).blocksRead;
    const items = await collect(store[kind]("repo", "main", "work", { delimiter }));
    return { paths: items.map(({ path }) => path), blocks: (await store.costs!()).blocksRead - before };
  };
  for (const kind of ["diff", "compare"] as const) {
    const whole = await blocksOf(kind, ""), folded = await blocksOf(kind, "/");
    assert.equal(whole.paths.length, 12_000);
    assert.deepEqual(folded.paths, ["a/", "b/", "c/"]);
    assert.ok(folded.blocks < whole.blocks / 4, `${folded.blocks} of ${whole.blocks} blocks`);
  }
  await write(store, "main", many);
  const staged = await collect(store.status("repo", "main", { delimiter: "/", after: "a/", amount: 1 }));
  assert.deepEqual(staged.map(({ path, pathType }) => [path, pathType]), [["b/", "common_prefix"]]);
});

function randomContents(randomness: Randomness): Record<string, string> {
  const contents: Record<string, string> = {};
  for (let i = 0; i < 6; i++) {
    const path = ["a", "b/1", "b/2", "b/2/x", "c", "d/1"][Math.floor(randomness.fraction() * 6)]!;
    contents[path] = `${Math.floor(randomness.fraction() * 3)}`;
  }
  return contents;
}
