import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import type { ByteStream, ObjectStore } from "../../drivers/object_store.ts";
import type { NamedPart } from "../../drivers/store.ts";
import { openMemoryKv } from "../../kv/memory/mod.ts";
import {
  collect,
  commit,
  contents,
  readText,
  testEngine,
  WHO,
  withRepository,
  write,
} from "../../tests/support/test_engine.ts";
import {
  dataKeys,
  putText,
  startUpload,
  uploadKeys,
  uploadParts,
  uploadsOf,
} from "../../tests/support/uploads.ts";

const NOT_FOUND = { code: "upload_not_found", kind: "not_found" };

const md5 = (text: string) => createHash("md5").update(text).digest();

/** The ETag of an object that was made of these parts. */
function etagOf(...texts: string[]): string {
  return `${createHash("md5").update(Buffer.concat(texts.map(md5))).digest("hex")}-${texts.length}`;
}

async function engine() {
  const kv = openMemoryKv();
  return { ...await withRepository(testEngine({ kv })), kv };
}

test("an object is there, whole and with all that was told of it, when its upload is completed, and not before", async () => {
  const { store, objects } = await engine();
  const uploads = uploadsOf(store);
  const options = { who: WHO, contentType: "text/x", metadata: { a: "1" }, notes: { n: "2" } };
  const { id } = await uploads.start("repo", "main", "big", options);
  const place = { repository: "repo", branch: "main", path: "big", id };
  const texts = ["one,", "two,", "three,", "four"];
  for (const i of [3, 0, 2, 1]) await putText(store, place, 10 * i + 1, texts[i]!);
  await putText(store, place, 5, "not named");
  assert.deepEqual(await contents(store, "main"), {});
  assert.deepEqual((await uploads.get(place)).notes, { n: "2" });
  const parts = await collect(uploads.parts(place));
  assert.deepEqual(parts.map(({ number }) => number), [1, 5, 11, 21, 31]);
  assert.deepEqual((await collect(uploads.parts(place, { after: 11 }))).map(({ number }) => number), [
    21,
    31,
  ]);
  const named = parts.filter(({ number }) => number !== 5);
  const { stats } = await uploads.complete(place, named);
  const stored = await store.stat("repo", "main", "big");
  assert.deepEqual({ ...stored }, { ...stats });
  const whole = texts.join("");
  assert.equal(stored.checksum, etagOf(...texts));
  assert.equal(stored.sha256, createHash("sha256").update(whole).digest("hex"));
  assert.deepEqual([stored.sizeBytes, stored.contentType, stored.metadata], [whole.length, "text/x", {
    a: "1",
  }]);
  assert.equal(await readText(store, "main", "big"), whole);
  assert.equal((await dataKeys(objects)).length, 1);
  await store.commit("repo", "main", { message: "m", committer: WHO });
  assert.equal(await readText(store, "main@", "big"), whole);
});

test("a part that is written again counts as it was written last", async () => {
  const { store, objects } = await engine();
  const { place, named } = await uploadParts(store, ["a", "b"]);
  const again = await putText(store, place, 1, "A");
  await assert.rejects(uploadsOf(store).complete(place, named), { code: "part_not_found" });
  await uploadsOf(store).complete(place, [again, named[1]!]);
  assert.equal(await readText(store, "main", "big"), "Ab");
  assert.equal((await dataKeys(objects)).length, 1);
});

test("a completion of what is not so is refused, and the upload is as it was", async () => {
  const { store } = await engine();
  const uploads = uploadsOf(store);
  const { place, named } = await uploadParts(store, ["a", "b"]);
  const [one, two] = named as [typeof named[0], typeof named[0]];
  const refused = async (parts: readonly { number: number; checksum: string }[], code: string) =>
    await assert.rejects(uploads.complete(place, parts), { code, kind: "invalid" });
  await refused([two, one], "invalid_part_order");
  await refused([one, one], "invalid_part_order");
  await refused([], "invalid_part_order");
  await refused([one, { ...two, checksum: one.checksum }], "part_not_found");
  await refused([one, { ...two, checksum: "?" }], "part_not_found");
  await refused([one, { ...two, number: 3 }], "part_not_found");
  const judge = () => {
    throw new TypeError("no");
  };
  await assert.rejects(uploads.complete(place, named, { judge }), TypeError);
  for (const number of [0, 10_001, 1.5, NaN]) {
    await assert.rejects(uploads.putPart(place, number, utf8("x")), { code: "invalid_part_number" });
  }
  await uploads.complete(place, named);
  assert.equal(await readText(store, "main", "big"), "ab");
});

