import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test, { type TestContext } from "node:test";
import { testObjectStore } from "../../tests/conformance/object_store_suite.ts";
import { collect, isKind, patternOf } from "../../tests/conformance/object_store_support.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { openFileObjectStore } from "./mod.ts";

const unplaceable = isKind("invalid", "unplaceable_key");
const notFound = isKind("not_found", "object_not_found");

testObjectStore("file", {
  open: (t) => openTemporary(t).store,
  capabilities: { writesInPlaces: true, beginsUnnamed: true },
});

test("file: a key is the same path under the root, for its owner alone", async (t) => {
  const { root, store } = openTemporary(t);
  await store.put("data/a b/x", Buffer.from("content"));
  assert.equal(readFileSync(join(root, "data/a b/x"), "utf8"), "content");
  assert.equal(statSync(join(root, "data/a b/x")).mode & 0o777, 0o600);
  for (const folder of ["", "data", "data/a b"]) {
    assert.equal(statSync(join(root, folder)).mode & 0o777, 0o700);
  }
  assert.equal(store.locate("data/a b/x"), "local://name/data/a%20b/x");
});

test("file: opening, reading and listing make no folder", async (t) => {
  const { root, store } = openTemporary(t);
  assert.equal(await store.head("a/b"), undefined);
  await assert.rejects(store.get("a/b"), notFound);
  assert.equal(await store.delete("a/b"), false);
  for await (const _page of store.pages()) assert.fail("an item in nothing");
  assert.equal(existsSync(root), false);
});

test("file: the root is an absolute folder", () => {
  for (const root of ["relative", "./here", "", "/a\0b"]) {
    assert.throws(
      () => openFileObjectStore({ root, address: "local://x" }),
      isKind("invalid", "invalid_root"),
    );
  }
});

test("file: no key leads through a symlink, wherever it points", async (t) => {
  const { root, store } = openTemporary(t);
  const outside = temporaryFolder(t);
  mkdirSync(join(outside, "empty"));
  writeFileSync(join(outside, "secret"), "secret");
  await store.put("real/x", Buffer.from("x"));
  symlinkSync(outside, join(root, "out"));
  symlinkSync(outside, join(root, "real/out"));
  symlinkSync("real", join(root, "in"));
  for (
    const key of ["out/secret", "out/new", "out/empty", "out/empty/new", "real/out/secret", "in/x", "in/new"]
  ) {
    for (const mode of ["replace", "if_absent", "fresh"] as const) {
      await assert.rejects(store.put(key, Buffer.from("planted"), { mode }), unplaceable);
    }
    await assert.rejects(store.get(key), unplaceable);
    await assert.rejects(store.read(key, 0, 1), unplaceable);
    await assert.rejects(store.head(key), unplaceable);
    await assert.rejects(store.delete(key), unplaceable);
    await assert.rejects(store.flush([key]), unplaceable);
  }
  assert.deepEqual(readdirSync(outside).toSorted(), ["empty", "secret"]);
  assert.equal(readFileSync(join(outside, "secret"), "utf8"), "secret");
});

test("file: a symlink under a key's own name is no object and is not written through", async (t) => {
  const { root, store } = openTemporary(t);
  const outside = temporaryFolder(t);
  writeFileSync(join(outside, "secret"), "secret");
  await store.put("real", Buffer.from("x"));
  symlinkSync(join(outside, "secret"), join(root, "link"));
  symlinkSync(join(outside, "nothing"), join(root, "dangling"));
  for (const key of ["link", "dangling"]) {
    for (const mode of ["replace", "if_absent", "fresh"] as const) {
      for (const body of [Buffer.from("planted"), patternOf(200_000)]) {
        await assert.rejects(store.put(key, body, { mode }), unplaceable);
      }
    }
    assert.equal(await store.head(key), undefined);
    assert.equal(await store.delete(key), false);
    await assert.rejects(store.get(key), notFound);
    await assert.rejects(store.flush([key]), notFound);
  }
  assert.deepEqual(readdirSync(outside), ["secret"]);
  assert.equal(readFileSync(join(outside, "secret"), "utf8"), "secret");
});

