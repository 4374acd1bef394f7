/** What every store that can merge does with previews, resolutions, squashed merges and staged changes that are kept. */

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import type {
  ConflictResolver,
  MergeConflict,
  MergeOptions,
  MergePreviewItem,
  MergeResolution,
  ReadMergeSide,
  Store,
} from "../../drivers/store.ts";
import { collect, commit, contents, signs, WHO, write } from "../support/test_engine.ts";
import type { Ending } from "../support/temporary.ts";

export interface StoreMergeSuite {
  /** Opens a store with an empty repository "repo", whose default branch is "main". */
  readonly open: (t: Ending) => Promise<Store>;
}

type Contents = Readonly<Record<string, string | undefined>>;

/** Makes `main` and `side` out of a base: each side's changes, `undefined` being a deletion. */
async function threeSides(store: Store, base: Contents, { side, main }: { side: Contents; main: Contents }) {
  await commit(store, "main", base, "base");
  await store.createBranch("repo", "side", "main", WHO);
  await commit(store, "side", side, "side");
  await commit(store, "main", main, "main");
}

function choosing(choices: Readonly<Record<string, MergeResolution>>): ConflictResolver {
  return { resolve: ({ path }) => choices[path] };
}

function shown(items: readonly MergePreviewItem[]): string[] {
  return items.map((item) => item.conflict ? `!${item.path}` : signs([item])[0]!);
}

async function textOf(read: ReadMergeSide, side: "base" | "source" | "destination"): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const piece of await read(side)) text += decoder.decode(piece, { stream: true });
  return text;
}

async function commitNext(store: Store, waiting: Contents[]): Promise<void> {
  const next = waiting.shift();
  if (next) await commit(store, "main", next);
}

const BASE: Contents = { a: "1", b: "1", c: "1", d: "1" };
const SIDE: Contents = { a: "s", b: undefined, c: "s", d: "s", new: "s" };
const MAIN: Contents = { a: "m", b: "m", c: "m", d: undefined, own: "m" };

