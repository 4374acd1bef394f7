import assert from "node:assert/strict";
import { test } from "node:test";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import { hookedKv } from "../../tests/support/hooked_kv.ts";
import {
  collect,
  commit,
  contents,
  readText,
  signs,
  testEngine,
  WHO,
  withRepository,
  write,
} from "../../tests/support/test_engine.ts";

test("commit() makes staged changes a commit, and older commits keep showing what they held", async () => {
  const { store } = await withRepository();
  const first = await commit(store, "main", { a: "1", b: "1" });
  const second = await commit(store, "main", { a: "2", b: undefined, c: "1" });
  assert.deepEqual(await contents(store, "main"), { a: "2", c: "1" });
  assert.deepEqual(await contents(store, first), { a: "1", b: "1" });
  assert.deepEqual(await contents(store, "main~2"), {});
  const log = await collect(store.log("repo", "main"));
  assert.deepEqual(log.map(({ id }) => id).slice(0, 2), [second, first]);
  assert.equal(log[2]!.message, "Repository created");
  assert.equal(log[2]!.metaRangeId, "");
  assert.deepEqual(log.map(({ generation }) => generation), [3, 2, 1]);
});

test("commit() of nothing staged, or of changes that change nothing, says no_changes and leaves the branch", async () => {
  const { store } = await withRepository();
  const nothing = { code: "no_changes" };
  await assert.rejects(store.commit("repo", "main", { message: "x", committer: WHO }), nothing);
  const head = await commit(store, "main", { a: "1", b: "1" });
  const before = await store.stat("repo", "main", "a");
  await write(store, "main", { a: "1", nowhere: undefined });
  assert.deepEqual(signs(await collect(store.status("repo", "main"))), []);
  await assert.rejects(store.commit("repo", "main", { message: "x", committer: WHO }), nothing);
  assert.equal(await store.resolve("repo", "main"), head);
  // The same bytes keep the committed entry, address and time included.
  assert.deepEqual(await store.stat("repo", "main", "a"), before);
});

test("commit() with allowEmpty makes a commit of the same records, so of the same metarange", async () => {
  const { store } = await withRepository();
  await commit(store, "main", { a: "1" });
  const before = await store.getCommit("repo", "main");
  const empty = await store.commit("repo", "main", { message: "empty", committer: WHO, allowEmpty: true });
  assert.equal(empty.metaRangeId, before.metaRangeId);
  assert.deepEqual(empty.parents, [before.id]);
});

test("commit() takes metadata, a date and an empty message on a flag", async () => {
  const { store } = await withRepository();
  await write(store, "main", { a: "1" });
  await assert.rejects(store.commit("repo", "main", { message: "", committer: WHO }), {
    code: "empty_message",
  });
  const made = await store.commit("repo", "main", {
    message: "",
    committer: "esti",
    metadata: { k: "v" },
    date: 1_600_000_000,
    allowEmptyMessage: true,
  });
  const shown = await store.getCommit("repo", made.id);
  assert.deepEqual([shown.committer, shown.message, shown.creationDate, shown.metadata], [
    "esti",
    "",
    1_600_000_000,
    { k: "v" },
  ]);
});

test("messages and metadata beyond 128 KiB are refused with the limit named", async () => {
  const { store } = await withRepository();
  await write(store, "main", { a: "1" });
  const message = "x".repeat(128 * 1024 + 1);
  await assert.rejects(store.commit("repo", "main", { message, committer: WHO }), {
    code: "limit_exceeded",
    message: /131072/,
  });
});

test("staged changes show on the branch, not on its commit, and are gone from the status when committed", async () => {
  const { store } = await withRepository();
  await commit(store, "main", { a: "1", b: "1" });
  await write(store, "main", { a: "2", b: undefined, c: "3" });
  assert.equal(await readText(store, "main", "a"), "2");
  assert.equal(await readText(store, "main@", "a"), "1");
  assert.equal(await readText(store, "main", "b"), undefined);
  assert.deepEqual(signs(await collect(store.status("repo", "main"))), ["~a", "-b", "+c"]);
  assert.deepEqual(signs(await collect(store.diff("repo", "main", "main$"))), ["~a", "-b", "+c"]);
  assert.deepEqual(signs(await collect(store.diff("repo", "main", "main"))), []);
  await store.commit("repo", "main", { message: "x", committer: WHO });
  assert.deepEqual(await collect(store.status("repo", "main")), []);
  assert.deepEqual(signs(await collect(store.diff("repo", "main~1", "main"))), ["~a", "-b", "+c"]);
  assert.deepEqual(signs(await collect(store.diff("repo", "main", "main~1"))), ["~a", "+b", "-c"]);
});