test("file: the root may be a symlink", async (t) => {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "real"));
  symlinkSync("real", join(folder, "root"));
  const store = openFileObjectStore({ root: join(folder, "root"), address: "local://name" });
  await store.put("a/b", Buffer.from("x"));
  assert.equal(readFileSync(join(folder, "real/a/b"), "utf8"), "x");
  assert.equal((await store.head("a/b"))?.sizeBytes, 1);
});

test("file: the pieces of a body are in the same memory, one after the other, and each body has its own", async (t) => {
  const { store } = openTemporary(t);
  const bytes = Buffer.from(Uint8Array.from({ length: 3_000_000 }, (_, i) => (i * 2654435761) >>> 13));
  await store.put("large", bytes);
  const memory = new Set<ArrayBufferLike>();
  const read = async () => {
    const copies: Buffer[] = [];
    for await (const piece of (await store.get("large")).body) {
      memory.add(piece.buffer);
      copies.push(Buffer.from(piece));
    }
    assert.equal(Buffer.compare(Buffer.concat(copies), bytes), 0);
  };
  await Promise.all([read(), read(), read()]);
  assert.equal(memory.size, 3);
});

test("file: a root within a folder that is gone is not made", async (t) => {
  const home = join(temporaryFolder(t), "home"), root = join(home, "storage", "name");
  const store = openFileObjectStore({ root, address: "local://name", rootWithin: home });
  await assert.rejects(store.prepare!());
  assert.ok(!existsSync(home));
  mkdirSync(home);
  await store.prepare!();
  assert.equal(statSync(root).mode & 0o777, 0o700);
});

test("file: listings leave out what no put has made", async (t) => {
  const { root, store } = openTemporary(t);
  await store.put("a/x", Buffer.from("x"));
  mkdirSync(join(root, "a/empty/er"), { recursive: true });
  mkdirSync(join(root, ".tarn-tmp-folder"));
  writeFileSync(join(root, ".tarn-tmp-folder/x"), "");
  writeFileSync(join(root, "a/.tarn-tmp-0123"), "");
  mkdirSync(join(root, "b"));
  writeFileSync(join(root, "b/.tarn-tmp-0123"), "");
  symlinkSync("x", join(root, "a/link"));
  symlinkSync("a", join(root, "c"));
  if (process.platform !== "win32") spawnSync("mkfifo", [join(root, "a/pipe")]);
  assert.deepEqual(await listed(store), ["a/x"]);
  const prefixes: string[] = [];
  for await (const page of store.pages({ delimiter: "/" })) prefixes.push(...page.prefixes);
  assert.deepEqual(prefixes, ["a/"]);
  for await (const _page of store.pages({ prefix: "c/" })) assert.fail("listed through a symlink");
  await assert.rejects(store.get("a/pipe"), notFound);
});

test("file: a name that is not UTF-8 is not listed, and one with a real U+FFFD is, once", {
  skip: "Deno" in globalThis ? "Deno makes no such names" : false,
}, async (t) => {
  const { root, store } = openTemporary(t);
  await store.put("a\ufffd", Buffer.from("x"));
  for (const name of [[0x61, 0xff], [0x62, 0xfe, 0xff], [0x63, 0xed, 0xa0, 0x80]]) {
    writeFileSync(Buffer.concat([Buffer.from(`${root}/`), Buffer.from(name)]), "");
  }
  assert.equal(readdirSync(root, { encoding: "buffer" }).length, 4);
  assert.deepEqual(await listed(store), ["a\ufffd"]);
});

test("file: only a slash folds", async (t) => {
  const { store } = openTemporary(t);
  const folded = store.pages({ delimiter: "," })[Symbol.asyncIterator]();
  await assert.rejects(folded.next(), isKind("unsupported", "unsupported_delimiter"));
});

