import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import {
  afterKey,
  afterPrefix,
  asBuffer,
  compareBytes,
  concatBytes,
  EMPTY_BYTES,
  equalBytes,
  fromHex,
  hex,
  indexOfBytes,
  isWellFormed,
  lossyText,
  startsWithBytes,
  tryUtf8Text,
  utf8,
} from "./bytes.ts";
import { seededRandomness } from "./randomness.ts";

/** Short arrays over few bytes, so that equal ones, prefixes and neighbours come up often. */
function sampleArrays(): Uint8Array[] {
  const chance = seededRandomness(11);
  const random = Array.from(
    { length: 60 },
    () =>
      chance.bytes(Math.floor(chance.fraction() * 4)).map((byte) => [0, 1, 127, 128, 254, 255][byte % 6]!),
  );
  return [EMPTY_BYTES, ...random];
}

test("compareBytes() orders unsigned bytes, a prefix before what it begins", () => {
  for (const a of sampleArrays()) {
    for (const b of sampleArrays()) {
      assert.equal(Math.sign(compareBytes(a, b)), Buffer.compare(a, b), `${hex(a)} ${hex(b)}`);
      assert.equal(equalBytes(a, b), Buffer.compare(a, b) === 0);
      assert.equal(startsWithBytes(a, b), hex(a).startsWith(hex(b)));
    }
  }
});

test("compareBytes() is UTF-8 order, which text order in JavaScript is not", () => {
  const emoji = "\u{1f600}", privateUse = "\uffee";
  assert.ok(emoji < privateUse);
  assert.ok(compareBytes(utf8(emoji), utf8(privateUse)) > 0);
});

test("afterPrefix() is the least string after all that begin with a prefix", () => {
  assert.deepEqual(afterPrefix(Uint8Array.of(1, 2)), Uint8Array.of(1, 3));
  assert.deepEqual(afterPrefix(Uint8Array.of(1, 255, 255)), Uint8Array.of(2));
  assert.equal(afterPrefix(Uint8Array.of(255, 255)), undefined);
  assert.equal(afterPrefix(EMPTY_BYTES), undefined);
  const arrays = sampleArrays();
  for (const prefix of arrays) {
    const end = afterPrefix(prefix);
    for (const other of arrays) {
      const inside = compareBytes(other, prefix) >= 0 && (!end || compareBytes(other, end) < 0);
      assert.equal(inside, startsWithBytes(other, prefix), `${hex(prefix)} ${hex(other)}`);
    }
  }
});

test("afterPrefix() and afterKey() leave their argument as it is", () => {
  const prefix = Uint8Array.of(1, 2);
  afterPrefix(prefix)![0] = 9;
  afterKey(prefix)[0] = 9;
  assert.deepEqual(prefix, Uint8Array.of(1, 2));
});

test("nothing sorts between a key and afterKey() of it", () => {
  const arrays = sampleArrays();
  for (const key of arrays) {
    assert.ok(compareBytes(key, afterKey(key)) < 0);
    for (const other of arrays) {
      assert.equal(compareBytes(other, key) > 0, compareBytes(other, afterKey(key)) >= 0);
    }
  }
});

test("indexOfBytes() searches in the view alone, from a position", () => {
  const view = utf8("xxabcabc").subarray(2);
  assert.equal(indexOfBytes(view, utf8("abc")), 0);
  assert.equal(indexOfBytes(view, utf8("abc"), 1), 3);
  assert.equal(indexOfBytes(view, utf8("xx")), -1);
  assert.equal(indexOfBytes(view, EMPTY_BYTES), -1);
});

test("concatBytes() joins into an array of its own", () => {
  const part = utf8("b");
  const joined = concatBytes(utf8("a"), EMPTY_BYTES, part);
  assert.deepEqual(joined, utf8("ab"));
  joined[1] = 0;
  assert.deepEqual(part, utf8("b"));
  assert.deepEqual(concatBytes(), EMPTY_BYTES);
});

test("tryUtf8Text() gives text for valid UTF-8 alone, and keeps a byte order mark", () => {
  for (const text of ["", "plain", "é", "e\u0301", "\u{1f600}", "\ufeffmark", "a\0b"]) {
    assert.equal(tryUtf8Text(utf8(text)), text);
  }
  const invalid = [[0xff], [0xc0, 0x80], [0xe2, 0x82], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x80]];
  for (const bytes of invalid) assert.equal(tryUtf8Text(Uint8Array.from(bytes)), undefined);
});

test("lossyText() marks what is no UTF-8", () => {
  assert.equal(lossyText(Uint8Array.of(97, 255, 98)), "a\ufffdb");
});

test("hex() and fromHex() undo each other, and fromHex() refuses what is no hexadecimal", () => {
  for (const bytes of sampleArrays()) assert.deepEqual(fromHex(hex(bytes)), bytes);
  assert.deepEqual(fromHex("AbCd"), Uint8Array.of(0xab, 0xcd));
  for (const text of ["a", "abc", "0x", "zz", "a ", "ab\n", "١٢"]) {
    assert.equal(fromHex(text), undefined, text);
  }
});

test("asBuffer() shares the memory of the view", () => {
  const view = utf8("xabc").subarray(1, 3);
  const buffer = asBuffer(view);
  assert.equal(buffer.toString(), "ab");
  buffer[0] = 122;
  assert.deepEqual(view, utf8("zb"));
});

test("isWellFormed() refuses lone surrogates", () => {
  for (const text of ["", "a", "\u{1f600}", "\ud83d\ude00\ud83d\ude00"]) assert.ok(isWellFormed(text));
  for (const text of ["\ud83d", "\ude00", "\ud83da", "\ude00\ud83d", "\ud83d\ud83d\ude00"]) {
    assert.ok(!isWellFormed(text));
  }
});
