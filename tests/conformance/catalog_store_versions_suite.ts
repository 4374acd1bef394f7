/** What every store of the catalog does that keeps branches and commits, with the ref in the path. */

import assert from "node:assert/strict";
import { utf8 } from "../../base/bytes.ts";
import type { Selector, Uri } from "../../base/uri.ts";
import { type Bench, type CatalogStoreSuiteOptions, type Check, driverCan } from "./catalog_store_support.ts";
import { isKind } from "./object_store_support.ts";

const WHO = { committer: "tester" };
const fixed = isKind("invalid", "not_a_branch");
const MINUTE_MS = 60_000;

export function testCatalogVersions(
  check: Check,
  { driver, commitsFolders }: CatalogStoreSuiteOptions,
): void {
  testCommits(check);
  if (commitsFolders) testCommitsOfFolders(check);
  testSelectors(check);
  testMerges(check);
  testPins(check);
  if (driverCan(driver, "time")) testTimes(check);
}

function testCommits(check: Check): void {
  check(
    "commit() returns the URI at the new commit, which shows what was committed and never changes",
    async (bench) => {
      await bench.fill({ "t/a": "1" });
      const pinned = await commit(bench, bench.at("t/a"), { "provcat.uri": "data://x", "k": "v" });
      assert.equal(pinned.at, undefined);
      await bench.fill({ "t/a": "2" });
      assert.equal(await bench.read(pinned), "1");
      assert.equal(await bench.read("t/a"), "2");
      assert.deepEqual(await bench.store.pin(bench.at("t/a"), bench.cache), pinned);
      await assert.rejects(commit(bench, pinned), fixed);
      await commit(bench, bench.at(""));
      await assert.rejects(commit(bench, bench.at("")), isKind("invalid", "no_changes"));
    },
  );

  check("what is not committed shows on the branch, and not on the pinned URI", async (bench) => {
    await bench.fill({ a: "1" });
    await commit(bench, bench.at(""));
    await bench.fill({ b: "staged" });
    const pinned = await bench.store.pin(bench.at("b"), bench.cache);
    assert.equal(await bench.read("b"), "staged");
    await assert.rejects(bench.fetch(pinned), isKind("not_found", "object_not_found"));
  });

  check(
    "listing the repository lists its branches, and of an empty branch there is nothing",
    async (bench) => {
      const repository: Uri = { scheme: bench.open.base.scheme, place: bench.open.base.place, segments: [] };
      assert.deepEqual(await bench.list(""), []);
      assert.deepEqual(await bench.readAll(""), {});
      await bench.store.branch(onBranch(bench, "dev"), "main", WHO);
      assert.deepEqual(await bench.list(repository), ["folder dev", "folder main"]);
      assert.equal((await bench.store.stat(repository, bench.cache)).kind, "folder");
      await assert.rejects(bench.list(onBranch(bench, "none")), isKind("not_found", "ref_not_found"));
      await assert.rejects(
        bench.list({ ...repository, place: "no-such-repository" }),
        isKind("not_found", "repository_not_found"),
      );
      await assert.rejects(bench.list({ ...repository, place: "no-such-repository", segments: ["main"] }), {
        code: "repository_not_found",
      });
    },
  );
}

function testCommitsOfFolders(check: Check): void {
  check("a commit of one folder leaves the rest staged", async (bench) => {
    await bench.fill({ "t/a": "1", "u/b": "2", "t2": "3" });
    await bench.store.commit(bench.at("t"), { message: "t", ...WHO, isPartial: true });
    const pinned = await bench.store.pin(bench.at(""), bench.cache);
    assert.deepEqual(await bench.list(pinned), ["folder t"]);
    assert.deepEqual(await bench.list(""), ["folder t", "file t2", "folder u"]);
  });
}

