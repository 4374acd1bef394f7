import assert from "node:assert/strict";
import { linkSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test, { type TestContext } from "node:test";
import { setTimeout } from "node:timers/promises";
import { asBuffer, lossyText, utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { KeptFiles } from "./kept_files.ts";
import { openFileObjectStore } from "./mod.ts";
import { Placement } from "./placement.ts";

const onWindows = process.platform === "win32" ? "files are not kept open" : false;
const PART = { offset: 0, length: 100 };

function openTemporary(t: TestContext, options: { maxKept?: number; idleMs?: number } = {}) {
  const root = temporaryFolder(t);
  const kept = new KeptFiles(options);
  const placement = new Placement(root);
  const open = (key: string) => lossyText(kept.openAndRead(placement.place(key), PART));
  const read = (key: string) => {
    const bytes = kept.read(key, PART);
    return bytes && lossyText(bytes);
  };
  const write = (key: string, text: string) => writeFileSync(join(root, key), text);
  return { root, kept, open, read, write };
}

test("file: a kept file is read without being opened again", { skip: onWindows }, (t) => {
  const { kept, open, read, write } = openTemporary(t);
  write("k", "content");
  assert.equal(read("k"), undefined);
  assert.equal(open("k"), "content");
  assert.equal(read("k"), "content");
  assert.deepEqual(kept.read("k", { offset: 3, length: 2 }), utf8("te"));
  assert.deepEqual(kept.read("k", { offset: 7, length: 2 }), new Uint8Array(0));
  const into = new Uint8Array(50);
  assert.equal(kept.read("k", { offset: 0, length: 20, into })!.buffer, into.buffer);
  assert.equal(asBuffer(into).toString("utf8", 0, 7), "content");
  kept.forget("k");
  assert.equal(kept.count, 0);
});

test(
  "file: a kept file that was replaced or deleted by whomever is not read any more",
  { skip: onWindows },
  (t) => {
    const { root, kept, open, read, write } = openTemporary(t);
    write("k", "old");
    open("k");
    write("new", "newer");
    renameSync(join(root, "new"), join(root, "k"));
    assert.equal(read("k"), undefined);
    assert.equal(kept.count, 0);
    assert.equal(open("k"), "newer");
    unlinkSync(join(root, "k"));
    assert.equal(read("k"), undefined);
    assert.throws(() => open("k"), (error) => isCoded(error, "object_not_found"));
    assert.equal(kept.count, 0);
  },
);

test("file: a file with a second name is not kept: its links would not tell of its deletion", {
  skip: onWindows,
}, (t) => {
  const { root, kept, open, read, write } = openTemporary(t);
  write("k", "content");
  open("k");
  linkSync(join(root, "k"), join(root, "backup"));
  assert.equal(read("k"), undefined);
  assert.equal(open("k"), "content");
  assert.equal(kept.count, 0);
});

test(
  "file: no more files are kept than were asked for, and those used last stay",
  { skip: onWindows },
  (t) => {
    const { kept, open, read, write } = openTemporary(t, { maxKept: 3 });
    for (const key of ["a", "b", "c", "d"]) {
      write(key, key);
      open(key);
      assert.equal(read("a"), "a");
    }
    assert.equal(kept.count, 3);
    assert.equal(read("b"), undefined);
    assert.equal(read("d"), "d");
  },
);

test("file: stores together keep a bounded number of files open", { skip: onWindows }, (t) => {
  const stores = Array.from({ length: 30 }, () => openTemporary(t));
  for (const { open, write } of stores) {
    for (let i = 0; i < 10; i++) {
      write(`k${i}`, "x");
      assert.equal(open(`k${i}`), "x");
    }
  }
  let count = 0;
  for (const { kept } of stores) count += kept.count;
  assert.ok(count > 0 && count <= 128, `${count} files`);
  for (const { kept } of stores) for (let i = 0; i < 10; i++) kept.forget(`k${i}`);
});

test("file: kept files are closed when nothing is read for a while", { skip: onWindows }, async (t) => {
  const { kept, open, read, write } = openTemporary(t, { idleMs: 5 });
  write("k", "content");
  open("k");
  while (kept.count > 0) await setTimeout(5);
  assert.equal(read("k"), undefined);
  open("k");
  while (kept.count > 0) await setTimeout(5);
});

test("file: what a store puts or deletes is what it reads next, through its kept files", async (t) => {
  const store = openFileObjectStore({ root: temporaryFolder(t), address: "local://test" });
  for (const text of ["one", "second", "3"]) {
    await store.put("k", utf8(text));
    for (let i = 0; i < 2; i++) assert.equal(lossyText(await store.read("k", 0, 100)), text);
  }
  await store.delete("k");
  await assert.rejects(store.read("k", 0, 100), (error) => isCoded(error, "object_not_found"));
  await store.put("k", utf8("again"), { mode: "if_absent" });
  assert.equal(lossyText(await store.read("k", 0, 100)), "again");
});

test("file: two stores of one folder read what the other puts and deletes", async (t) => {
  const root = temporaryFolder(t);
  const [a, b] = [0, 1].map(() => openFileObjectStore({ root, address: "local://test" })) as [
    ReturnType<typeof openFileObjectStore>,
    ReturnType<typeof openFileObjectStore>,
  ];
  for (const text of ["one", "second"]) {
    await a.put("k", utf8(text));
    for (let i = 0; i < 2; i++) assert.equal(lossyText(await b.read("k", 0, 100)), text);
  }
  await a.delete("k");
  await assert.rejects(b.read("k", 0, 100), (error) => isCoded(error, "object_not_found"));
});