test("H22: an upload that was dropped is not there any more, nor is what was stored for it", async () => {
  const { store, objects } = await engine();
  const uploads = uploadsOf(store);
  const { place, named } = await uploadParts(store, ["a", "b"]);
  await uploads.abort(place);
  await assert.rejects(uploads.abort(place), NOT_FOUND);
  await assert.rejects(uploads.complete(place, named), NOT_FOUND);
  await assert.rejects(putText(store, place, 1, "a"), NOT_FOUND);
  await assert.rejects(collect(uploads.parts(place)), NOT_FOUND);
  await assert.rejects(uploads.get(place), NOT_FOUND);
  assert.deepEqual(await collect(uploads.list("repo")), []);
  assert.deepEqual(await dataKeys(objects), []);
  assert.deepEqual(await contents(store, "main"), {});
});

test("an upload is one of its branch and path alone", async () => {
  const { store } = await engine();
  const { place, named } = await uploadParts(store, ["a"]);
  await store.createBranch("repo", "other", "main", WHO);
  for (const wrong of [{ branch: "other" }, { path: "bi" }, { id: "x" }, { id: place.id.slice(1) }]) {
    const elsewhere = { ...place, ...wrong };
    await assert.rejects(uploadsOf(store).complete(elsewhere, named), NOT_FOUND);
    await assert.rejects(uploadsOf(store).abort(elsewhere), NOT_FOUND);
  }
});

test("a completion that is repeated has the same answer, and changes nothing", async () => {
  const { store } = await engine();
  const uploads = uploadsOf(store);
  const { place, named } = await uploadParts(store, ["a", "b"]);
  const first = await uploads.complete(place, named, { judge: () => "noted" });
  await write(store, "main", { big: "newer" });
  const again = await uploads.complete(place, named);
  assert.deepEqual([again.note, { ...again.stats }], ["noted", { ...first.stats }]);
  assert.equal(await readText(store, "main", "big"), "newer");
  await assert.rejects(uploads.complete(place, named.slice(0, 1)), NOT_FOUND);
  await assert.rejects(uploads.abort(place), NOT_FOUND);
});

test("one part is the object: its bytes are not written again", async () => {
  const { store, objects } = await engine();
  const { place, named } = await uploadParts(store, ["alone"]);
  const before = await dataKeys(objects);
  const { stats } = await uploadsOf(store).complete(place, named);
  assert.deepEqual(await dataKeys(objects), before);
  assert.ok(stats.physicalAddress.endsWith(before[0]!));
  assert.deepEqual([stats.checksum, await readText(store, "main", "big")], [etagOf("alone"), "alone"]);
  // Nothing that is done about the upload later takes it away.
  await assert.rejects(putText(store, place, 1, "late"), NOT_FOUND);
  assert.equal(await readText(store, "main", "big"), "alone");
});

test("an object of no bytes can come in one part", async () => {
  const { store } = await engine();
  const { place, named } = await uploadParts(store, [""]);
  await uploadsOf(store).complete(place, named);
  assert.equal(await readText(store, "main", "big"), "");
});

test("content that is committed already stays as it is committed", async () => {
  for (const texts of [["ab"], ["a", "b"]]) {
    const { store, objects } = await engine();
    const before = await commit(store, "main", { big: "ab" });
    const keys = await dataKeys(objects);
    const { place, named } = await uploadParts(store, texts);
    const { stats } = await uploadsOf(store).complete(place, named);
    assert.equal(stats.checksum, md5("ab").toString("hex"));
    await assert.rejects(store.commit("repo", "main", { message: "m", committer: WHO }), {
      code: "no_changes",
    });
    assert.equal(await readText(store, before, "big"), "ab");
    assert.deepEqual(await dataKeys(objects), keys);
    assert.deepEqual((await uploadsOf(store).complete(place, named)).stats.checksum, stats.checksum);
  }
});

