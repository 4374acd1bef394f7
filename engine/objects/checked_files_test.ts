import assert from "node:assert/strict";
import { readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { openFileObjectStore } from "../../drivers/file/mod.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { type Ending, temporaryFolder } from "../../tests/support/temporary.ts";
import { testClock } from "../../tests/support/test_engine.ts";
import { CheckedFiles, type Entry, uploadObject } from "./mod.ts";

interface Stored {
  readonly objects: ObjectStore;
  readonly entry: Entry;
  readonly file: string;
  /** How often the object was read whole. */
  readonly reads: () => number;
}

async function stored(t: Ending, text: string): Promise<Stored> {
  const root = temporaryFolder(t);
  const inner = openFileObjectStore({ root, address: "local://x" });
  let reads = 0;
  const objects = Object.assign(Object.create(inner) as ObjectStore, {
    localFile: (key: string) => inner.localFile!(key),
    locate: (key: string) => inner.locate(key),
    get(...args: Parameters<ObjectStore["get"]>) {
      reads++;
      return inner.get(...args);
    },
  });
  const place = { objects: inner, clock: testClock(), randomness: seededRandomness(1) };
  const entry = await uploadObject(place, new TextEncoder().encode(text));
  const [file] = readdirSync(root, { recursive: true, withFileTypes: true }).filter((one) => one.isFile());
  return { objects, entry, file: join(file!.parentPath, file!.name), reads: () => reads };
}

test("find() reads a file once, for all who ask, until somebody touches it", async (t) => {
  const { objects, entry, file, reads } = await stored(t, "hello");
  const checked = new CheckedFiles(objects);
  const find = () => checked.find(entry, { path: "a" });
  const found = await Promise.all([find(), find(), find()]);
  for (const one of found) assert.deepEqual(one, { path: file, start: 0, length: 5 });
  await find();
  assert.equal(reads(), 1);
  writeFileSync(file, "hello");
  assert.deepEqual(await find(), found[0]);
  assert.equal(reads(), 2);
  writeFileSync(file, "hullo");
  await assert.rejects(find(), { code: "checksum_mismatch" });
});

test("find() reads nothing of what was hashed on its way, and of a part", async (t) => {
  const { objects, entry, file, reads } = await stored(t, "hello");
  const checked = new CheckedFiles(objects);
  const part = await checked.find(entry, { path: "a", range: { start: 1, end: 100 } });
  assert.deepEqual(part, { path: file, start: 1, length: 4 });
  await checked.storedRight(entry.address);
  assert.ok(await checked.find(entry, { path: "a" }));
  assert.equal(reads(), 0);
});

test("find() leaves a missing or short file to the reading of it", async (t) => {
  const { objects, entry, file } = await stored(t, "hello");
  const checked = new CheckedFiles(objects);
  writeFileSync(file, "hell");
  assert.equal(await checked.find(entry, { path: "a" }), undefined);
  rmSync(file);
  assert.equal(await checked.find(entry, { path: "a" }), undefined);
});
