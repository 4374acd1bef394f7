import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { concatBytes, utf8 } from "../base/bytes.ts";
import type { Clock } from "../base/clock.ts";
import { seededRandomness } from "../base/randomness.ts";
import { type Ending, temporaryFolder } from "../tests/support/temporary.ts";
import { type DiskCacheOptions, openDiskCache } from "./mod.ts";

const MINUTE_MS = 60_000, HOUR_MS = 60 * MINUTE_MS;

test("a file is read back whole, in part, and its size known", async (t) => {
  const { cache } = open(t);
  const bytes = numbered(1000);
  await cache.write("abc.sst", bytes);
  assert.deepEqual(await cache.read("abc.sst"), bytes);
  assert.deepEqual(await cache.readAt("abc.sst", 10, 5), bytes.subarray(10, 15));
  assert.deepEqual(await cache.readAt("abc.sst", 990, 2 ** 40), bytes.subarray(990));
  assert.deepEqual(await cache.readAt("abc.sst", 5000, 10), new Uint8Array(0));
  assert.equal(await cache.size("abc.sst"), 1000);
});

test("parts are written one after the other, and a large file is read whole too", async (t) => {
  const { cache } = open(t, { maxBytes: 10_000_000 });
  const parts = [numbered(700_000), new Uint8Array(0), numbered(3)];
  await cache.write("large", parts);
  assert.deepEqual(await cache.read("large"), concatBytes(...parts));
  assert.deepEqual(await cache.readAt("large", 699_999, 3), concatBytes(...parts).subarray(699_999, 700_002));
});

test("parts of a file are read into memory of the caller's, all of them or not", async (t) => {
  const { cache } = open(t, { maxBytes: 10_000_000 });
  const bytes = numbered(700_000), into = new Uint8Array(600_000);
  await cache.write("k", bytes);
  const parts = [{ offset: 699_000, into: into.subarray(0, 1000) }, { offset: 5, into: into.subarray(1000) }];
  assert.equal(await cache.readParts("k", parts), true);
  assert.deepEqual(into, concatBytes(bytes.subarray(699_000), bytes.subarray(5, 599_005)));
  assert.equal(await cache.readParts("k", []), true);
  assert.equal(await cache.readParts("k", [{ offset: 699_999, into: into.subarray(0, 2) }]), false);
  assert.equal(await cache.readParts("none", parts), false);
});

test("what is missing, deleted, vanished or no file is a miss", async (t) => {
  const { cache, folder } = open(t);
  const isMissing = async (key: string) => {
    assert.equal(await cache.read(key), undefined);
    assert.equal(await cache.readAt(key, 0, 1), undefined);
    assert.equal(await cache.size(key), undefined);
  };
  await isMissing("never");
  await cache.write("deleted", utf8("x"));
  await cache.delete("deleted");
  await isMissing("deleted");
  await cache.delete("deleted");
  await cache.write("vanished", utf8("x"));
  unlinkSync(join(folder, "vanished"));
  await isMissing("vanished");
  mkdirSync(join(folder, "folder"));
  await isMissing("folder");
});

test("the folder and its files are for their owner alone, and nothing is made before the first write", async (t) => {
  const { cache, folder } = open(t);
  await cache.read("a");
  assert.ok(!existsSync(folder));
  await cache.write("a", utf8("x"));
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.equal(statSync(join(folder, "a")).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), ["a"]);
});

test("the folder stays within its bound, and what was used last stays in it", async (t) => {
  const { cache, folder, clock } = open(t, { maxBytes: 1000 });
  for (let i = 0; i < 10; i++) {
    await cache.write(`k${i}`, numbered(100));
    clock.advance(2 * HOUR_MS);
  }
  assert.equal(bytesIn(folder), 1000);
  assert.ok(await cache.read("k0"));
  assert.ok(await cache.readAt("k2", 0, 1));
  clock.advance(2 * HOUR_MS);
  await cache.write("new", numbered(100));
  assert.deepEqual(readdirSync(folder).sort(), ["k0", "k2", "k4", "k5", "k6", "k7", "k8", "k9", "new"]);
  for (let i = 0; i < 200; i++) {
    clock.advance(MINUTE_MS);
    await cache.write(`more${i}`, numbered(1 + i));
    assert.ok(bytesIn(folder) <= 1000);
    assert.ok(await cache.size(`more${i}`));
  }
});