test("a copy within the repository moves no bytes, whole or in ranges that are whole together", async () => {
  const { store, objects } = await engine();
  const uploads = uploadsOf(store);
  await commit(store, "main", { source: "0123456789" });
  const keys = await dataKeys(objects);
  const cuts = [[undefined], [{ start: 0, end: 3 }, { start: 4, end: 9 }], [{ start: 0 }]];
  for (const [i, ranges] of cuts.entries()) {
    const place = await startUpload(store, `copy${i}`);
    const named = [];
    for (const [at, range] of ranges.entries()) {
      const source = { repository: "repo", ref: "main", path: "source", ...(range ? { range } : {}) };
      const { part } = await uploads.copyPart(place, at + 1, source);
      named.push(part);
    }
    const { stats } = await uploads.complete(place, named);
    assert.equal(await readText(store, "main", `copy${i}`), "0123456789");
    assert.match(stats.checksum, new RegExp(`-${ranges.length}$`));
  }
  assert.deepEqual(await dataKeys(objects), keys);
});

test("parts of other objects are put together, and dropping the upload leaves the objects", async () => {
  const { store } = await engine();
  const uploads = uploadsOf(store);
  await store.createRepository("other", { committer: WHO });
  await commit(store, "main", { source: "0123456789" });
  const writer = await store.writer("other", "main");
  await writer.put("theirs", utf8("theirs"));
  await writer.close();
  const place = await startUpload(store);
  const own = { repository: "repo", ref: "main", path: "source", range: { start: 2, end: 4 } };
  const { part: one, source } = await uploads.copyPart(place, 1, own);
  assert.equal(source.sizeBytes, 10);
  const theirs = { repository: "other", ref: "main", path: "theirs" };
  const { part: two } = await uploads.copyPart(place, 2, theirs);
  const three = await putText(store, place, 3, "mine");
  assert.deepEqual([one.checksum, two.checksum], ["234", "theirs"].map((text) => md5(text).toString("hex")));
  await uploads.complete(place, [one, two, three]);
  assert.equal(await readText(store, "main", "big"), "234theirsmine");

  const dropped = await startUpload(store, "dropped");
  await uploads.copyPart(dropped, 1, { repository: "repo", ref: "main", path: "source" });
  await uploads.copyPart(dropped, 1, own);
  await uploads.abort(dropped);
  assert.equal(await readText(store, "main", "source"), "0123456789");

  const refused = await startUpload(store, "refused");
  const missing = { repository: "repo", ref: "main", path: "none" };
  await assert.rejects(uploads.copyPart(refused, 1, missing), { code: "object_not_found" });
  const beyond = { ...own, range: { start: 10 } };
  await assert.rejects(uploads.copyPart(refused, 1, beyond), { code: "invalid_range" });
});

test("conditions hold for completions as for any write", async () => {
  const { store, objects } = await engine();
  const uploads = uploadsOf(store);
  await commit(store, "main", { big: "old" });
  const { checksum } = await store.stat("repo", "main", "big");
  for (const texts of [["new"], ["n", "ew"]]) {
    const { place, named } = await uploadParts(store, texts);
    const before = await dataKeys(objects);
    await assert.rejects(uploads.complete(place, named, { ifAbsent: true }), { code: "object_exists" });
    await assert.rejects(uploads.complete(place, named, { ifMatch: ["x"] }), { code: "object_changed" });
    assert.deepEqual(await dataKeys(objects), before);
    const current = (await store.stat("repo", "main", "big")).checksum;
    await uploads.complete(place, named, { ifMatch: [current] });
    assert.equal(await readText(store, "main", "big"), "new");
    await store.reset("repo", "main", { path: "big" }, WHO);
  }
  assert.equal((await store.stat("repo", "main", "big")).checksum, checksum);
  const { place, named } = await uploadParts(store, ["n", "ew"], "fresh");
  await uploads.complete(place, named, { ifAbsent: true });
  assert.equal(await readText(store, "main", "fresh"), "new");
});

