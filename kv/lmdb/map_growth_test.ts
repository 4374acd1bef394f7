import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { utf8 } from "../../base/bytes.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { openLmdb } from "./mod.ts";

const PROGRAM = fileURLToPath(new URL("./testdata/process.ts", import.meta.url));
const P = utf8("partition");
const SMALL_MAP = 256 * 1024;

test("a store with a small map goes on when another process, whose map is large, has made the file larger", async (t) => {
  const folder = temporaryFolder(t);
  const store = await openLmdb(folder, { mapBytes: SMALL_MAP });
  await store.set(P, utf8("mine"), utf8("before"));
  const child = spawn(process.execPath, [PROGRAM, "write", folder, "other"], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let answered = "";
  child.stdout.setEncoding("utf8").on("data", (piece: string) => answered += piece);
  const ended = new Promise((resolve) => child.once("close", resolve));
  while (statSync(join(folder, "data.mdb")).size < 12 * SMALL_MAP) {
    assert.equal(child.exitCode, null);
    assert.deepEqual((await store.get(P, utf8("mine")))?.value.length, 6);
    await store.set(P, utf8("mine"), utf8("during"));
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  child.kill("SIGKILL");
  await ended;
  await store.set(P, utf8("mine"), utf8("after"));
  const last = Number(answered.trimEnd().split("\n").at(-1));
  const found = new Set<string>();
  for await (const page of store.scan(P, { prefix: utf8("other/") })) {
    for (const { key } of page) found.add(new TextDecoder().decode(key));
  }
  for (let i = 0; i <= last; i++) assert.ok(found.has(`other/${i}/2`), `${i} is missing`);
  await store.close();
  const again = await openLmdb(folder, { mapBytes: SMALL_MAP });
  assert.deepEqual((await again.get(P, utf8("mine")))?.value, utf8("after"));
  await again.close();
});
