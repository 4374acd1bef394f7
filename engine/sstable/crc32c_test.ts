import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { crc32c, maskedCrc32c } from "./crc32c.ts";

test("crc32c() gives the values of RFC 3720", () => {
  assert.equal(crc32c(new Uint8Array(32)), 0x8a9136aa);
  assert.equal(crc32c(new Uint8Array(32).fill(0xff)), 0x62a8ab43);
  assert.equal(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i)), 0x46dd794e);
  assert.equal(crc32c(Uint8Array.from({ length: 32 }, (_, i) => 31 - i)), 0x113fdb5c);
  assert.equal(crc32c(utf8("123456789")), 0xe3069283);
  assert.equal(crc32c(utf8("")), 0);
});

test("crc32c() agrees with the bit-by-bit definition at every length and alignment", () => {
  const bytes = seededRandomness(1).bytes(80);
  for (let start = 0; start < 9; start++) {
    for (let end = start; end <= bytes.length; end++) {
      const piece = bytes.subarray(start, end);
      assert.equal(crc32c(piece), bitByBit(piece));
    }
  }
});

test("maskedCrc32c() rotates by 15 bits and adds the constant", () => {
  // The trailer of an empty block of golden/empty, whose bytes are 0000000001000000 and the type 0.
  assert.equal(maskedCrc32c(Uint8Array.of(0, 0, 0, 0, 1, 0, 0, 0, 0)), 0xb0a1f2c0);
});

function bitByBit(bytes: Uint8Array): number {
  let crc = -1;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (crc & 1 ? 0x82f63b78 : 0);
  }
  return ~crc >>> 0;
}
