import assert from "node:assert/strict";
import { test } from "node:test";
import { concatBytes, utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import { type Randomness, seededRandomness } from "../../base/randomness.ts";
import { block, CraftedTable, entry, entryBytes, rawBlock, SET } from "../../tests/support/crafted_table.ts";
import { draw, randomRecords } from "../../tests/support/tables.ts";
import { Block, RECORD_TRAILER } from "./block.ts";
import { BlockBuilder } from "./block_builder.ts";
import { maskedCrc32c } from "./crc32c.ts";
import { RecordDecoder, type TableRecord, tableRecord } from "./records.ts";
import { maxSnappyBytes, snappyCompress } from "./snappy.ts";
import { loadTableKernel, MAX_STORED_BYTES, ROW_WORDS } from "./table_kernel.ts";

const kernel = loadTableKernel();

/** Returns a block as a file has it, made without the kernel. */
function stored(content: Uint8Array, compression: number): Uint8Array {
  const packed = new Uint8Array(maxSnappyBytes(content.length));
  const body = compression === 1 ? packed.slice(0, snappyCompress(content, packed)) : content;
  const summed = concatBytes(body, Uint8Array.of(compression));
  const sum = new Uint8Array(4);
  new DataView(sum.buffer).setUint32(0, maskedCrc32c(summed), true);
  return concatBytes(summed, sum);
}

function blockOf(records: readonly TableRecord[]): Uint8Array {
  const builder = new BlockBuilder({ restartInterval: 16, trailer: RECORD_TRAILER });
  for (const { key, value } of records) builder.add(key, value);
  return builder.finish().slice();
}

/** Opens blocks in the kernel; returns their records, and how many blocks it took. */
function opened(blocks: readonly Uint8Array[]): { records: TableRecord[]; taken: number } {
  kernel.begin(concatBytes(...blocks));
  let count = 0, taken = 0, at = 0;
  for (const { length } of blocks) {
    const records = kernel.open(at, length - 5);
    if (records < 0) break;
    count += records;
    taken++;
    at += length;
  }
  const keys = new Uint8Array(kernel.keysBytes), contents = new Uint8Array(kernel.contentBytes);
  const rows = new Int32Array(count * ROW_WORDS);
  kernel.copyKeys(keys);
  kernel.copyContents(contents);
  kernel.copyRows(rows, count);
  const records = Array.from({ length: count }, (_, i) => {
    const [keyEnd, valueStart, valueEnd] = rows.subarray(i * ROW_WORDS);
    const key = keys.slice(i === 0 ? 0 : rows[(i - 1) * ROW_WORDS], keyEnd);
    return { key, value: contents.slice(valueStart, valueEnd) };
  });
  return { records, taken };
}

function decoded(content: Uint8Array): TableRecord[] | undefined {
  try {
    const parsed = new Block(content, { keyForm: "record", place: { file: "f", offset: 0 } });
    return new RecordDecoder(parsed, { make: tableRecord }).next(Infinity)
      .map(({ key, value }) => ({ key, value: value.slice() }));
  } catch (error) {
    assert.ok(isCoded(error, "corrupt_file"), String(error));
    return undefined;
  }
}

function someRecords(random: Randomness, count: number): TableRecord[] {
  return randomRecords(random, count).map(({ key, value }) => ({
    key,
    value: draw(random, 9) === 0 ? random.bytes(draw(random, 20_000)) : value,
  }));
}

test("the kernel takes blocks apart to the records that they are made of", () => {
  const random = seededRandomness(1);
  for (let round = 0; round < 200; round++) {
    const parts = Array.from({ length: 1 + draw(random, 4) }, () => someRecords(random, draw(random, 30)));
    const blocks = parts.map((records) => stored(blockOf(records), draw(random, 2)));
    if (concatBytes(...blocks).length > MAX_STORED_BYTES) continue;
    const { records, taken } = opened(blocks);
    assert.deepEqual(records, parts.slice(0, taken).flat());
    assert.ok(
      taken === blocks.length || parts.flat().reduce((sum, { value }) => sum + value.length, 0) > 3e5,
    );
  }
});

test("of a changed block with a right checksum the kernel gives what a walk gives, or nothing", () => {
  const random = seededRandomness(2);
  const keys = ["a", "ab", "abc", "abd", "b", "ba", "bab", "d"];
  const sound = block(keys.map((key) => entry(key, `value of ${key}`.repeat(12))), [0, 3]);
  let taken = 0, refused = 0, unusual = 0;
  for (let i = 0; i < 4000; i++) {
    const changed = sound.slice();
    for (let n = 1 + draw(random, 2); n > 0; n--) changed[draw(random, changed.length)] = draw(random, 256);
    const result = opened([stored(changed, draw(random, 2))]);
    const expected = decoded(changed);
    if (result.taken === 1) assert.deepEqual(result.records, expected);
    if (result.taken === 1) taken++;
    else if (expected) unusual++;
    else refused++;
  }
  assert.ok(taken > 1000 && refused > 500 && unusual < 100, `${taken}, ${refused}, ${unusual}`);
});

test("the kernel refuses blocks whose checksum or stream is wrong", () => {
  const random = seededRandomness(3);
  const sound = stored(blockOf(randomRecords(random, 20)), 1);
  assert.equal(opened([sound]).taken, 1);
  for (let i = 0; i < sound.length; i++) {
    const changed = sound.slice();
    changed[i]! ^= 1 << draw(random, 8);
    assert.equal(opened([changed]).taken, 0, `byte ${i}`);
  }
  const noStream = new CraftedTable();
  const { length } = noStream.append(Uint8Array.of(100, 0, 1), 1);
  assert.equal(opened([noStream.finish({ index: [] }).subarray(0, length + 5)]).taken, 0);
});

test("the kernel leaves to others what it has no room for, and keys that share with a trailer", () => {
  const long = new Uint8Array(60_000).fill(97);
  const dense = Array.from({ length: 9 }, (_, i) => ({
    shared: i === 0 ? 0 : 60_000,
    rest: concatBytes(i === 0 ? long : new Uint8Array(0), Uint8Array.of(97 + i), SET),
    value: utf8("v"),
  }));
  assert.equal(opened([stored(rawBlock(concatBytes(...dense.map(entryBytes)), [0]), 1)]).taken, 0);
  const zeros = stored(blockOf([{ key: utf8("k"), value: new Uint8Array(600_000) }]), 1);
  assert.equal(opened([zeros]).taken, 0);

  const behind = { shared: 2, rest: concatBytes(utf8("b"), SET), value: utf8("2") };
  const trailing = rawBlock(concatBytes(entryBytes(entry("a", "1")), entryBytes(behind)), [0]);
  assert.equal(decoded(trailing)!.length, 2);
  assert.equal(opened([stored(trailing, 0)]).taken, 0);
});

test("the kernel stores a block as it is stored without it", () => {
  const random = seededRandomness(4);
  const contents = [
    new Uint8Array(0),
    random.bytes(5000),
    new Uint8Array(64 * 1024),
    random.bytes(64 * 1024),
  ];
  for (let i = 0; i < 300; i++) contents.push(blockOf(randomRecords(random, draw(random, 60))));
  for (const content of contents) {
    assert.ok(kernel.fitsStore(content.length));
    const output = new Uint8Array(maxSnappyBytes(content.length) + 5);
    const end = kernel.store(content, output);
    const packed = snappyCompress(content, new Uint8Array(maxSnappyBytes(content.length)));
    const isSmaller = packed < content.length - Math.floor(content.length / 8);
    assert.deepEqual(output.subarray(0, end), stored(content, isSmaller ? 1 : 0));
  }
  assert.equal(kernel.fitsStore(64 * 1024 + 1), false);
});

test("the kernel knows keys that are ASCII from others", () => {
  for (
    const [key, expected] of [["abcdefghij", true], ["abcdefghié", false], ["é", false], ["", true]] as const
  ) {
    opened([stored(blockOf([{ key: utf8(key), value: utf8("ü") }]), 0)]);
    assert.equal(kernel.hasAsciiKeys, expected, key);
  }
});
