import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { FileSystemCalls } from "../base/file_system.ts";
import { temporaryFolder } from "../tests/support/temporary.ts";
import { examineFolder, examineStores, type Finding } from "./examine.ts";
import { makeHome } from "./home.ts";
import { openHomeStore } from "./registry.ts";

const on = (type: number, bavail = 1e6): FileSystemCalls => ({
  statfs: () => ({ type, bsize: 4096, bavail, blocks: 1e6 }),
  realpath: (path) => path,
  mounts: () => "",
});

async function gathered(
  findings: AsyncIterable<Finding> | Iterable<Finding>,
): Promise<Record<string, Finding>> {
  const all: Record<string, Finding> = {};
  for await (const finding of findings) all[finding.name] = finding;
  return all;
}

test("a home is described with its file system, its store and its storage", async (t) => {
  const folder = join(temporaryFolder(t), "home");
  makeHome(folder);
  const fresh = await gathered(examineStores({ folder, ready: true }, {}));
  assert.match(fresh["key-value store"]!.text, /not made yet/);
  const store = await openHomeStore(folder);
  await store.createRepository("repo", { committer: "x" });
  await store.close();
  const home = { folder, ready: true };
  const found = await gathered(examineFolder({ ...home, fileSystemCalls: on(0xef53) }));
  assert.deepEqual(Object.values(found).map(({ state }) => state), ["ok", "ok", "ok"]);
  assert.equal(found["file system"]!.details["type"], "ext4");
  const stores = await gathered(examineStores(home, {}));
  const { entries, map_bytes } = stores["key-value store"]!.details;
  assert.ok(Number(entries) > 0 && map_bytes === 16 * 1024 ** 3, "LMDB was opened to write");
  assert.deepEqual(stores["storage"]!.details, { repositories: 1, missing: [], forbidden: [] });
  assert.deepEqual(fs.readdirSync(folder).filter((name) => name.endsWith(".tmp")), []);
});

test("network, layered and full file systems are told of", async (t) => {
  const folder = temporaryFolder(t);
  const state = async (calls: FileSystemCalls) =>
    (await gathered(examineFolder({ folder, ready: false, fileSystemCalls: calls })))["file system"]!;
  assert.match((await state(on(0x6969))).text, /^nfs, a network file system/);
  assert.match((await state(on(0x794c7630))).text, /^overlay, of a container/);
  assert.match((await state(on(0xef53, 10))).text, /which is little/);
  for (const calls of [on(0x6969), on(0x794c7630), on(0xef53, 10)]) {
    assert.equal((await state(calls)).state, "warning");
  }
});

test("what is wrong with a store is a finding, no failure", async (t) => {
  const folder = join(temporaryFolder(t), "home");
  makeHome(folder);
  fs.writeFileSync(join(folder, "kv", "data.mdb"), "no database");
  const found = await gathered(examineStores({ folder, ready: true }, {}));
  assert.deepEqual(Object.keys(found), ["key-value store"]);
  const { state, details } = found["key-value store"]!;
  assert.deepEqual([state, details["code"]], ["problem", "kv_corrupt"]);
});