test("20 parallel commits of one path each all land or find their change committed by another; no change is lost", async () => {
  const { store } = await withRepository();
  const outcomes = await Promise.allSettled(
    Array.from({ length: 20 }, (_, i) => commit(store, "main", { [`f${i}`]: String(i) })),
  );
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") assert.equal(outcome.reason.code, "no_changes");
  }
  assert.deepEqual(Object.keys(await contents(store, "main@")).length, 20);
});

test("20 parallel empty commits each succeed or say try again; never no_changes", async () => {
  const { store } = await withRepository();
  const outcomes = await Promise.allSettled(
    Array.from(
      { length: 20 },
      (_, i) => store.commit("repo", "main", { message: `m${i}`, committer: WHO, allowEmpty: true }),
    ),
  );
  const landed = outcomes.filter(({ status }) => status === "fulfilled").length;
  for (const outcome of outcomes) {
    if (outcome.status === "rejected") assert.equal(outcome.reason.code, "try_again");
  }
  assert.equal((await collect(store.log("repo", "main"))).length, landed + 1);
});

test("equal contents give equal metarange IDs in any repository, by any way", async () => {
  const a = await withRepository(), b = await withRepository(testEngine());
  await commit(a.store, "main", { x: "1", y: "2", z: "3" });
  await commit(b.store, "main", { z: "9", q: "0" });
  await commit(b.store, "main", { y: "2", q: undefined });
  await commit(b.store, "main", { z: "3", x: "1" });
  const [left, right] = [await a.store.getCommit("repo", "main"), await b.store.getCommit("repo", "main")];
  assert.equal(left.metaRangeId, right.metaRangeId);
});

