import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { test } from "node:test";
import { requireThat } from "../tests/support/requires.ts";
import { withoutDebugging } from "./elf.ts";

const LIBRARY = "node_modules/@lmdb/lmdb-linux-x64/node.napi.glibc.node";

test("a library loses its section headers and all behind its segments, and no byte of a segment", (t) => {
  if (!requireThat(t, existsSync(LIBRARY), `${LIBRARY} is for another platform`)) return;
  const whole = readFileSync(LIBRARY);
  const small = withoutDebugging(whole);
  assert.ok(small.length < whole.length / 2);
  const view = new DataView(small.buffer, small.byteOffset);
  assert.equal(view.getBigUint64(0x28, true), 0n);
  assert.deepEqual([view.getUint16(0x3c, true), view.getUint16(0x3e, true)], [0, 0]);
  // All behind the header is as it was.
  assert.ok(whole.subarray(64, small.length).equals(small.subarray(64)));
  const headers = Number(view.getBigUint64(0x20, true));
  for (let i = 0; i < view.getUint16(0x38, true); i++) {
    const at = headers + i * view.getUint16(0x36, true);
    const end = view.getBigUint64(at + 8, true) + view.getBigUint64(at + 32, true);
    assert.ok(Number(end) <= small.length, `segment ${i} is whole`);
  }
});

test("what is no library of that kind comes back as it is", () => {
  for (const bytes of [new Uint8Array(0), new Uint8Array(100), new Uint8Array(100).fill(0x7f)]) {
    assert.equal(withoutDebugging(bytes), bytes);
  }
});