test("a read within the hour does not write the file's time again", async (t) => {
  const { cache, folder, clock } = open(t);
  await cache.write("a", utf8("x"));
  const written = statSync(join(folder, "a")).mtimeMs;
  clock.advance(59 * MINUTE_MS);
  await cache.read("a");
  assert.equal(statSync(join(folder, "a")).mtimeMs, written);
  clock.advance(2 * MINUTE_MS);
  await cache.read("a");
  assert.equal(Math.round(statSync(join(folder, "a")).mtimeMs), Math.round(clock.now()));
});

test("a file that would take nearly all of the bound is not kept", async (t) => {
  const { cache } = open(t, { maxBytes: 1000 });
  await cache.write("a", numbered(100));
  await cache.write("huge", numbered(950));
  assert.equal(await cache.size("huge"), undefined);
  assert.equal(await cache.size("a"), 100);
});

test("two caches on one folder see each other's files and keep the bound together, about", async (t) => {
  const { cache, folder, clock } = open(t, { maxBytes: 10_000 });
  const other = openDiskCache({ folder, maxBytes: 10_000, clock });
  for (let i = 0; i < 100; i++) {
    await Promise.all([cache.write(`a${i}`, numbered(300)), other.write(`b${i}`, numbered(300))]);
    assert.deepEqual(await other.read(`a${i}`), numbered(300));
    assert.deepEqual(await cache.read(`b${i}`), numbered(300));
    // Each may write a twentieth of the bound before it looks at the folder again.
    assert.ok(bytesIn(folder) <= 11_200, `${bytesIn(folder)}`);
    clock.advance(HOUR_MS);
  }
});

test("one key written by many at once holds one of the writes whole", async (t) => {
  const { cache, folder } = open(t, { maxBytes: 10_000_000 });
  await Promise.all(Array.from({ length: 20 }, (_, i) => cache.write("k", new Uint8Array(50_000).fill(i))));
  const found = (await cache.read("k"))!;
  assert.deepEqual(found, new Uint8Array(50_000).fill(found[0]!));
  assert.deepEqual(readdirSync(folder), ["k"]);
});

test("evicting leaves strangers' files, folders and links alone, and clears what killed writers left", async (t) => {
  const { cache, folder, clock } = open(t, { maxBytes: 1000 });
  mkdirSync(join(folder, "sub"), { recursive: true });
  const strange = ["README.TXT", ".hidden", "a b", "x.tar.gz"];
  for (const name of strange) writeFileSync(join(folder, name), numbered(5000));
  symlinkSync(join(folder, "README.TXT"), join(folder, "link"));
  const old = (clock.now() - 2 * HOUR_MS) / 1000, young = clock.now() / 1000;
  for (const [name, time] of [[".tmp-0a", old], [".tmp-0b", young]] as const) {
    writeFileSync(join(folder, name), numbered(10));
    utimesSync(join(folder, name), time, time);
  }
  for (let i = 0; i < 20; i++) await cache.write(`k${i}`, numbered(100));
  const left = readdirSync(folder);
  for (const name of [...strange, "sub", "link", ".tmp-0b"]) assert.ok(left.includes(name), name);
  assert.ok(!left.includes(".tmp-0a"));
  const ownBytes = left.filter((name) => /^k/.test(name)).length * 100;
  assert.ok(ownBytes > 0 && ownBytes <= 1000, `${ownBytes}`);
  assert.equal(await cache.read("link"), undefined);
});

test("a key that could leave the folder is a broken invariant", async (t) => {
  const { cache } = open(t);
  for (const key of ["", ".", "..", "../a", "a/b", "a\0", ".tmp-00", "a.", "a.b.c", "a.B", "é", "a\n"]) {
    for (const call of [() => cache.read(key), () => cache.write(key, utf8("x")), () => cache.delete(key)]) {
      await assert.rejects(call(), { kind: "internal" }, key);
    }
    await assert.rejects(cache.readAt(key, 0, 1), { kind: "internal" }, key);
    await assert.rejects(cache.size(key), { kind: "internal" }, key);
  }
});

test("a full disk fails no write, leaves nothing behind, and is not tried again for a minute", async (t) => {
  let calls = 0, isFull = true;
  const { cache, folder, clock } = open(t, {
    createFile: async (path, { parts }) => {
      calls++;
      writeFileSync(path, isFull ? parts[0]!.subarray(0, 1) : parts[0]!);
      if (isFull) throw Object.assign(new Error("no space left on device"), { code: "ENOSPC" });
    },
  });
  mkdirSync(folder);
  for (let i = 0; i < 100; i++) await cache.write(`k${i}`, numbered(10));
  assert.equal(calls, 1);
  assert.deepEqual(readdirSync(folder), []);
  isFull = false;
  clock.advance(MINUTE_MS + 1);
  await cache.write("k", numbered(10));
  assert.deepEqual(await cache.read("k"), numbered(10));
});