function testSelectors(check: Check): void {
  check("a selector picks the version in place of the ref", async (bench) => {
    await bench.fill({ "t/a": "1" });
    const first = await commit(bench, bench.at(""));
    await bench.store.branch(onBranch(bench, "feature/x"), "main", WHO);
    await bench.store.put(onBranch(bench, "feature/x", "t/a"), { body: utf8("x") }, bench.cache);
    const id = first.segments[0]!;
    const at = (kind: Selector["kind"], value: string) => selected(bench, "t/a", { kind, value });
    assert.equal(await bench.read(at("branch", "feature/x")), "x");
    assert.equal(await bench.read(at("branch", "main")), "1");
    assert.equal(await bench.read(at("commit", id)), "1");
    assert.equal(await bench.read(at("commit", id.slice(0, 12))), "1");
    assert.deepEqual(await bench.list(selected(bench, "t", { kind: "branch", value: "feature/x" })), [
      "file a",
    ]);
    for (
      const selector of [at("branch", id), at("branch", "none"), at("tag", "main"), at("commit", "main")]
    ) {
      await assert.rejects(bench.fetch(selector), (error: { kind: string }) => error.kind === "not_found");
    }
  });

  check("a fixed version is not written to", async (bench) => {
    await bench.fill({ a: "1" });
    const pinned = await commit(bench, bench.at("a"));
    const id = pinned.segments[0]!;
    const uris = [
      pinned,
      selected(bench, "a", { kind: "commit", value: id }),
      selected(bench, "a", { kind: "tag", value: "v1" }),
      { ...bench.at("a"), at: { kind: "ts", value: "2026-01-01" } as const },
      { ...bench.at("a"), segments: ["main~0", "a"] },
    ];
    for (const uri of uris) {
      await assert.rejects(bench.store.put(uri, { body: utf8("2") }, bench.cache), fixed);
      await assert.rejects(bench.store.delete(uri, bench.cache), fixed);
      await assert.rejects(bench.store.commit(uri, { message: "x", ...WHO }), fixed);
      await assert.rejects(bench.store.merge(uri, "main", WHO), fixed);
    }
    assert.equal(await bench.read("a"), "1");
    const missing = { ...bench.at("a"), segments: ["none", "a"] };
    await assert.rejects(bench.store.put(missing, { body: utf8("2") }, bench.cache), {
      code: "branch_not_found",
    });
  });

  check("a branch is written to by its name in the path or by its selector", async (bench) => {
    await bench.fill({ a: "1" });
    await commit(bench, bench.at(""));
    await bench.store.branch(selected(bench, "", { kind: "branch", value: "feature/x" }), "main", WHO);
    const uri = selected(bench, "a", { kind: "branch", value: "feature/x" });
    await bench.store.put(uri, { body: utf8("x") }, bench.cache);
    const pinned = await commit(bench, uri);
    assert.equal(await bench.read(pinned), "x");
    assert.equal(await bench.read(onBranch(bench, "feature/x", "a")), "x");
    await bench.store.delete(uri, bench.cache);
    await assert.rejects(bench.fetch(uri), { code: "object_not_found" });
    await assert.rejects(bench.store.branch(uri, "main", WHO), isKind("exists", "branch_exists"));
    await assert.rejects(bench.store.branch(onBranch(bench, "y"), "none", WHO), { code: "ref_not_found" });
  });
}

