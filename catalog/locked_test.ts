import assert from "node:assert/strict";
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { openLocalCache } from "../cache/mod.ts";
import { formatLock, type LockedUri, parseLock } from "./lock_file.ts";
import { checkLocked, fetchLocked, lockUri } from "./locked.ts";
import { CONFIG, fill, testCatalog } from "./testing.ts";

const URI = "data://acme/sales/t";
const mismatch = (message: RegExp) => ({ kind: "corrupt", code: "lock_mismatch", message });

describe("lockUri() and fetchLocked()", () => {
  it("fetch what was locked, whatever the branch has become", async (t) => {
    const { catalog, engine } = await testCatalog(t);
    const commit = await fill(engine, { "t/a": "1", "t/sub/b": "22" }, { message: "first" });
    const locked = await lockUri(catalog, URI);
    assert.deepEqual({ ...locked, files: locked.files.map(({ path, sizeBytes }) => [path, sizeBytes]) }, {
      uri: URI,
      pinned: `lakefs-acme://acme-sales/${commit}/t`,
      files: [["a", 1], ["sub/b", 2]],
    });
    await fill(engine, { "t/a": "changed", "t/c": "more" }, { message: "second" });
    const [again] = parseLock(formatLock([locked]), "x");
    const path = await fetchLocked(catalog, again!);
    assert.equal(readFileSync(join(path, "a"), "utf8"), "1");
  });

  it("of a file are its bytes", async (t) => {
    const { catalog, engine } = await testCatalog(t);
    await fill(engine, { "t/a": "1" }, { message: "first" });
    const locked = await lockUri(catalog, `${URI}/a`);
    assert.deepEqual(locked.files.map(({ path, sizeBytes }) => [path, sizeBytes]), [["", 1]]);
    assert.equal(readFileSync(await fetchLocked(catalog, locked), "utf8"), "1");
  });

  it("work offline, after the cache was copied to another place", async (t) => {
    const { catalog, engine, cache, folder, again } = await testCatalog(t);
    await fill(engine, { "t/a": "1", "t/sub/b": "22" }, { message: "first" });
    const locked = await lockUri(catalog, URI);
    const moved = join(folder, "elsewhere");
    cpSync(cache.root, moved, { recursive: true });
    rmSync(cache.root, { recursive: true });
    const offline = await again({ cache: await openLocalCache({ root: moved, isOffline: true }) });
    const path = await fetchLocked(offline, locked);
    assert.ok(path.startsWith(moved));
    assert.equal(readFileSync(join(path, "sub/b"), "utf8"), "22");
  });

  it("fail loudly for every file that differs, is missing, or is too many", async (t) => {
    const { catalog, folder } = await testCatalog(t);
    const docs = join(folder, "docs/guide");
    mkdirSync(docs, { recursive: true });
    for (const name of ["a", "b", "c"]) writeFileSync(join(docs, name), name);
    const locked = await lockUri(catalog, "doc://guide");
    await fetchLocked(catalog, locked);
    writeFileSync(join(docs, "a"), "A");
    writeFileSync(join(docs, "b"), "bb");
    writeFileSync(join(docs, "bb"), "more");
    rmSync(join(docs, "c"));
    await assert.rejects(
      fetchLocked(catalog, locked),
      mismatch(
        /^Cannot use "doc:\/\/guide": it is not what was locked: "a" has other bytes, "b" has 2 bytes and not 1, "bb" is not in the lock, "c" is missing$/,
      ),
    );
  });

  it("name the first differences of many", async (t) => {
    const { catalog, folder } = await testCatalog(t);
    const docs = join(folder, "docs/guide");
    mkdirSync(docs, { recursive: true });
    for (let i = 0; i < 30; i++) writeFileSync(join(docs, `${i}`), "1");
    const locked = await lockUri(catalog, "doc://guide");
    for (let i = 0; i < 30; i++) writeFileSync(join(docs, `${i}`), "2");
    await assert.rejects(fetchLocked(catalog, locked), mismatch(/, and 20 more$/));
  });

  it("see bytes of the cache that were changed under it, even with its times put back", async (t) => {
    const { catalog, engine } = await testCatalog(t);
    await fill(engine, { "t/a": "12345" }, { message: "first" });
    const locked = await lockUri(catalog, URI);
    const { utimesSync, statSync } = await import("node:fs");
    const file = join(await fetchLocked(catalog, locked), "a");
    const { atime, mtime } = statSync(file);
    writeFileSync(file, "54321");
    utimesSync(file, atime, mtime);
    // Whether the cache notices or not: what is handed out is right, or nothing is.
    const path = await fetchLocked(catalog, locked).catch((error: { code: string }) => {
      assert.equal(error.code, "lock_mismatch");
    });
    if (path) assert.equal(readFileSync(join(path, "a"), "utf8"), "12345");
  });

  it("do not follow a lock that names something else than the URI leads to", async (t) => {
    const { catalog, engine, folder } = await testCatalog(t);
    const commit = await fill(engine, { "t/a": "1", "secret/a": "1" }, { message: "first" });
    mkdirSync(join(folder, "docs/guide"), { recursive: true });
    writeFileSync(join(folder, "docs/guide/a"), "1");
    const { files } = await lockUri(catalog, URI);
    const forged: readonly LockedUri[] = [
      { uri: URI, pinned: `lakefs-acme://acme-sales/${commit}/secret`, files },
      { uri: URI, pinned: `lakefs-acme://globex/${commit}/t`, files },
      { uri: URI, pinned: "files://docs/guide", files },
      { uri: "doc://guide", pinned: `lakefs-acme://acme-sales/${commit}/t`, files },
    ];
    for (const locked of forged) {
      await assert.rejects(
        fetchLocked(catalog, locked),
        { kind: "conflict", code: "lock_stale" },
        locked.pinned,
      );
    }
  });

  it("say so when the configuration leads elsewhere since", async (t) => {
    const before = await testCatalog(t);
    await fill(before.engine, { "t/a": "1" }, { message: "first" });
    const locked = await lockUri(before.catalog, URI);
    const { catalog } = await testCatalog(t, CONFIG.replace("{ref}/{path}", "{ref}/v2/{path}"));
    await assert.rejects(fetchLocked(catalog, locked), {
      code: "lock_stale",
      message:
        `Cannot use "${URI}": it leads to "lakefs-acme://acme-sales/main/v2/t" now, and was locked to "${locked.pinned}"`,
    });
  });
});