/** Declares the suite. */
export function testStoreMerges(name: string, { open }: StoreMergeSuite): void {
  const merge = (store: Store, options: Omit<MergeOptions, "committer"> = {}) =>
    store.merge("repo", "side", "main", { committer: WHO, ...options });
  const preview = (store: Store, options: Omit<MergeOptions, "committer"> = {}) =>
    collect(store.previewMerge("repo", "side", "main", options));

  describe(`${name}: previewMerge()`, () => {
    it("yields changes and conflicts in key order, with all three sides, and changes nothing", async (t) => {
      const store = await open(t);
      await threeSides(store, BASE, { side: SIDE, main: MAIN });
      const before = await store.resolve("repo", "main");
      const items = await preview(store);
      assert.deepEqual(shown(items), ["!a", "!b", "!c", "!d", "+new"]);
      const sides = ({ base, source, destination }: MergeConflict) =>
        [base, source, destination].map((stats) => stats?.path ?? "-").join("");
      assert.deepEqual(items.flatMap(({ conflict }) => conflict ? [sides(conflict)] : []), [
        "aaa",
        "b-b",
        "ccc",
        "dd-",
      ]);
      assert.equal(await store.resolve("repo", "main"), before);
    });

    it("shows what resolutions and strategies make of conflicts", async (t) => {
      const store = await open(t);
      await threeSides(store, BASE, { side: SIDE, main: MAIN });
      const resolver = choosing({
        a: { kind: "source" },
        b: { kind: "delete" },
        c: { kind: "destination" },
        d: { kind: "content", body: utf8("merged") },
      });
      const items = await preview(store, { resolver });
      assert.deepEqual(shown(items), ["~a", "-b", "+d", "+new"]);
      assert.deepEqual(shown(await preview(store, { strategy: "dest-wins" })), ["+new"]);
      assert.equal(items.find(({ path }) => path === "d")?.sizeBytes, 6);
      assert.deepEqual(shown(await preview(store)), ["!a", "!b", "!c", "!d", "+new"]);
    });

    it("yields more conflicts than an error names", async (t) => {
      const store = await open(t);
      const many = (text: string) =>
        Object.fromEntries(Array.from({ length: 1500 }, (_, i) => [`f${i}`, text]));
      await threeSides(store, many("1"), { side: many("s"), main: many("m") });
      assert.equal((await preview(store)).filter(({ conflict }) => conflict).length, 1500);
      await assert.rejects(merge(store), (error: { details: { count: number; conflicts: unknown[] } }) => {
        assert.deepEqual([error.details.count, error.details.conflicts.length], [1500, 1000]);
        return true;
      });
    });

    it("fails as the merge would when there is nothing to merge, or staged changes are in the way", async (t) => {
      const store = await open(t);
      await threeSides(store, BASE, { side: SIDE, main: MAIN });
      await assert.rejects(collect(store.previewMerge("repo", "main~1", "main")), {
        code: "nothing_to_merge",
      });
      await write(store, "main", { x: "1" });
      await assert.rejects(preview(store), { code: "branch_dirty" });
      assert.deepEqual(shown(await preview(store, { keepStaged: true, strategy: "dest-wins" })), ["+new"]);
    });
  });

  describe(`${name}: merge() with a resolver`, () => {
    it("settles conflicts one by one in one commit", async (t) => {
      const store = await open(t);
      await threeSides(store, BASE, { side: SIDE, main: MAIN });
      const { summary } = await merge(store, {
        resolver: choosing({
          a: { kind: "base" },
          b: { kind: "source" },
          c: { kind: "content", body: utf8("merged"), contentType: "text/plain", metadata: { by: "hand" } },
          d: { kind: "destination" },
        }),
      });
      assert.deepEqual(await contents(store, "main"), { a: "1", c: "merged", new: "s", own: "m" });
      assert.deepEqual(summary, { added: 1, removed: 1, changed: 2, conflict: 0 });
      const { contentType, metadata } = await store.stat("repo", "main", "c");
      assert.deepEqual([contentType, metadata], ["text/plain", { by: "hand" }]);
      assert.equal((await store.getCommit("repo", "main")).parents.length, 2);
    });

    it("takes a side that has no object as a deletion", async (t) => {
      const store = await open(t);
      await threeSides(store, { b: "1", d: "1" }, {
        side: { b: undefined, d: "s", e: "s" },
        main: { b: "m", d: undefined, e: "m" },
      });
      await merge(store, {
        resolver: choosing({ b: { kind: "source" }, d: { kind: "destination" }, e: { kind: "base" } }),
      });
      assert.deepEqual(await contents(store, "main"), {});
    });

    it("copies the entry of an object of the repository, staged or not, and fails when there is none", async (t) => {
      const store = await open(t);
      await threeSides(store, { a: "1", b: "1" }, {
        side: { a: "s", b: "s" },
        main: { a: "m", b: "m", z: "z" },
      });
      await write(store, "side", { staged: "staged" });
      const resolver = (path: string) =>
        choosing({ a: { kind: "object", ref: "main", path: "z" }, b: { kind: "object", ref: "side", path } });
      await assert.rejects(merge(store, { resolver: resolver("nowhere") }), { code: "object_not_found" });
      await merge(store, { resolver: resolver("staged") });
      assert.deepEqual(await contents(store, "main"), { a: "z", b: "staged", z: "z" });
      const address = async (path: string) => (await store.stat("repo", "main", path)).physicalAddress;
      assert.equal(await address("a"), await address("z"));
    });

    it("keeps a side's entry when new content is that side's", async (t) => {
      const store = await open(t);
      await threeSides(store, { a: "1", b: "1", c: "1" }, {
        side: { a: "s", b: "s", c: "s" },
        main: { a: "m", b: "m", c: "m" },
      });
      const address = async (ref: string, path: string) =>
        (await store.stat("repo", ref, path)).physicalAddress;
      const content = (text: string): MergeResolution => ({ kind: "content", body: utf8(text) });
      const before = await store.resolve("repo", "main");
      const { summary } = await merge(store, {
        resolver: choosing({ a: content("s"), b: content("m"), c: content("1") }),
      });
      assert.equal(summary.changed, 2);
      assert.equal(await address("main", "a"), await address("side", "a"));
      assert.equal(await address("main", "b"), await address(before, "b"));
      assert.equal(await address("main", "c"), await address("main~2", "c"));
    });

    it("is asked before the strategy, and can read all sides", async (t) => {
      const store = await open(t);
      await threeSides(store, { a: "1", b: "1" }, { side: { a: "s", b: "s" }, main: { a: "m", b: "m" } });
      const seen: string[] = [];
      await merge(store, {
        strategy: "source-wins",
        resolver: {
          async resolve({ path }, read) {
            const texts = [
              await textOf(read, "base"),
              await textOf(read, "source"),
              await textOf(read, "destination"),
            ];
            seen.push(`${path}:${texts.join("")}`);
            return path === "a" ? { kind: "content", body: utf8(texts.join("+")) } : undefined;
          },
        },
      });
      assert.deepEqual(seen, ["a:1sm", "b:1sm"]);
      assert.deepEqual(await contents(store, "main"), { a: "1+s+m", b: "s" });
    });

    it("asks again when the destination's object changes meanwhile, and keeps content while it does not", async (t) => {
      const store = await open(t);
      await threeSides(store, { a: "1", b: "1" }, { side: { a: "s", b: "s" }, main: { a: "m", b: "m" } });
      const meanwhile: Contents[] = [{ b: "moved" }, { other: "1" }];
      const asked: string[] = [];
      await merge(store, {
        resolver: {
          async resolve({ path }, read) {
            const text = `${await textOf(read, "destination")}+${await textOf(read, "source")}`;
            asked.push(`${path}:${text}`);
            if (path === "b") await commitNext(store, meanwhile);
            return { kind: "content", body: utf8(text) };
          },
        },
      });
      assert.deepEqual(asked, ["a:m+s", "b:m+s", "b:moved+s"]);
      assert.deepEqual(await contents(store, "main"), { a: "m+s", b: "moved+s", other: "1" });
    });

    it("changes nothing when a conflict is left, or finish() gives up", async (t) => {
      const store = await open(t);
      await threeSides(store, BASE, { side: SIDE, main: MAIN });
      const before = await store.resolve("repo", "main");
      const resolver = choosing({ a: { kind: "content", body: utf8("x") }, b: { kind: "source" } });
      await assert.rejects(
        merge(store, { resolver }),
        (error: { details: { conflicts: MergeConflict[] } }) => {
          assert.deepEqual(error.details.conflicts.map(({ path }) => path), ["c", "d"]);
          return true;
        },
      );
      const stubborn: ConflictResolver = {
        resolve: () => ({ kind: "source" }),
        finish() {
          throw new RangeError("no");
        },
      };
      await assert.rejects(merge(store, { resolver: stubborn }), RangeError);
      assert.equal(await store.resolve("repo", "main"), before);
    });
  });

  describe(`${name}: merge() with squash`, () => {
    it("makes one commit on the destination that names the source's", async (t) => {
      const store = await open(t);
      await threeSides(store, { a: "1" }, { side: { b: "s" }, main: { c: "m" } });
      await commit(store, "side", { b: "s2" });
      const before = await store.resolve("repo", "main"), source = await store.resolve("repo", "side");
      await merge(store, { squash: true });
      const made = await store.getCommit("repo", "main");
      assert.deepEqual(made.parents, [before]);
      assert.equal(made.metadata["squash-origin"], source);
      assert.match(made.message, new RegExp(`'side'.*${source.slice(0, 12)}`));
      assert.deepEqual(await contents(store, "main"), { a: "1", b: "s2", c: "m" });
      await assert.rejects(merge(store, { squash: true }), { code: "nothing_to_merge" });
    });

    it("leaves the base where it was: changed again on both sides, the same path conflicts", async (t) => {
      const store = await open(t);
      await threeSides(store, { a: "1" }, { side: { a: "s" }, main: { c: "m" } });
      await merge(store, { squash: true });
      await commit(store, "main", { a: "m" });
      await assert.rejects(merge(store), { code: "merge_conflict" });
      await commit(store, "side", { b: "s" });
      await merge(store, { strategy: "dest-wins" });
      assert.deepEqual(await contents(store, "main"), { a: "m", b: "s", c: "m" });
    });
  });

  describe(`${name}: merge() with keepStaged`, () => {
    it("keeps staged changes that the merge does not touch, deletions too", async (t) => {
      const store = await open(t);
      await threeSides(store, { a: "1", b: "1" }, { side: { a: "s" }, main: { c: "m" } });
      await write(store, "main", { b: undefined, x: "staged" });
      await merge(store, { keepStaged: true });
      assert.deepEqual(await contents(store, "main@"), { a: "s", b: "1", c: "m" });
      assert.deepEqual(signs(await collect(store.status("repo", "main"))), ["-b", "+x"]);
      await store.commit("repo", "main", { committer: WHO, message: "staged" });
      assert.deepEqual(await contents(store, "main"), { a: "s", c: "m", x: "staged" });
    });

    it("refuses a merge that changes a staged path, and names it", async (t) => {
      const store = await open(t);
      await threeSides(store, { a: "1" }, { side: { a: "s" }, main: { c: "m" } });
      await write(store, "main", { a: "staged", x: "staged" });
      const before = await store.resolve("repo", "main");
      await assert.rejects(
        merge(store, { keepStaged: true }),
        (error: { code: string; details: { paths: string[] } }) => {
          assert.deepEqual([error.code, error.details.paths], ["branch_dirty", ["a"]]);
          return true;
        },
      );
      assert.equal(await store.resolve("repo", "main"), before);
      assert.deepEqual(signs(await collect(store.status("repo", "main"))), ["~a", "+x"]);
    });

    it("lets no staged record that equals the committed one undo what is merged", async (t) => {
      const store = await open(t);
      await threeSides(store, { a: "1", b: "1" }, { side: { a: "s", b: undefined }, main: { c: "m" } });
      await write(store, "main", { a: "1", b: "1", x: "staged" });
      await merge(store, { keepStaged: true });
      assert.deepEqual(await contents(store, "main"), { a: "s", c: "m", x: "staged" });
      assert.deepEqual(signs(await collect(store.status("repo", "main"))), ["+x"]);
    });
  });
}