function testMerges(check: Check): void {
  async function forked(bench: Bench, ours: string, theirs: string): Promise<void> {
    await bench.fill({ a: "base", b: "base" });
    await commit(bench, bench.at(""));
    await bench.store.branch(onBranch(bench, "feature"), "main", WHO);
    await bench.store.put(onBranch(bench, "feature", "a"), { body: utf8(theirs) }, bench.cache);
    await commit(bench, onBranch(bench, "feature"));
    if (ours === "base") return;
    await bench.fill({ a: ours });
    await commit(bench, bench.at(""));
  }

  check(
    "merge() brings the last commit of the source, and returns the URI at the merge commit",
    async (bench) => {
      await forked(bench, "base", "theirs");
      await bench.store.put(onBranch(bench, "feature", "b"), { body: utf8("staged") }, bench.cache);
      const merged = await bench.store.merge(bench.at("a"), "feature", {
        ...WHO,
        message: "m",
        metadata: { k: "v" },
      });
      assert.equal(await bench.read(merged), "theirs");
      assert.equal(await bench.read("a"), "theirs");
      assert.equal(await bench.read("b"), "base");
      await assert.rejects(
        bench.store.merge(bench.at(""), "feature", WHO),
        isKind("invalid", "nothing_to_merge"),
      );
    },
  );

  check("merge() refuses a conflict unless a strategy picks a side", async (bench) => {
    await forked(bench, "ours", "theirs");
    await assert.rejects(
      bench.store.merge(bench.at(""), "feature", WHO),
      isKind("conflict", "merge_conflict"),
    );
    assert.equal(await bench.read("a"), "ours");
    await bench.store.branch(onBranch(bench, "other"), "main", WHO);
    await bench.store.merge(bench.at(""), "feature", { ...WHO, strategy: "source-wins" });
    assert.equal(await bench.read("a"), "theirs");
    await bench.store.merge(onBranch(bench, "other"), "feature", { ...WHO, strategy: "dest-wins" });
    assert.equal(await bench.read(onBranch(bench, "other", "a")), "ours");
  });

  check("merge() refuses a branch with what is not committed", async (bench) => {
    await forked(bench, "base", "theirs");
    await bench.fill({ b: "staged" });
    await assert.rejects(bench.store.merge(bench.at(""), "feature", WHO), { code: "branch_dirty" });
    await assert.rejects(bench.store.merge(bench.at(""), "none", WHO), { code: "ref_not_found" });
  });
}

function testPins(check: Check): void {
  check("offline a pin gives the commit that the last one online found", async (bench) => {
    await bench.fill({ "t/a": "1" });
    await commit(bench, bench.at(""));
    await bench.store.branch(onBranch(bench, "unpinned"), "main", WHO);
    const uris = [bench.at("t/a"), selected(bench, "t/a", { kind: "branch", value: "main" })];
    const pinned = [];
    for (const uri of uris) pinned.push(await bench.store.pin(uri, bench.cache));
    await bench.fetch(pinned[0]!);
    await bench.fill({ "t/a": "2" });
    await commit(bench, bench.at(""));
    const offline = await bench.goOffline();
    for (const [i, uri] of uris.entries()) assert.deepEqual(await bench.store.pin(uri, offline), pinned[i]);
    assert.deepEqual(await bench.store.pin(pinned[0]!, offline), pinned[0]);
    assert.equal(await bench.read(pinned[0]!, offline), "1");
    assert.equal(await bench.read(bench.at("t/a"), offline), "1");
    await assert.rejects(
      bench.store.pin(onBranch(bench, "unpinned"), offline),
      isKind("unavailable", "not_cached"),
    );
    await assert.rejects(bench.store.pin(selected(bench, "t/a", { kind: "tag", value: "main" }), offline), {
      code: "not_cached",
    });
  });

  check("a fixed version is cached under its commit, so that branches do not rewrite it", async (bench) => {
    await bench.fill({ "t/a": "1" });
    const pinned = await commit(bench, bench.at("t"));
    const folder = await bench.fetch(pinned);
    await bench.fill({ "t/a": "2" });
    await commit(bench, bench.at(""));
    assert.notEqual(await bench.fetch("t"), folder);
    assert.deepEqual(await bench.readAll(pinned), { a: "1" });
    const byPrefix = selected(bench, "t", { kind: "commit", value: pinned.segments[0]!.slice(0, 12) });
    assert.equal(await bench.fetch(byPrefix), folder);
  });
}

