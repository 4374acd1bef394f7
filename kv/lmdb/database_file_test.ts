import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { openLmdb } from "./mod.ts";
import { growthError, takeRoomToOpen } from "./room.ts";

const P = utf8("partition"), K = utf8("key");
const posix = { skip: process.platform === "win32" ? "open files cannot be moved" : false };

test(
  "what is written to a store that was moved, replaced or deleted is refused, and nothing of it lands",
  posix,
  async (t) => {
    const folder = temporaryFolder(t);
    const at = join(folder, "kv"), away = join(folder, "away");
    const store = await openLmdb(at);
    await store.set(P, K, utf8("before"));
    fs.renameSync(at, away);
    await assert.rejects(store.set(P, K, utf8("after")), { code: "kv_moved", kind: "unavailable" });
    assert.ok(!fs.existsSync(at));
    fs.cpSync(away, at, { recursive: true });
    await assert.rejects(store.setIf(P, utf8("other"), K, undefined), {
      code: "kv_moved",
      message: /was replaced/,
    });
    await store.close();
    const moved = await openLmdb(away);
    t.after(() => moved.close());
    assert.deepEqual((await moved.get(P, K))?.value, utf8("before"));
    assert.equal(await moved.get(P, utf8("other")), undefined);
  },
);

test(
  "one that has only read refuses to write where its file was moved, replaced or deleted",
  posix,
  async (t) => {
    const folder = temporaryFolder(t);
    const at = join(folder, "kv"), away = join(folder, "away");
    const first = await openLmdb(at);
    await first.set(P, K, utf8("before"));
    await first.close();
    const store = await openLmdb(at);
    t.after(() => store.close());
    assert.deepEqual((await store.get(P, K))?.value, utf8("before"));
    fs.renameSync(at, away);
    await assert.rejects(store.set(P, K, utf8("after")), {
      code: "kv_moved",
      message: /was moved or deleted/,
    });
    assert.ok(!fs.existsSync(at), "nothing is made where it was");
    fs.cpSync(away, at, { recursive: true });
    await assert.rejects(store.set(P, K, utf8("after")), { code: "kv_moved", message: /was replaced/ });
    fs.rmSync(at, { recursive: true });
    fs.renameSync(away, at);
    await store.set(P, K, utf8("after"));
    assert.deepEqual((await store.get(P, K))?.value, utf8("after"));
  },
);

test("the lock file's pages are on disk before LMDB maps them", posix, async (t) => {
  const folder = temporaryFolder(t);
  const store = await openLmdb(folder);
  t.after(() => store.close());
  const { blocks, size } = fs.statSync(join(folder, "lock.mdb"));
  assert.ok(size > 65_536 && blocks * 512 >= 65_536, `${blocks} blocks for ${size} bytes`);
});

test("taking room for a new database leaves it empty, and an existing lock file as it is", (t) => {
  const folder = temporaryFolder(t);
  fs.writeFileSync(join(folder, "data.mdb"), "");
  fs.writeFileSync(join(folder, "lock.mdb"), "as it is");
  takeRoomToOpen(folder, { maxReaders: 1024 });
  assert.equal(fs.statSync(join(folder, "data.mdb")).size, 0);
  assert.equal(fs.readFileSync(join(folder, "lock.mdb"), "utf8"), "as it is");
});

test("an error of reading or writing stays what it is where the file can grow", (t) => {
  const file = join(temporaryFolder(t), "data.mdb");
  fs.writeFileSync(file, "");
  const early = Object.assign(new Error("Input/output error"), { code: 5 });
  assert.equal(growthError(early, file), early);
  const other = Object.assign(new Error("other"), { code: -30780 });
  assert.equal(growthError(other, file), other);
});
