import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { concatBytes, utf8 } from "../../base/bytes.ts";
import { type Randomness, seededRandomness } from "../../base/randomness.ts";
import { assemble } from "../../scripts/wat.ts";
import { draw } from "../../tests/support/tables.ts";
import { MalformedError } from "./malformed.ts";
import { maxSnappyBytes } from "./snappy.ts";
import { compressElements, decompressElements } from "./snappy_elements.ts";
import { KERNEL_CODE } from "./kernel_code.ts";
import { loadSnappyKernel } from "./snappy_kernel.ts";

const kernel = loadSnappyKernel();

function inKernel(input: Uint8Array, at = 0): Uint8Array {
  const output = new Uint8Array(maxSnappyBytes(input.length) + at);
  return output.slice(at, kernel.compress(input, output, at));
}

function inScript(input: Uint8Array): Uint8Array {
  const output = new Uint8Array(maxSnappyBytes(input.length));
  return output.slice(0, compressElements(input, output, 0));
}

/** Text that repeats itself at all distances and lengths, with noise in between. */
function repetitive(random: Randomness, length: number): Uint8Array {
  let all: Uint8Array = random.bytes(1 + draw(random, 50));
  while (all.length < length) {
    const from = draw(random, all.length);
    const run = draw(random, 8) === 0 ? 300 : 30;
    all = concatBytes(all, all.slice(from, from + draw(random, run)), random.bytes(draw(random, 12)));
  }
  return all.slice(0, length);
}

test("the kernel's code is what its text assembles to", () => {
  const texts = ["snappy_kernel.wat", "table_kernel.wat"]
    .map((name) => readFileSync(new URL(name, import.meta.url), "utf8"));
  assert.equal(Buffer.from(assemble(...texts)).toString("base64"), KERNEL_CODE);
});

test("the kernel compresses to the same bytes as the script", () => {
  const random = seededRandomness(1);
  const inputs = [new Uint8Array(70_000), utf8("ab".repeat(500)), random.bytes(66_000)];
  for (let length = 0; length < 100; length++) {
    inputs.push(repetitive(random, length), new Uint8Array(length));
  }
  for (let i = 0; i < 300; i++) inputs.push(repetitive(random, draw(random, 6000)));
  for (const length of [65_535, 65_536, 65_537, 65_551, 131_072, 250_000]) {
    inputs.push(
      repetitive(random, 3000),
      new Uint8Array(length).map((_, i) => (i * i) >>> 7),
      random.bytes(length),
    );
  }
  for (const input of inputs) {
    assert.ok(kernel.fitsCompressed(input.length));
    assert.deepEqual(inKernel(input, draw(random, 5)), inScript(input));
  }
});

test("the kernel has room for what it says fits", () => {
  let most = 1024;
  while (kernel.fitsCompressed(most + 1024)) most += 1024;
  assert.ok(most > 200_000);
  const noise = seededRandomness(2).bytes(most);
  const elements = inKernel(noise);
  assert.ok(kernel.fitsDecompressed(elements.length, most) || elements.length > most);
  assert.deepEqual(elements, inScript(noise));
  const zeros = new Uint8Array(500_000);
  const packed = inScript(zeros);
  assert.ok(kernel.fitsDecompressed(packed.length, zeros.length));
  assert.deepEqual(kernel.decompress(packed, 0, { length: zeros.length, memory: undefined }), zeros);
});

test("the kernel decompresses what the script does, and complains of the same streams in the same words", () => {
  const random = seededRandomness(3);
  let sound = 0, refused = 0;
  for (let i = 0; i < 6000; i++) {
    const input = repetitive(random, draw(random, 400));
    const stream = i % 3 === 0 ? random.bytes(draw(random, 30)) : inScript(input);
    for (let n = draw(random, 3); n > 0 && stream.length > 0; n--) {
      stream[draw(random, stream.length)]! ^= 1 << draw(random, 8);
    }
    const length = draw(random, 3) === 0 ? draw(random, 500) : input.length;
    const script = outcome(() => {
      const output = new Uint8Array(length);
      decompressElements(stream, output);
      return output;
    });
    const front = draw(random, 4);
    const given = concatBytes(random.bytes(front), stream);
    assert.deepEqual(outcome(() => kernel.decompress(given, front, { length, memory: undefined })), script);
    if (typeof script === "string") refused++;
    else sound++;
  }
  assert.ok(sound > 1000 && refused > 1000, `${sound} sound, ${refused} refused`);
});

test("blocks may take each other's place in a memory that grows, each as an array of its own", () => {
  const random = seededRandomness(4);
  const memory = { bytes: new Uint8Array(0) };
  let last: Uint8Array | undefined;
  for (const length of [10, 5000, 5000, 200_000, 0, 300]) {
    const input = repetitive(random, length);
    const output = kernel.decompress(inScript(input), 0, { length, memory });
    assert.deepEqual(output, input);
    assert.equal(output.buffer, memory.bytes.buffer);
    assert.notEqual(output, last);
    last = output;
  }
});

function outcome(run: () => Uint8Array): Uint8Array | string {
  try {
    return run();
  } catch (error) {
    assert.ok(error instanceof MalformedError, String(error));
    return error.message;
  }
}
