import assert from "node:assert/strict";
import { test } from "node:test";
import { concatBytes, fromHex, utf8 } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { draw } from "../../tests/support/tables.ts";
import { MalformedError } from "./malformed.ts";
import { maxSnappyBytes, snappyCompress, snappyDecompress } from "./snappy.ts";
import { encodeVarint } from "./varint.ts";

const LIMIT = 64 * 1024 * 1024;

function compress(input: Uint8Array): Uint8Array {
  const output = new Uint8Array(maxSnappyBytes(input.length));
  return output.slice(0, snappyCompress(input, output));
}

function assertRoundTrip(input: Uint8Array): void {
  assert.deepEqual(new Uint8Array(snappyDecompress(compress(input), LIMIT)), input);
}

test("snappyDecompress() gives back what snappyCompress() was given, at every small length", () => {
  for (let length = 0; length < 300; length++) {
    assertRoundTrip(new Uint8Array(length).fill(7));
    assertRoundTrip(Uint8Array.from({ length }, (_, i) => i % 11));
    assertRoundTrip(seededRandomness(length).bytes(length));
  }
});

test("snappyDecompress() gives back what snappyCompress() was given, around its fragments of 64 KiB", () => {
  const random = seededRandomness(3);
  for (const length of [65535, 65536, 65537, 65551, 131072, 200_001]) {
    assertRoundTrip(new Uint8Array(length));
    assertRoundTrip(random.bytes(length));
    assertRoundTrip(Uint8Array.from({ length }, (_, i) => (i * i) >>> 7));
  }
});

test("snappyDecompress() gives back repeats of all lengths at all distances", () => {
  const random = seededRandomness(4);
  for (let round = 0; round < 500; round++) {
    const parts: Uint8Array[] = [random.bytes(20 + draw(random, 3000))];
    for (let i = 0; i < 8; i++) {
      const all = concatBytes(...parts);
      const from = draw(random, all.length);
      parts.push(all.slice(from, from + draw(random, 200)), random.bytes(draw(random, 4)));
    }
    assertRoundTrip(concatBytes(...parts));
  }
});

test("snappyCompress() gives the same bytes whatever it compressed before", () => {
  const random = seededRandomness(5);
  const input = utf8("the same text, again and again, the same text ".repeat(50));
  const first = compress(input);
  for (let i = 0; i < 20; i++) {
    compress(random.bytes(draw(random, 5000)));
    compress(utf8("the same text ".repeat(draw(random, 300))));
    assert.deepEqual(compress(input), first);
  }
});

test("snappyCompress() makes repeats small and stays within its bound", () => {
  assert.ok(compress(new Uint8Array(64 * 1024)).length < 3300);
  assert.ok(compress(utf8("a line of a table, ".repeat(200))).length < 260);
  for (const length of [0, 1, 100, 5000, 70_000]) {
    assert.ok(compress(seededRandomness(length).bytes(length)).length <= maxSnappyBytes(length));
  }
});

test("snappyDecompress() takes every form of element", () => {
  const long = seededRandomness(6).bytes(70_000);
  const cases: [stream: string | Uint8Array, content: Uint8Array][] = [
    ["00", utf8("")],
    ["03 08 616263", utf8("abc")],
    // Copies with 1, 2 and 4 bytes of offset, each overlapping what it writes.
    ["09 04 6162 0d02", utf8("ababababa")],
    ["08 04 6162 1602 00", utf8("abababab")],
    ["08 04 6162 1702000000", utf8("abababab")],
    ["0b 00 61 2601 00", utf8("a".repeat(11))],
    // Literals whose length takes 1, 2, 3 and 4 bytes.
    [
      concatBytes(encodeVarint(200), Uint8Array.of(60 << 2, 199), long.subarray(0, 200)),
      long.subarray(0, 200),
    ],
    [
      concatBytes(encodeVarint(300), Uint8Array.of(61 << 2, 43, 1), long.subarray(0, 300)),
      long.subarray(0, 300),
    ],
    [concatBytes(encodeVarint(70_000), Uint8Array.of(62 << 2, 0x6f, 0x11, 1), long), long],
    [concatBytes(encodeVarint(70_000), Uint8Array.of(63 << 2, 0x6f, 0x11, 1, 0), long), long],
  ];
  for (const [stream, content] of cases) {
    const bytes = typeof stream === "string" ? fromHex(stream.replaceAll(" ", ""))! : stream;
    assert.deepEqual(new Uint8Array(snappyDecompress(bytes, LIMIT)), new Uint8Array(content));
  }
});

test("snappyDecompress() refuses streams that are not well-formed", () => {
  const streams: Record<string, string> = {
    "nothing at all": "",
    "a length without an end": "ffffffffff",
    "a length that goes on too long": "8080808080808080808001",
    "more content than it claims": "02 08 616263",
    "less content than it claims": "04 08 616263",
    "a literal beyond the input": "04 0c 616263",
    "a literal without its length": "04 f0",
    "a literal with a part of its length": "04 fc 0100",
    "a literal of 4 GiB": "04 fc ffffffff 61",
    "a copy without its offset": "08 04 6162 0d",
    "a copy with a part of its offset": "08 04 6162 16 02",
    "a copy with a part of its long offset": "08 04 6162 17 020000",
    "a copy from before the start": "08 04 6162 0d03",
    "a copy from nowhere": "08 04 6162 0d00",
    "a copy of the future": "08 0d01",
    "a copy beyond the end": "04 04 6162 1602 00",
  };
  for (const [what, stream] of Object.entries(streams)) {
    const bytes = fromHex(stream.replaceAll(" ", ""))!;
    assert.throws(() => snappyDecompress(bytes, LIMIT), MalformedError, what);
  }
});

test("snappyDecompress() takes no memory for a claim beyond the limit or beyond what the stream can hold", () => {
  const claim = (length: number, rest: number) => concatBytes(encodeVarint(length), new Uint8Array(rest));
  assert.throws(() => snappyDecompress(claim(LIMIT + 1, 4_000_000), LIMIT), /more than 67108864/);
  assert.throws(() => snappyDecompress(claim(2 ** 40, 10), LIMIT), /more than 67108864/);
  assert.throws(() => snappyDecompress(claim(LIMIT, 1000), LIMIT), /claims more than it can hold/);
  // Three bytes are a copy of 64 at best.
  assert.throws(() => snappyDecompress(claim(65, 3), LIMIT), /claims more than it can hold/);
});
