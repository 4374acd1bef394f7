import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { closeSync, readdirSync, readlinkSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import test, { type TestContext } from "node:test";
import { isKind } from "../../tests/conformance/object_store_support.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { openFileObjectStore } from "./mod.ts";

const broken = isKind("unavailable", "storage_unavailable");

test("file: what was not named leaves no file, named or not", async (t) => {
  const { root, store } = open(t);
  const abandoned = store.begin!("a"), named = store.begin!("a");
  await Promise.all([abandoned.add(Buffer.from("x")), named.add(Buffer.from("y"))]);
  assert.equal(readdirSync(join(root, "a")).length, 2);
  await abandoned.abandon();
  await named.name("a/k", "if_absent");
  await named.abandon();
  assert.deepEqual(readdirSync(join(root, "a")), ["k"]);
});

test("file: a folder that has vanished is made again", async (t) => {
  const { root, store } = open(t);
  await store.put("a/b/k", Buffer.from("x"));
  rmSync(join(root, "a"), { recursive: true });
  const object = store.begin!("a/b");
  await object.add(Buffer.from("y"));
  assert.equal((await object.name("a/b/k", "if_absent")).sizeBytes, 1);
});

test("file: an object that is named elsewhere than it was begun is refused", async (t) => {
  const object = open(t).store.begin!("a");
  await assert.rejects(object.name("b/k", "replace"), isKind("internal", "internal"));
  await object.abandon();
});

test("file: a piece that could not be written makes all later ones and the name fail", {
  skip: process.platform === "linux" ? false : "the descriptor is found in /proc",
}, async (t) => {
  const { root, store } = open(t);
  const object = store.begin!("a");
  await object.add(Buffer.from("good"));
  // The file is taken away from under it.
  const [temporary] = readdirSync(join(root, "a"));
  const fd = readdirSync("/proc/self/fd").find((fd) => linkOf(fd) === join(root, "a", temporary!));
  closeSync(Number(fd));
  await assert.rejects(object.add(Buffer.from("lost")), broken);
  await assert.rejects(object.add(Buffer.from("later")), broken);
  await assert.rejects(object.name("a/k", "if_absent"), broken);
  await object.abandon();
  assert.equal(await store.head("a/k"), undefined);
  assert.deepEqual(readdirSync(join(root, "a")), []);
});

function linkOf(fd: string): string | undefined {
  try {
    return readlinkSync(`/proc/self/fd/${fd}`);
  } catch {
    return undefined;
  }
}

function open(t: TestContext) {
  const root = join(temporaryFolder(t), "root");
  return { root, store: openFileObjectStore({ root, address: "local://name" }) };
}