test("file: a folder that vanishes is made again", async (t) => {
  const { root, store } = openTemporary(t);
  for (const mode of ["replace", "if_absent", "fresh"] as const) {
    await store.put("a/b/x", Buffer.from("x"));
    rmSync(join(root, "a"), { recursive: true });
    await store.put("a/b/y", Buffer.from("y"), { mode });
    assert.deepEqual(await listed(store), ["a/b/y"]);
    rmSync(root, { recursive: true });
    assert.equal(await store.head("a/b/y"), undefined);
    await assert.rejects(store.get("a/b/y"), notFound);
  }
});

test("file: an object that loses its end is short_object, never an early end", async (t) => {
  const { root, store } = openTemporary(t);
  await store.put("k", patternOf(2_000_000));
  const { info, body } = await store.get("k");
  assert.equal(info.sizeBytes, 2_000_000);
  const pieces = body[Symbol.asyncIterator]();
  await pieces.next();
  truncateSync(join(root, "k"), 1_000_000);
  await assert.rejects(async () => {
    while (!(await pieces.next()).done);
  }, isKind("corrupt", "short_object"));
});

test("file: an object that is replaced or deleted while it is read stays what it was", async (t) => {
  const { store } = openTemporary(t);
  for (const change of [() => store.put("k", patternOf(5)), () => store.delete("k")]) {
    await store.put("k", patternOf(2_000_000));
    const { body } = await store.get("k");
    await change();
    assert.equal(Buffer.compare(await collect(body), patternOf(2_000_000)), 0);
  }
});

/** Returns what this process has open below a folder. */
function openFilesBelow(folder: string): string[] {
  const targets = readdirSync("/proc/self/fd").map((fd) => {
    try {
      return readlinkSync(`/proc/self/fd/${fd}`);
    } catch {
      return ""; // The listing's own, closed by now.
    }
  });
  return targets.filter((target) => target.startsWith(folder));
}

const countsDescriptors = existsSync("/proc/self/fd") ? false : "no /proc/self/fd to count them in";

test(
  "file: no descriptor stays open, whatever ends a put or a stream",
  { skip: countsDescriptors },
  async (t) => {
    const { root, store } = openTemporary(t);
    await store.put("k", patternOf(2_000_000));
    for (let i = 0; i < 50; i++) {
      await collect((await store.get("k")).body);
      for await (const _piece of (await store.get("k")).body) break;
      await (await store.get("k")).body[Symbol.asyncIterator]().return?.();
      await assert.rejects(store.get("k", { range: { start: 3_000_000 } }));
      await assert.rejects(store.get("missing"));
      await assert.rejects(async () => {
        for await (const _piece of (await store.get("k")).body) throw new Error("the reader broke");
      });
      await store.read("k", 0, 300_000);
      await assert.rejects(store.put("k", patternOf(300_000), { mode: "if_absent" }));
      await assert.rejects(store.put("broken", breaking(i * 9_000)));
      await store.flush(["k"]);
    }
    await assert.rejects(store.get(""));
    assert.deepEqual(openFilesBelow(root), []);
    assert.deepEqual(readdirSync(root), ["k"], "nothing temporary stays");
  },
);

test("file: a folder moved away under a stream does not disturb it", async (t) => {
  const { root, store } = openTemporary(t);
  await store.put("a/k", patternOf(900_000));
  const { body } = await store.get("a/k");
  renameSync(join(root, "a"), join(root, "b"));
  assert.equal(Buffer.compare(await collect(body), patternOf(900_000)), 0);
  assert.deepEqual(await listed(store), ["b/k"]);
});

async function* breaking(size: number) {
  for (let at = 0; at < size; at += 50_000) yield new Uint8Array(50_000);
  throw new Error("the source broke");
}

function openTemporary(t: TestContext) {
  const root = join(temporaryFolder(t), "made/by the/store");
  return { root, store: openFileObjectStore({ root, address: "local://name" }) };
}

async function listed(store: ReturnType<typeof openFileObjectStore>): Promise<string[]> {
  const keys: string[] = [];
  for await (const page of store.pages()) keys.push(...page.objects.map(({ key }) => key));
  return keys;
}
