import assert from "node:assert/strict";
import { test } from "node:test";
import { compareBytes, concatBytes, EMPTY_BYTES, utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import { MAX_TABLE_KEY_BYTES } from "../../base/limits.ts";
import { type Randomness, seededRandomness } from "../../base/randomness.ts";
import {
  block,
  type CraftedEntry,
  entry,
  entryBytes,
  rawBlock,
  SET,
} from "../../tests/support/crafted_table.ts";
import { draw, numberedRecords, probesOf, randomRecords } from "../../tests/support/tables.ts";
import { Block, BlockCursor, type KeyForm, RECORD_TRAILER } from "./block.ts";
import { BlockCache, CachedBlocks } from "./block_cache.ts";
import { BlockBuilder } from "./block_builder.ts";
import { RecordDecoder, type TableRecord, tableRecord } from "./records.ts";

function open(bytes: Uint8Array, keyForm: KeyForm = "record"): Block {
  return new Block(bytes, { keyForm, place: { file: "test.sst", offset: 77 } });
}

function build(records: readonly TableRecord[], restartInterval = 16): Block {
  const builder = new BlockBuilder({ restartInterval, trailer: RECORD_TRAILER });
  for (const { key, value } of records) builder.add(key, value);
  return open(builder.finish().slice());
}

function decode(block: Block, start?: Uint8Array): TableRecord[] {
  return new RecordDecoder(block, { start, make: tableRecord }).next(Infinity).map(({ key, value }) => ({
    key,
    value: value.slice(),
  }));
}

/** Encodes records as a foreign writer might: sharing less than it could, or a part of the trailer, at odd restarts. */
function encodeOddly(records: readonly TableRecord[], random: Randomness): Uint8Array {
  const restarts: number[] = [];
  const entries: CraftedEntry[] = [];
  let last: Uint8Array = EMPTY_BYTES;
  for (const [i, { key, value }] of records.entries()) {
    const internal = concatBytes(key, SET);
    let shared = 0;
    while (shared < last.length && shared < internal.length && last[shared] === internal[shared]) shared++;
    if (i === 0 || random.fraction() < 0.2) {
      restarts.push(i);
      shared = 0;
    } else if (random.fraction() < 0.5) {
      shared = draw(random, shared + 1);
    }
    entries.push({ shared, rest: internal.subarray(shared), value });
    last = internal;
  }
  return block(entries, restarts);
}

function assertSeeks(block: Block, records: readonly TableRecord[]): void {
  const cache = new BlockCache(4_000_000), cached = new CachedBlocks(1);
  if (block.keyForm === "record") cache.add(cached, 0, block);
  for (const probe of probesOf(records)) {
    const expected = records.filter(({ key }) => compareBytes(key, probe) >= 0);
    if (cached.has(0)) {
      const found = cache.find(cached, 0, { key: probe, prefix: 0 });
      const isThere = expected.length > 0 && compareBytes(expected[0]!.key, probe) === 0;
      assert.deepEqual(
        found?.valueBytes.slice(found.valueStart, found.valueEnd),
        isThere ? expected[0]!.value : undefined,
      );
    }
    const cursor = new BlockCursor(block);
    const order = cursor.seek(probe);
    if (expected.length === 0) {
      assert.equal(order, -1);
    } else {
      assert.equal(order === 0, compareBytes(expected[0]!.key, probe) === 0);
      assert.ok(order >= 0);
      assert.deepEqual(cursor.value().slice(), expected[0]!.value);
    }
    assert.deepEqual(
      new RecordDecoder(block, { start: probe, make: tableRecord }).next(1).map(({ key }) => key),
      expected.slice(0, 1).map((r) => r.key),
    );
  }
}

test("a block gives back its entries in order", () => {
  for (const count of [0, 1, 15, 16, 17, 32, 100]) {
    const records = numberedRecords(0, count);
    assert.deepEqual(decode(build(records)), records);
  }
});

test("a block writes a whole key at every restart point and only there", () => {
  const builder = new BlockBuilder({ restartInterval: 2, trailer: EMPTY_BYTES });
  for (const key of ["aa", "ab", "abc", "abd"]) builder.add(utf8(key), utf8("v"));
  const expected = rawBlock(
    concatBytes(
      entryBytes({ rest: utf8("aa"), value: utf8("v") }),
      entryBytes({ shared: 1, rest: utf8("b"), value: utf8("v") }),
      entryBytes({ rest: utf8("abc"), value: utf8("v") }),
      entryBytes({ shared: 2, rest: utf8("d"), value: utf8("v") }),
    ),
    [0, 11],
  );
  assert.deepEqual(builder.finish().slice(), expected);
});

test("seek() finds each key, and the next one for keys between, around restart points too", () => {
  for (const count of [0, 1, 15, 16, 17, 33, 64]) {
    for (const interval of [1, 2, 16]) {
      const records = numberedRecords(0, count);
      assertSeeks(build(records, interval), records);
    }
  }
});

test("seek() and decoding agree with the list of records on random blocks of any writer", () => {
  for (let seed = 0; seed < 150; seed++) {
    const random = seededRandomness(seed);
    const records = randomRecords(random, 1 + draw(random, 60));
    assertSeeks(build(records), records);
    const odd = open(encodeOddly(records, random));
    assert.deepEqual(decode(odd), records, `seed ${seed}`);
    assertSeeks(odd, records);
  }
});

test("a key may share bytes of the trailer before it", () => {
  // "a" with its trailer is 61 01 00 00 00 00 00 00 00; "a\x01\x00" shares three bytes of it.
  const odd = open(block([
    entry("a", "1"),
    { shared: 3, rest: SET, value: utf8("2") },
    { shared: 3, rest: concatBytes(Uint8Array.of(9), SET), value: utf8("3") },
  ]));
  const records = [
    { key: utf8("a"), value: utf8("1") },
    { key: utf8("a\x01\x00"), value: utf8("2") },
    { key: utf8("a\x01\x00\x09"), value: utf8("3") },
  ];
  assert.deepEqual(decode(odd), records);
  assertSeeks(odd, records);
});

test("next() gives portions, and a key that continues from one to the next is whole", () => {
  const records = numberedRecords(0, 50);
  const decoder = new RecordDecoder(build(records), { make: tableRecord });
  const portions: number[] = [];
  const keys: Uint8Array[] = [];
  for (let step = decoder.next(7); step.length > 0; step = decoder.next(7)) {
    portions.push(step.length);
    keys.push(...step.map(({ key }) => key));
  }
  assert.deepEqual(portions, [7, 7, 7, 7, 7, 7, 7, 1]);
  assert.deepEqual(keys, records.map(({ key }) => key));
});

test("add() copies what it is given", () => {
  const builder = new BlockBuilder({ restartInterval: 16, trailer: RECORD_TRAILER });
  const key = utf8("key-0"), value = utf8("value-0");
  for (let i = 0; i < 10; i++) {
    key[4] = value[6] = 0x30 + i;
    builder.add(key, value);
  }
  const records = decode(open(builder.finish()));
  assert.deepEqual(
    records.map((record) => record.key),
    Array.from({ length: 10 }, (_, i) => utf8(`key-${i}`)),
  );
  assert.deepEqual(
    records.map((record) => record.value),
    Array.from({ length: 10 }, (_, i) => utf8(`value-${i}`)),
  );
});

test("add() refuses a key that does not sort after the last one, in the next block too", () => {
  for (const [first, second] of [["b", "a"], ["b", "b"], ["bb", "b"], ["", ""], ["a\xff", "a"]]) {
    const builder = new BlockBuilder({ restartInterval: 1, trailer: RECORD_TRAILER });
    builder.add(utf8(first!), EMPTY_BYTES);
    assert.throws(() => builder.add(utf8(second!), EMPTY_BYTES), (error) => isCoded(error, "internal"));
    builder.finish();
    assert.throws(() => builder.add(utf8(second!), EMPTY_BYTES), (error) => isCoded(error, "internal"));
  }
});

test("damage in a block is corrupt with the block's place", () => {
  const a = entry("a", "1"), b = entry("b", "2");
  const deletion = Uint8Array.of(0, 0, 0, 0, 0, 0, 0, 0),
    laterVersion = Uint8Array.of(1, 1, 0, 0, 0, 0, 0, 0);
  const damaged: Record<string, Uint8Array> = {
    "nothing": EMPTY_BYTES,
    "half a restart point": new Uint8Array(6),
    "no restart points": rawBlock(entryBytes(a), [], 0),
    "more restart points than bytes": rawBlock(entryBytes(a), [0], 100),
    "a first restart point elsewhere": rawBlock(entryBytes(a), [3]),
    "four billion restart points": rawBlock(entryBytes(a), [0], 0xffff_ffff),
    "a first entry that shares": block([{ shared: 1, rest: SET, value: EMPTY_BYTES }]),
    "an entry that shares more than there is": block([a, { shared: 10, rest: SET, value: EMPTY_BYTES }]),
    "a key without a trailer": block([{ rest: utf8("short"), value: EMPTY_BYTES }]),
    "a key beyond the block": rawBlock(Uint8Array.of(0, 50, 0, 1, 2, 3), [0]),
    "a value beyond the block": rawBlock(Uint8Array.of(0, 8, 50, ...SET), [0]),
    "a length without an end": rawBlock(Uint8Array.of(0xff, 0xff, 0xff), [0]),
    "a length of 2^35": rawBlock(Uint8Array.of(0, 0xff, 0xff, 0xff, 0xff, 0x7f, 0), [0]),
    "keys out of order": block([b, a]),
    "a key twice": block([a, a]),
    "a key before the one it extends": block([entry("ab", ""), entry("a", "")]),
    "a deletion": block([entry("a", "", deletion)]),
    "a later version": block([entry("a", "", laterVersion)]),
    "a key beyond the limit": block([entry(new Uint8Array(MAX_TABLE_KEY_BYTES + 1), "")]),
  };
  for (const [what, bytes] of Object.entries(damaged)) {
    assert.throws(
      () => decode(open(bytes)),
      (error) =>
        isCoded(error, "corrupt_file") && error.details["offset"] === 77 &&
        error.details["file"] === "test.sst",
      what,
    );
  }
});

test("a restart point that is none is corrupt when a search meets it", () => {
  const entries = [entry("a", "1"), { shared: 1, rest: concatBytes(utf8("b"), SET), value: utf8("2") }];
  const inEntry = rawBlock(concatBytes(...entries.map(entryBytes)), [0, 13]);
  const beyond = rawBlock(concatBytes(...entries.map(entryBytes)), [0, 1000]);
  const atEnd = rawBlock(entryBytes(entries[0]!), [0, entryBytes(entries[0]!).length]);
  for (const bytes of [inEntry, beyond, atEnd]) {
    assert.throws(
      () => new BlockCursor(open(bytes)).seek(utf8("z")),
      (error) => isCoded(error, "corrupt_file"),
    );
  }
});

test("a separator without a trailer is corrupt", () => {
  const short = open(block([{ rest: utf8("short"), value: EMPTY_BYTES }]), "separator");
  assert.throws(() => decode(short), (error) => isCoded(error, "corrupt_file"));
  assert.throws(() => new BlockCursor(short).seek(utf8("")), (error) => isCoded(error, "corrupt_file"));
});

test("few bytes cannot stand for endless keys", () => {
  // Each entry takes about 20 bytes and stands for a key of 60 KiB: together 117 MiB.
  const entries: CraftedEntry[] = [entry(new Uint8Array(60 * 1024), "")];
  for (let i = 1; i < 2000; i++) {
    entries.push({
      shared: 60 * 1024 - 2,
      rest: Uint8Array.of(i >> 8, i & 0xff, ...SET),
      value: EMPTY_BYTES,
    });
  }
  const decoder = new RecordDecoder(open(rawBlock(concatBytes(...entries.map(entryBytes)), [0])), {
    make: tableRecord,
  });
  assert.throws(() => {
    while (decoder.next(100).length > 0);
  }, /keys that take more than a block may/);
});

test("a plain block's keys have no trailer", () => {
  const builder = new BlockBuilder({ restartInterval: 1000, trailer: EMPTY_BYTES });
  builder.add(utf8("a"), utf8("1"));
  builder.add(utf8("abc"), utf8("2"));
  const plain = open(builder.finish(), "plain");
  assert.deepEqual(decode(plain), [{ key: utf8("a"), value: utf8("1") }, {
    key: utf8("abc"),
    value: utf8("2"),
  }]);
});
