import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { test } from "node:test";
import { requireThat } from "../tests/support/requires.ts";
import { withoutDebugging } from "./elf.ts";
import { withSmallerBuffer } from "./lmdb_buffer.ts";

const LIBRARY = "node_modules/@lmdb/lmdb-linux-x64/node.napi.glibc.node";

test("the library that is embedded takes a buffer of 64 KiB, and is otherwise as it was", (t) => {
  if (!requireThat(t, existsSync(LIBRARY), `${LIBRARY} is for another platform`)) return;
  const whole = withoutDebugging(readFileSync(LIBRARY));
  const smaller = withSmallerBuffer(whole);
  assert.equal(smaller.length, whole.length);
  assert.equal(smaller.filter((byte, at) => byte !== whole[at]).length, 4);

  const folder = mkdtempSync(join(tmpdir(), "tarn-buffer-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const path = join(folder, "smaller.node");
  writeFileSync(path, smaller);
  const module = { exports: {} as { globalBuffer?: Uint8Array } };
  process.dlopen(module, path);
  assert.equal(module.exports.globalBuffer?.length, 64 * 1024);
});

test("a library that is not as expected is refused", () => {
  const other = new Uint8Array(100);
  other.set([0x7f, 0x45, 0x4c, 0x46, 2, 1]);
  for (const machine of [0, 0x3e, 0xb7]) {
    other[0x12] = machine;
    assert.throws(() => withSmallerBuffer(other), /lmdb is not as expected/);
  }
});
