import assert from "node:assert/strict";
import { test } from "node:test";
import { concatBytes, fromHex, hex } from "../../base/bytes.ts";
import { decodeFooter, decodeHandle, encodeFooter, encodeHandle, FOOTER_BYTES } from "./footer.ts";
import { MalformedError } from "./malformed.ts";
import { encodeVarint, varintAt } from "./varint.ts";

const footer = { metaindex: { offset: 797, length: 32 }, index: { offset: 13, length: 21 } };
/** Of golden/empty. */
const footerHex =
  "019d06200d15000000000000000000000000000000000000000000000000000000000000000000000002000000f7cff485b741e288";

test("a footer is written as lakeFS writes it, and read back", () => {
  assert.equal(hex(encodeFooter(footer)), footerHex);
  assert.deepEqual(decodeFooter(fromHex(footerHex)!), footer);
});

test("a footer with another magic, version or checksum, or without handles, is malformed", () => {
  const change = (at: number, value: number) => encodeFooter(footer).fill(value, at, at + 1);
  assert.throws(() => decodeFooter(change(FOOTER_BYTES - 1, 0x89)), /no table file/);
  assert.throws(() => decodeFooter(change(41, 5)), /table format version 5/);
  assert.throws(() => decodeFooter(change(0, 2)), /checksum type 2/);
  assert.throws(() => decodeFooter(encodeFooter(footer).fill(0xff, 1, 41)), MalformedError);
  assert.throws(() => decodeFooter(encodeFooter(footer).fill(0x80, 5, 41)), MalformedError);
});

test("handles and varints hold every safe integer", () => {
  for (
    const value of [0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32, 2 ** 42 + 5, Number.MAX_SAFE_INTEGER]
  ) {
    const varint = encodeVarint(value);
    assert.deepEqual(varintAt(varint, 0), { value, end: varint.length });
    assert.deepEqual(decodeHandle(encodeHandle({ offset: value, length: 7 })), { offset: value, length: 7 });
  }
});

test("a handle that is cut off, too large or too long is malformed", () => {
  for (
    const bytes of [
      "",
      "80",
      "05",
      "0580",
      "ffffffffffffffffff0105",
      "ffffffffffffff7f05",
      "808080808080808080808001",
    ]
  ) {
    assert.throws(() => decodeHandle(fromHex(bytes)!), MalformedError, bytes);
  }
  const handle = encodeHandle({ offset: 5, length: 6 });
  assert.throws(() => decodeHandle(concatBytes(handle, Uint8Array.of(0))), /bytes behind it/);
});
