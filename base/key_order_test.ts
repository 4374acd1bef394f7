import assert from "node:assert/strict";
import { it } from "node:test";
import { compareBytes, utf8 } from "./bytes.ts";
import { compareKeys } from "./key_order.ts";

it("compareKeys() orders texts as their UTF-8 bytes", () => {
  const keys = [
    "",
    "a",
    "a/",
    "a-",
    "aa",
    "é",
    "\ud7ff",
    "\ue000",
    "\uffee",
    "\u{10000}",
    "\u{1f600}",
    "b\u{1f600}",
    "b\uff5e",
  ];
  for (const a of keys) {
    for (const b of keys) {
      assert.equal(Math.sign(compareKeys(a, b)), Math.sign(compareBytes(utf8(a), utf8(b))), `${a} ${b}`);
    }
  }
});