test("a folder that cannot be made or written fails nothing", async (t) => {
  const { cache, folder } = open(t);
  writeFileSync(folder, "a file where the folder should be");
  await cache.write("a", utf8("x"));
  await cache.delete("a");
  assert.equal(await cache.read("a"), undefined);
  assert.equal(await cache.size("a"), undefined);
  assert.ok(lstatSync(folder).isFile());
});

test("a folder that may only be read is read", async (t) => {
  const { cache, folder, clock } = open(t);
  await cache.write("a", utf8("x"));
  for (
    const [path, mode] of [[dirname(folder), 0o755], [folder, 0o555], [join(folder, "a"), 0o444]] as const
  ) {
    chmodSync(path, mode);
  }
  clock.advance(2 * HOUR_MS);
  await asAnyUser(async () => {
    await cache.write("b", utf8("x"));
    assert.deepEqual(await cache.read("a"), utf8("x"));
    assert.equal(await cache.read("b"), undefined);
  }).finally(() => chmodSync(folder, 0o700));
});

test("a folder removed under the cache is made again", async (t) => {
  const { cache, folder } = open(t);
  await cache.write("a", utf8("x"));
  rmSync(folder, { recursive: true });
  await cache.write("b", utf8("y"));
  assert.deepEqual(await cache.read("b"), utf8("y"));
});

test("a cache within a folder that is gone keeps nothing, and makes nothing anew", async (t) => {
  const home = join(temporaryFolder(t), "home");
  mkdirSync(home);
  const { cache } = open(t, { folder: join(home, "cache", "uid"), within: home });
  await cache.write("a", utf8("x"));
  assert.deepEqual(await cache.read("a"), utf8("x"));
  rmSync(home, { recursive: true });
  await cache.write("b", utf8("y"));
  assert.equal(await cache.read("b"), undefined);
  assert.ok(!existsSync(home));
});

function open(t: Ending, options: Partial<DiskCacheOptions> = {}) {
  const clock = movableClock();
  const folder = join(temporaryFolder(t), "cache");
  return { folder, clock, cache: openDiskCache({ folder, maxBytes: 100_000, clock, ...options }) };
}

/** Runs as a user whom permissions hold back: root is not. */
async function asAnyUser(call: () => Promise<void>): Promise<void> {
  if (process.getuid?.() !== 0) return await call();
  process.seteuid!(65534);
  try {
    await call();
  } finally {
    process.seteuid!(0);
  }
}

function movableClock(): Clock & { advance(ms: number): void } {
  let now = 1_700_000_000_000;
  return { now: () => now, sleep: async () => {}, advance: (ms) => void (now += ms) };
}

function numbered(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => i % 251);
}

function bytesIn(folder: string): number {
  return readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
}

test("many short processes, each of which writes little, keep the bound between them", async (t) => {
  const randomness = seededRandomness(7);
  const { folder, clock } = open(t);
  const sizes: number[] = [];
  for (let i = 0; i < 1500; i++) {
    const short = openDiskCache({ folder, clock, maxBytes: 10_000, randomness });
    await short.write(`k${i}`, new Uint8Array(50));
    if (i % 100 === 99) sizes.push(readdirSync(folder).length * 50);
  }
  assert.ok(Math.max(...sizes) <= 12_000, `${sizes}`);
  assert.ok(Math.min(...sizes.slice(3)) >= 8000, `${sizes}`);
});

test("of writes that come together one looks at the folder, and the others do not wait for it", async (t) => {
  const { folder, clock } = open(t);
  mkdirSync(folder, { recursive: true });
  for (let i = 0; i < 1000; i++) writeFileSync(join(folder, `old${i}`), numbered(10));
  const options = { folder, clock, maxBytes: 5000, randomness: seededRandomness(1) };
  const cache = openDiskCache(options);
  await cache.write("first", numbered(1000));
  const ended: string[] = [];
  await Promise.all(
    ["a", "b", "c"].map((key) => cache.write(key, numbered(300)).then(() => ended.push(key))),
  );
  assert.deepEqual(ended, ["b", "c", "a"]);
  assert.ok(bytesIn(folder) <= 5600, `${bytesIn(folder)}`);
});