test("what may not be written cannot be uploaded in parts", async () => {
  const { store } = await engine();
  const start = (branch: string, path: string, metadata = {}) =>
    uploadsOf(store).start("repo", branch, path, { who: WHO, metadata });
  await assert.rejects(start("none", "a"), { code: "branch_not_found" });
  await assert.rejects(start("main", ""), { code: "invalid_path" });
  await assert.rejects(start("main", "a", { k: "x".repeat(70_000) }), { code: "limit_exceeded" });
  const { place, named } = await uploadParts(store, ["a"]);
  await store.settings.setBranchProtection("repo", ["main"]);
  await assert.rejects(start("main", "a"), { code: "branch_protected" });
  await assert.rejects(uploadsOf(store).complete(place, named), { code: "branch_protected" });
  assert.deepEqual(await contents(store, "main"), {});
});

test("a body that fails leaves nothing, and the part that was there", async () => {
  const { store, objects } = await engine();
  const { place, named } = await uploadParts(store, ["kept"]);
  const before = await dataKeys(objects);
  async function* failing() {
    yield utf8("half");
    throw new RangeError("gone");
  }
  await assert.rejects(uploadsOf(store).putPart(place, 1, failing()), RangeError);
  assert.deepEqual(await dataKeys(objects), before);
  await uploadsOf(store).complete(place, named);
  assert.equal(await readText(store, "main", "big"), "kept");
});

test("uploads are listed by branch and path, then by age, also where paths are long and alike", async () => {
  const { store } = await engine();
  await store.createBranch("repo", "a-b", "main", WHO);
  await store.createBranch("repo", "a", "main", WHO);
  const long = "p".repeat(1000);
  const wanted: [string, string][] = [
    ["a-b", "x"],
    ["a", "w"],
    ["a", "x"],
    ["a", "x"],
    ["a", "xy"],
    ["main", "é"],
    ["main", `${long}a`],
    ["main", `${long}b`],
    ["main", `${long}c`],
  ];
  wanted.sort(([a, b], [c, d]) => Buffer.compare(Buffer.from(`${a}/${b}`), Buffer.from(`${c}/${d}`)));
  const shuffled = [8, 3, 0, 7, 6, 1, 5, 2, 4].map((i) => wanted[i]!);
  for (const [branch, path] of shuffled) await startUpload(store, path, branch);
  const list = async (options = {}) => await collect(uploadsOf(store).list("repo", options));
  const all = await list();
  assert.deepEqual(all.map(({ branch, path }) => [branch, path]), wanted);
  const [first, second] = all.filter(({ branch, path }) => branch === "a" && path === "x");
  assert.ok(first!.id < second!.id);
  // Every page begins behind any upload.
  for (const [i, { branch, path, id }] of all.entries()) {
    const after = { name: `${branch}/${path}`, id };
    assert.deepEqual(await list({ after }), all.slice(i + 1), after.name);
    const behindAll = all.slice(i + 1).filter((one) => `${one.branch}/${one.path}` !== after.name);
    assert.deepEqual(await list({ after: { name: after.name } }), behindAll);
  }
  assert.equal((await list({ prefix: "a/x" })).length, 3);
  assert.equal((await list({ prefix: `main/${long}b` })).length, 1);
  assert.deepEqual(await list({ prefix: "b" }), []);
});

const DAY_MS = 24 * 3600 * 1000;

test("an upload that was left alone is dropped, with what was stored for it, and one that grows is not", async () => {
  const { store, kv, clock, objects } = await engine();
  await uploadParts(store, ["a", "b"], "left");
  const growing = await uploadParts(store, ["c"], "growing");
  clock.advance(6 * DAY_MS);
  const late = await putText(store, growing.place, 2, "d");
  clock.advance(2 * DAY_MS);
  assert.equal(await uploadsOf(store).dropExpired("repo"), 1);
  assert.deepEqual((await collect(uploadsOf(store).list("repo"))).map(({ path }) => path), ["growing"]);
  assert.equal((await dataKeys(objects)).length, 2);
  await uploadsOf(store).complete(growing.place, [growing.named[0]!, late]);
  assert.equal(await readText(store, "main", "growing"), "cd");
  // In the end nothing is remembered of either; each start sees to it.
  clock.advance(DAY_MS);
  const last = await startUpload(store, "last");
  assert.deepEqual((await uploadKeys(kv)).filter((key) => !key.includes(last.id)), []);
  assert.equal(await readText(store, "main", "growing"), "cd");
});