function testTimes(check: Check): void {
  const timeOf = (bench: Bench) => new Date(bench.open.clock!.now()).toISOString();
  const ts = (bench: Bench, path: string, value: string): Uri => ({
    ...bench.at(path),
    at: { kind: "ts", value },
  });

  check("a time reads the newest commit of the branch made at or before it", async (bench) => {
    await bench.fill({ a: "1" });
    await commit(bench, bench.at(""));
    bench.open.clock!.advance(MINUTE_MS);
    const between = timeOf(bench);
    bench.open.clock!.advance(MINUTE_MS);
    await bench.fill({ a: "2" });
    const second = await commit(bench, bench.at("a"));
    bench.open.clock!.advance(MINUTE_MS);
    assert.equal(await bench.read(ts(bench, "a", between)), "1");
    assert.equal(await bench.read(ts(bench, "a", timeOf(bench))), "2");
    assert.equal(await bench.read(selected(bench, "a", { kind: "ts", value: `main@${between}` })), "1");
    assert.deepEqual(await bench.store.pin(ts(bench, "a", timeOf(bench)), bench.cache), second);
    assert.deepEqual(await bench.list(ts(bench, "", between)), ["file a"]);
    assert.equal((await bench.store.stat(ts(bench, "a", between), bench.cache)).sizeBytes, 1);
  });

  check(
    "a time passes over the commits of a branch that was merged: the branch never pointed at them",
    async (bench) => {
      await bench.fill({ a: "1" });
      await commit(bench, bench.at(""));
      await bench.store.branch(onBranch(bench, "feature"), "main", WHO);
      bench.open.clock!.advance(MINUTE_MS);
      await bench.store.put(onBranch(bench, "feature", "a"), { body: utf8("feature") }, bench.cache);
      await commit(bench, onBranch(bench, "feature"));
      bench.open.clock!.advance(MINUTE_MS);
      const beforeMerge = timeOf(bench);
      bench.open.clock!.advance(MINUTE_MS);
      await bench.store.merge(bench.at(""), "feature", WHO);
      assert.equal(await bench.read(ts(bench, "a", beforeMerge)), "1");
      assert.equal(await bench.read(ts(bench, "a", timeOf(bench))), "feature");
    },
  );

  check("a time in the future or before the first commit is refused", async (bench) => {
    const refused = isKind("invalid", "future_time");
    await assert.rejects(bench.store.pin(ts(bench, "a", "2999-01-01"), bench.cache), refused);
    await assert.rejects(bench.fetch(ts(bench, "a", "2999-01-01")), refused);
    await assert.rejects(bench.fetch(ts(bench, "a", "1999-01-01")), isKind("not_found", "no_commit_at_time"));
    await assert.rejects(bench.fetch(ts(bench, "a", "yesterday")), isKind("invalid", "invalid_time"));
  });

  check("the pin of a time is kept for offline once ten minutes have passed since it", async (bench) => {
    await bench.fill({ a: "1" });
    await commit(bench, bench.at(""));
    bench.open.clock!.advance(MINUTE_MS);
    const time = timeOf(bench);
    bench.open.clock!.advance(9 * MINUTE_MS);
    const pinned = await bench.store.pin(ts(bench, "a", time), bench.cache);
    const early = await openAgain(bench);
    await assert.rejects(bench.store.pin(ts(bench, "a", time), early), isKind("unavailable", "not_cached"));
    bench.open.clock!.advance(2 * MINUTE_MS);
    await bench.store.pin(ts(bench, "a", time), bench.cache);
    assert.deepEqual(await bench.store.pin(ts(bench, "a", time), early), pinned);
  });
}

async function openAgain(bench: Bench): Promise<Bench["cache"]> {
  const { openLocalCache } = await import("../../cache/mod.ts");
  return await openLocalCache({ root: bench.cache.root, isOffline: true });
}

function commit(bench: Bench, uri: Uri, metadata: Readonly<Record<string, string>> = {}): Promise<Uri> {
  return bench.store.commit(uri, { message: "A commit", ...WHO, metadata });
}

/** Returns the URI of a path on another branch; the folder that the test works in is the branch's root. */
function onBranch(bench: Bench, branch: string, path = ""): Uri {
  return { ...bench.open.base, segments: [branch, ...(path === "" ? [] : path.split("/"))] };
}

/** Returns the URI of a path with a selector in place of the ref. */
function selected(bench: Bench, path: string, at: Selector): Uri {
  return { ...bench.open.base, segments: path === "" ? [] : path.split("/"), at };
}