test("deleting everything gives the empty metarange", async () => {
  const { store } = await withRepository();
  await commit(store, "main", { a: "1" });
  await commit(store, "main", { a: undefined });
  const { metaRangeId } = await store.getCommit("repo", "main");
  assert.equal(metaRangeId, "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  assert.deepEqual(await contents(store, "main"), {});
});

test("a namespace listing shows _lakefs/ and data/ only", async () => {
  const { store, objects } = await withRepository();
  await commit(store, "main", { a: "1" });
  const prefixes = new Set<string>(), loose: string[] = [];
  for await (const page of objects.pages({ delimiter: "/" })) {
    for (const prefix of page.prefixes) prefixes.add(prefix);
    loose.push(...page.objects.map(({ key }) => key));
  }
  assert.deepEqual([[...prefixes].sort(), loose], [["_lakefs/", "data/"], []]);
});

test("two writes of one path in one writer: the later one counts", async () => {
  const { store } = await withRepository();
  const writer = await store.writer("repo", "main");
  await writer.put("a", new TextEncoder().encode("1"));
  await writer.delete("a");
  await writer.put("a", new TextEncoder().encode("2"));
  await writer.close();
  assert.equal(await readText(store, "main", "a"), "2");
});

test("a conditional write refuses a path that is taken, staged or committed, and takes a deleted one", async () => {
  const { store } = await withRepository();
  const put = async (path: string) => {
    const writer = await store.writer("repo", "main");
    await writer.put(path, new TextEncoder().encode("new"), { ifAbsent: true });
    await writer.close();
  };
  await put("fresh");
  await assert.rejects(put("fresh"), { code: "object_exists" });
  await commit(store, "main", { old: "1" });
  await assert.rejects(put("old"), { code: "object_exists" });
  await write(store, "main", { old: undefined });
  await put("old");
  assert.equal(await readText(store, "main", "old"), "new");
});

test("paths beyond 1,024 bytes, empty ones and ones with NUL or lone surrogates are refused", async () => {
  const { store } = await withRepository();
  const writer = await store.writer("repo", "main");
  const body = new Uint8Array(1);
  for (const bad of ["", "a\0b", "\ud800", "é".repeat(513)]) {
    await assert.rejects(writer.put(bad, body), { code: "invalid_path" });
  }
  await writer.put("é".repeat(512), body);
  await writer.close();
});

test("copy() stages the same bytes under another path without moving them, from a commit or from what is staged", async () => {
  const { store } = await withRepository();
  const first = await commit(store, "main", { a: "1" });
  await commit(store, "main", { a: "2" });
  await write(store, "main", { s: "staged" });
  const writer = await store.writer("repo", "main");
  await writer.copy("old-a", { ref: first, path: "a" });
  await writer.copy("a", { ref: "main", path: "a" });
  await writer.copy("s2", { ref: "main", path: "s" });
  await assert.rejects(writer.copy("x", { ref: "main", path: "nowhere" }), { code: "object_not_found" });
  await writer.close();
  assert.deepEqual(await contents(store, "main"), { a: "2", "old-a": "1", s: "staged", s2: "staged" });
  const address = async (ref: string, path: string) => (await store.stat("repo", ref, path)).physicalAddress;
  assert.equal(await address("main", "old-a"), await address(first, "a"));
  assert.deepEqual(signs(await collect(store.status("repo", "main"))), ["+old-a", "+s", "+s2"]);
  await store.commit("repo", "main", { message: "copies", committer: WHO });
  assert.equal(await readText(store, "main", "s2"), "staged");
});

test("a missing or damaged object comes back when the same bytes are put again", async () => {
  const { store, objects } = await withRepository();
  await commit(store, "main", { a: "first", b: "second" });
  const address = async (path: string) => {
    const { physicalAddress } = await store.stat("repo", "main", path);
    return physicalAddress.slice(physicalAddress.indexOf("data/"));
  };
  await objects.delete(await address("a"));
  await objects.put(await address("b"), new TextEncoder().encode("sEcond"));
  await assert.rejects(contents(store, "main"), { kind: "corrupt" });
  await write(store, "main", { a: "first", b: "second" });
  assert.deepEqual(await contents(store, "main@"), { a: "first", b: "second" });
  assert.deepEqual(await collect(store.status("repo", "main")), []);
});

test("nothing is acknowledged into a repository that was deleted meanwhile, even if its name is taken again", async () => {
  const kv = openMemoryKv();
  const others = testEngine({ kv });
  for (const step of ["stage", "commit"] as const) {
    await others.store.createRepository("repo", { committer: WHO });
    await write(others.store, "main", { before: "1" });
    let isArmed = true;
    const held = hookedKv(kv, {
      async before({ call, key }) {
        const isMoment = step === "stage"
          ? call === "setMany" && key === "a"
          : call === "setMany" && key.startsWith("commits/");
        if (!isArmed || !isMoment) return;
        isArmed = false;
        await others.store.deleteRepository("repo");
        await others.store.createRepository("repo", { committer: WHO });
      },
    });
    const { store } = testEngine({ kv: held, objects: others.objects, clock: others.clock });
    const work = step === "stage"
      ? write(store, "main", { a: "1" })
      : store.commit("repo", "main", { message: "m", committer: WHO });
    await assert.rejects(work, { code: "repository_not_found" }, step);
    await others.store.deleteRepository("repo");
  }
});

test("a conditional write refuses a path that a merge brings between its check and its acknowledgement", async () => {
  const kv = openMemoryKv();
  const others = await withRepository(testEngine({ kv }));
  await others.store.createBranch("repo", "side", "main", WHO);
  await commit(others.store, "side", { a: "merged" });
  let isArmed = true;
  const held = hookedKv(kv, {
    async before({ call, key }) {
      if (!isArmed || call !== "setIf" || key !== "a") return;
      isArmed = false;
      await others.store.merge("repo", "side", "main", { committer: WHO });
    },
  });
  const { store } = testEngine({ kv: held, objects: others.objects, clock: others.clock });
  const writer = await store.writer("repo", "main");
  const put = writer.put("a", new TextEncoder().encode("mine"), { ifAbsent: true });
  await assert.rejects(put, { code: "object_exists" });
  assert.equal(await readText(others.store, "main", "a"), "merged");
  assert.deepEqual(await collect(others.store.status("repo", "main")), []);
});

test("a $ stands where staged changes are shown, on either side of a diff, and is refused elsewhere", async () => {
  const { store } = await withRepository();
  await commit(store, "main", { a: "1", b: "1", c: "1" });
  await store.createBranch("repo", "side", "main", WHO);
  await commit(store, "side", { c: "2", d: "1" });
  await write(store, "main", { a: "2", b: undefined, n: "1", d: "1" });
  const diff = async (left: string, right: string) => signs(await collect(store.diff("repo", left, right)));
  assert.deepEqual(await diff("main", "main$"), ["~a", "-b", "+d", "+n"]);
  assert.deepEqual(await diff("main$", "main"), ["~a", "+b", "-d", "-n"]);
  assert.deepEqual(await diff("main$", "main$"), []);
  assert.deepEqual(await diff("main$", "side"), ["~a", "+b", "~c", "-n"]);
  assert.deepEqual(await diff("side", "main$"), ["~a", "-b", "~c", "+n"]);
  const refused = { code: "invalid_ref" };
  await assert.rejects(store.createBranch("repo", "x", "main$", WHO), refused);
  await assert.rejects(store.createTag("repo", "x", "main$", WHO), refused);
  await assert.rejects(store.merge("repo", "main$", "side", { committer: WHO }), refused);
  await assert.rejects(collect(store.log("repo", "main$")), refused);
  await assert.rejects(store.hardReset("repo", "side", "main$", WHO), refused);
});

test("a conditional write whose token a commit takes under it keeps its object and is done", async () => {
  const kv = openMemoryKv();
  const others = await withRepository(testEngine({ kv }));
  let isArmed = true;
  const held = hookedKv(kv, {
    async after({ call, key }) {
      if (!isArmed || call !== "setIf" || key !== "a") return;
      isArmed = false;
      await others.store.commit("repo", "main", { message: "m", committer: WHO });
    },
  });
  const { store } = testEngine({ kv: held, objects: others.objects, clock: others.clock });
  const writer = await store.writer("repo", "main");
  await writer.put("a", new TextEncoder().encode("mine"), { ifAbsent: true });
  assert.equal(await readText(others.store, "main", "a"), "mine");
  assert.equal(await readText(others.store, "main@", "a"), "mine");
});

test("of twenty conditional writes of one path at once, one is done", async () => {
  const { store } = await withRepository();
  const outcomes = await Promise.allSettled(Array.from({ length: 20 }, async (_, i) => {
    const writer = await store.writer("repo", "main");
    await writer.put("a", new TextEncoder().encode(String(i)), { ifAbsent: true });
    return String(i);
  }));
  const done = outcomes.flatMap((outcome) => outcome.status === "fulfilled" ? [outcome.value] : []);
  assert.equal(done.length, 1);
  assert.equal(await readText(store, "main", "a"), done[0]);
});

test("commit() that slept while what it had looked at was committed and cleaned up takes what is staged since", async () => {
  const kv = openMemoryKv();
  const others = await withRepository(testEngine({ kv }));
  await write(others.store, "main", { a: "1" });
  let isArmed = true;
  const held = hookedKv(kv, {
    async before({ call, partition }) {
      if (!isArmed || call !== "scan" || !partition.includes("/")) return;
      isArmed = false;
      await commit(others.store, "main", {});
      others.clock.advance(60 * 60 * 1000);
      await commit(others.store, "main", { b: "1" });
      await write(others.store, "main", { c: "1" });
    },
  });
  const { store } = testEngine({ kv: held, objects: others.objects, clock: others.clock });
  await store.commit("repo", "main", { message: "slept", committer: WHO });
  assert.deepEqual(await contents(store, "main@"), { a: "1", b: "1", c: "1" });
});

test("a branch that is made while it is looked for is found, not taken for a commit", async () => {
  const kv = openMemoryKv();
  const others = await withRepository(testEngine({ kv }));
  let isArmed = true;
  const held = hookedKv(kv, {
    async after({ call, key }) {
      if (!isArmed || call !== "get" || key !== "refs/side") return;
      isArmed = false;
      await others.store.createBranch("repo", "side", "main", WHO);
    },
  });
  const { store } = testEngine({ kv: held, objects: others.objects, clock: others.clock });
  await write(store, "side", { a: "1" });
  assert.equal(await readText(others.store, "side", "a"), "1");
});