test("a part whose bytes were changed or lost is no part of an object", async () => {
  const { store, objects } = await engine();
  const place = await startUpload(store);
  const lost = await putText(store, place, 1, "lost");
  const [key] = await dataKeys(objects);
  const kept = await putText(store, place, 2, "kept");
  const complete = async () => await uploadsOf(store).complete(place, [lost, kept]);
  await objects.put(key!, utf8("last"));
  await assert.rejects(complete(), { code: "part_not_found" });
  await objects.delete(key!);
  await assert.rejects(complete(), { code: "part_not_found" });
  assert.deepEqual(await contents(store, "main"), {});
  await putText(store, place, 1, "lost");
  await complete();
  assert.equal(await readText(store, "main", "big"), "lostkept");
});

/** So much that others are put behind it. */
const LARGE_BYTES = 5 * 1024 * 1024;

/** An engine that counts the bytes that go into objects. */
async function counting() {
  const inner = openMemoryObjectStore();
  let written = 0;
  async function* counted(body: ByteStream): ByteStream {
    for await (const piece of body) {
      written += piece.length;
      yield piece;
    }
  }
  const count = (body: Uint8Array | readonly Uint8Array[] | ByteStream) => {
    if (Array.isArray(body)) assert.fail("no object comes in parts");
    return counted(
      body instanceof Uint8Array
        ? (async function* () {
          yield body;
        })()
        : body as ByteStream,
    );
  };
  const objects: ObjectStore = Object.assign(Object.create(inner) as ObjectStore, {
    locate: inner.locate.bind(inner),
    head: inner.head.bind(inner),
    pages: inner.pages.bind(inner),
    get: inner.get.bind(inner),
    read: inner.read.bind(inner),
    delete: inner.delete.bind(inner),
    flush: inner.flush.bind(inner),
    put: (...[key, body, options]: Parameters<ObjectStore["put"]>) => inner.put(key, count(body), options),
    putAt: (...[key, offset, body]: Parameters<NonNullable<ObjectStore["putAt"]>>) =>
      inner.putAt!(key, offset, count(body)),
  });
  const kv = openMemoryKv();
  return { ...await withRepository(testEngine({ kv, objects })), kv, inner, written: () => written };
}

const large = (fill: string, more = 0) => fill.repeat(LARGE_BYTES + more);

test("parts of one size are written once, in whatever order they come", async () => {
  const { store, inner, written } = await counting();
  const texts = [large("a"), large("b"), large("c"), "end"];
  for (const order of [[0, 1, 2, 3], [2, 0, 3, 1]]) {
    const before = written();
    const place = await startUpload(store, `big${order[0]}`);
    const named: NamedPart[] = [];
    for (const i of order) named.push(await putText(store, place, i + 1, texts[i]!));
    named.sort((a, b) => a.number - b.number);
    const { stats } = await uploadsOf(store).complete(place, named);
    assert.equal(written() - before, texts.join("").length);
    assert.equal(stats.checksum, etagOf(...texts));
    assert.equal(stats.sha256, createHash("sha256").update(texts.join("")).digest("hex"));
    assert.equal(await readText(store, "main", place.path), texts.join(""));
  }
  assert.equal((await dataKeys(inner)).length, 2);
});

