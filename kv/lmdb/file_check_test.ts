import assert from "node:assert/strict";
import {
  copyFileSync,
  mkdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { checkOpenable } from "./file_check.ts";
import { openLmdb } from "./mod.ts";

const P = utf8("partition");
const PAGE = 4096;

/** Makes a database with several levels of pages, values on pages of their own, and a free list. */
async function makeDatabase(folder: string): Promise<string> {
  const store = await openLmdb(folder);
  const entries = Array.from({ length: 600 }, (_, i) => ({
    key: utf8(`key ${i}`),
    value: new Uint8Array(i % 20 === 0 ? 9000 : 100).fill(i),
  }));
  await store.setMany(P, entries);
  await store.deleteMany(P, entries.slice(0, 200).map(({ key }) => key));
  await store.setMany(P, entries.slice(100, 150));
  await store.close();
  return join(folder, "data.mdb");
}

test("a whole file passes, and so does an empty one, which is made where there is none", async (t) => {
  const folder = temporaryFolder(t);
  await assert.rejects(checkOpenable(folder, true), { code: "ENOENT" });
  await checkOpenable(folder, false);
  assert.equal(statSync(join(folder, "data.mdb")).size, 0);
  await checkOpenable(folder, false);
  await assert.rejects(openLmdb(folder, { readOnly: true }), { code: "kv_corrupt" });
  await makeDatabase(join(folder, "db"));
  await checkOpenable(join(folder, "db"), false);
});

test("what is no file is refused before LMDB meets it", async (t) => {
  for (const name of ["data.mdb", "lock.mdb", "writer.lock"]) {
    const folder = temporaryFolder(t), path = join(folder, name);
    await makeDatabase(folder);
    for (const make of [() => mkdirSync(path), () => symlinkSync("nowhere", path)]) {
      rmSync(path, { recursive: true, force: true });
      make();
      await assert.rejects(checkOpenable(folder, false), { code: "kv_corrupt", message: /is no file$/ });
      if (name === "data.mdb") await assert.rejects(checkOpenable(folder, true), { code: "kv_corrupt" });
      else await checkOpenable(folder, true);
    }
  }
});

test("a file cut at any page is refused, or nothing of it is missing", async (t) => {
  const folder = temporaryFolder(t);
  const whole = await makeDatabase(join(folder, "db"));
  const pages = statSync(whole).size / PAGE;
  let refused = 0;
  for (let kept = 1; kept < pages; kept++) {
    const place = join(folder, `cut ${kept}`);
    mkdirSync(place);
    const file = join(place, "data.mdb");
    copyFileSync(whole, file);
    truncateSync(file, kept * PAGE - 1);
    try {
      await checkOpenable(place, false);
      await readAll(place);
    } catch (error) {
      assert.ok(isCoded(error, "kv_corrupt") && error.kind === "corrupt", String(error));
      refused++;
    }
  }
  assert.ok(refused > pages / 2, `${refused} of ${pages} were refused`);
});

/** Touches every page that holds data; a missing one would kill the process. */
async function readAll(folder: string): Promise<void> {
  const store = await openLmdb(folder);
  let entries = 0;
  for await (const page of store.scan(P)) entries += page.length;
  assert.equal(entries, 450);
  await store.close();
}

test("a file that ends before its last page because that was given back is whole", async (t) => {
  const folder = temporaryFolder(t);
  const store = await openLmdb(folder);
  const file = join(folder, "data.mdb");
  for (const key of ["a", "b", "c"]) await store.set(P, utf8(key), new Uint8Array(100));
  // Takes many pages at the end of the file and gives them back in the same transaction.
  const big = Array.from(
    { length: 50 },
    (_, i) => ({ key: utf8(`big ${i}`), value: new Uint8Array(200_000) }),
  );
  await Promise.all([
    store.setMany(P, big),
    store.deleteMany(P, big.map(({ key }) => key)),
    store.set(P, utf8("kept"), utf8("value")),
  ]);
  await store.close();
  // LMDB alone leaves it so; we have made it as long as it might have had to be.
  const end = PAGE * Math.ceil((readFileSync(file).findLastIndex((byte) => byte !== 0) + 1) / PAGE);
  assert.ok(statSync(file).size > 10 * end, "the case that is tried here did not come about");
  truncateSync(file, end);
  await checkOpenable(folder, false);
  const again = await openLmdb(folder);
  t.after(() => again.close());
  assert.deepEqual((await again.get(P, utf8("kept")))?.value, utf8("value"));
});

test("a file whose meta pages another process is just writing is waited for", async (t) => {
  const folder = temporaryFolder(t);
  const whole = readFileSync(await makeDatabase(join(folder, "db")));
  const file = join(folder, "data.mdb");
  writeFileSync(file, whole.subarray(0, PAGE));
  const checking = checkOpenable(folder, false);
  writeFileSync(file, whole);
  await checking;
});
