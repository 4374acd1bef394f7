import assert from "node:assert/strict";
import { createZstdCompress, zstdCompressSync } from "node:zlib";
import { test } from "node:test";
import { concatBytes } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { encodeVarint } from "./varint.ts";
import { zstdCompress, zstdDecompress } from "./zstd.ts";

const MAX = 1024 * 1024;
/** Of each form in which a frame tells a length: one byte, two, four. */
const LENGTHS = [0, 1, 255, 256, 257, 65_791, 65_792, 300_000];

function content(length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (i >> 4) & 0xff);
}

test("what was compressed comes back, of every length that a frame tells in another form", () => {
  for (const length of LENGTHS) {
    assert.deepEqual(zstdDecompress(zstdCompress(content(length)), MAX), content(length));
  }
  const noise = seededRandomness(1).bytes(100_000);
  assert.deepEqual(zstdDecompress(zstdCompress(noise), MAX), noise);
});

test("a frame that tells no length is read, within the length that was claimed", async () => {
  const bytes = content(100_000);
  const frame = await streamed(bytes);
  assert.deepEqual(zstdDecompress(concatBytes(encodeVarint(bytes.length), frame), MAX), bytes);
  for (const claimed of [0, 1, 99_999, 100_001]) {
    assert.throws(() => zstdDecompress(concatBytes(encodeVarint(claimed), frame), MAX), /Zstandard data/);
  }
});

test("a frame that tells another length than was claimed is refused, and so is what is no frame", () => {
  const frame = new Uint8Array(zstdCompressSync(content(1000)));
  for (const claimed of [0, 999, 1001, MAX]) {
    assert.throws(() => zstdDecompress(concatBytes(encodeVarint(claimed), frame), MAX), /Zstandard data/);
  }
  assert.throws(() => zstdDecompress(concatBytes(encodeVarint(MAX + 1), frame), MAX), /more than/);
  for (let end = 0; end < frame.length; end++) {
    const cut = concatBytes(encodeVarint(1000), frame.subarray(0, end));
    assert.throws(() => zstdDecompress(cut, MAX), /Zstandard data/);
  }
});

test("a frame whose length was falsified gives no more than it then tells", () => {
  const frame = new Uint8Array(zstdCompressSync(content(1000)));
  for (let bit = 0; bit < 16; bit++) {
    const wrong = frame.slice();
    // Of 1,000 bytes the length stands in two bytes, behind magic and descriptor.
    wrong[5 + (bit >> 3)]! ^= 1 << (bit & 7);
    const claimed = 256 + wrong[5]! + wrong[6]! * 256;
    assert.throws(() => zstdDecompress(concatBytes(encodeVarint(claimed), wrong), MAX), /Zstandard data/);
  }
});

async function streamed(bytes: Uint8Array): Promise<Uint8Array> {
  const stream = createZstdCompress();
  const pieces: Uint8Array[] = [];
  stream.on("data", (piece: Uint8Array) => pieces.push(piece));
  const ended = new Promise((resolve) => stream.on("end", resolve));
  stream.write(bytes.subarray(0, 1000));
  stream.end(bytes.subarray(1000));
  await ended;
  return concatBytes(...pieces);
}