test("parts that do not fill one file are put together from it", async () => {
  const a = large("a"), b = large("b"), c = large("c");
  const ways: Record<string, { put: [number, string][]; named: number[]; whole: string }> = {
    "one is written again": { put: [[1, a], [2, b], [1, c]], named: [1, 2], whole: c + b },
    "the last one is not named": { put: [[1, a], [2, b], [3, c]], named: [1, 2], whole: a + b },
    "one in the middle is not named": { put: [[1, a], [2, b], [3, c]], named: [1, 3], whole: a + c },
    "their numbers have gaps": { put: [[1, a], [3, b], [5, c]], named: [1, 3, 5], whole: a + b + c },
    "the largest comes later": {
      put: [[1, a], [2, large("b", 1)], [3, "c"]],
      named: [1, 2, 3],
      whole: `${a}${large("b", 1)}c`,
    },
    "the last one came first": {
      put: [[2, large("b", 1)], [1, large("a", 2)]],
      named: [1, 2],
      whole: large("a", 2) + large("b", 1),
    },
    "one in the middle is short": {
      put: [[1, a], [2, large("b", -1)], [3, c]],
      named: [1, 2],
      whole: a + large("b", -1),
    },
  };
  for (const [way, { put, named, whole }] of Object.entries(ways)) {
    const { store, inner } = await counting();
    const place = await startUpload(store);
    const parts = new Map<number, NamedPart>();
    for (const [number, text] of put) parts.set(number, await putText(store, place, number, text));
    await uploadsOf(store).complete(place, named.map((number) => parts.get(number)!));
    assert.ok(await readText(store, "main", "big") === whole, way);
    assert.equal((await dataKeys(inner)).length, 1, way);
  }
});

test("a part whose body fails can be written again in its place", async () => {
  const { store, written } = await counting();
  const place = await startUpload(store);
  const one = await putText(store, place, 1, large("a"));
  async function* failing() {
    yield utf8("half");
    throw new RangeError("gone");
  }
  const options = { sizeBytes: LARGE_BYTES };
  await assert.rejects(uploadsOf(store).putPart(place, 2, failing(), options), RangeError);
  const two = await putText(store, place, 2, large("b"));
  const before = written();
  await uploadsOf(store).complete(place, [one, two]);
  assert.equal(written(), before);
  assert.ok(await readText(store, "main", "big") === large("a") + large("b"));
});

test("a part that is longer than was said is refused, and goes over no other part", async () => {
  const { store } = await counting();
  const place = await startUpload(store);
  const [one, three] = [
    await putText(store, place, 1, large("a")),
    await putText(store, place, 3, large("c")),
  ];
  async function* longer() {
    yield utf8(large("x"));
    yield utf8("y");
  }
  for (const sizeBytes of [LARGE_BYTES, 3]) {
    await assert.rejects(uploadsOf(store).putPart(place, 2, longer(), { sizeBytes }), { code: "internal" });
  }
  const two = await putText(store, place, 2, large("b"));
  await uploadsOf(store).complete(place, [one, two, three]);
  assert.ok(await readText(store, "main", "big") === large("a") + large("b") + large("c"));
});

test("who did not write the parts, as after a restart, puts them together", async () => {
  const first = await counting();
  const place = await startUpload(first.store);
  const one = await putText(first.store, place, 1, large("a"));
  const other = testEngine({ ...first, objects: first.objects }).store;
  const two = await putText(other, place, 2, large("b"));
  const three = await putText(first.store, place, 3, "end");
  await uploadsOf(other).complete(place, [one, two, three]);
  assert.ok(await readText(other, "main", "big") === `${large("a")}${large("b")}end`);
  assert.equal((await dataKeys(first.inner)).length, 1);
});

test("what several parts lie in goes with the upload that is dropped", async () => {
  const { store, inner, clock, kv } = await counting();
  const [dropped, left] = [await startUpload(store, "dropped"), await startUpload(store, "left")];
  for (const place of [dropped, left]) {
    await putText(store, place, 1, large("a"));
    await putText(store, place, 1, large("b"));
  }
  assert.equal((await dataKeys(inner)).length, 4);
  await uploadsOf(store).abort(dropped);
  assert.equal((await dataKeys(inner)).length, 2);
  clock.advance(8 * DAY_MS);
  await uploadsOf(store).dropExpired("repo");
  clock.advance(DAY_MS);
  await uploadsOf(store).dropExpired("repo");
  assert.deepEqual([await dataKeys(inner), await uploadKeys(kv)], [[], []]);
});