describe("checkLocked()", () => {
  it("says what has moved, changed or gone since", async (t) => {
    const { catalog, engine, folder } = await testCatalog(t);
    mkdirSync(join(folder, "docs/guide"), { recursive: true });
    writeFileSync(join(folder, "docs/guide/a"), "1");
    await fill(engine, { "t/a": "1" }, { message: "first" });
    await engine.store.createTag("acme-sales", "v1", "main", "x");
    const uris = [URI, `${URI}?at=tag:v1`, "doc://guide"];
    const locked = await Promise.all(uris.map((uri) => lockUri(catalog, uri)));
    const states = async () => {
      const all = [];
      for (const one of locked) all.push((await checkLocked(catalog, one)).state);
      return all;
    };
    assert.deepEqual(await states(), ["same", "same", "same"]);
    await fill(engine, { "t/b": "2" }, { message: "second" });
    writeFileSync(join(folder, "docs/guide/a"), "2");
    assert.deepEqual(await states(), ["moved", "same", "changed"]);
    await engine.store.deleteTag("acme-sales", "v1", "x");
    rmSync(join(folder, "docs/guide"), { recursive: true });
    assert.deepEqual(await states(), ["moved", "gone", "gone"]);
    const { pinned, now } = await checkLocked(catalog, locked[0]!);
    assert.notEqual(now, pinned);
    assert.equal(now, await catalog.pin(URI));
  });
});
