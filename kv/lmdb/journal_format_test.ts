import assert from "node:assert/strict";
import { test } from "node:test";
import { concatBytes, fromHex, hex, utf8 } from "../../base/bytes.ts";
import { crc32 } from "../../base/platform.ts";
import { seededRandomness } from "../../base/randomness.ts";
import {
  END_AT,
  HEADER_BYTES,
  makeEnd,
  makeHeader,
  makeRecord,
  parseEnd,
  parseHeader,
  readRecords,
  recordBytes,
  sealRecord,
} from "./journal_format.ts";
import type { StoredEntry } from "./page_tree.ts";

const BASIS = { transaction: 0x1_0000_0007, fingerprint: 0xdeadbeef };
const SALT = Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8);
const HEADER = makeHeader(BASIS, SALT);
const SUM = parseHeader(HEADER)!.sum;
/** Made by a few lines of Python (`struct`, `zlib.crc32`) from docs/format.md. */
const VECTOR = "7461726e6a726e6c" + "01000000" + "efbeadde" + "0700000001000000" + "0102030405060708" +
  "caeea268" + "00000000" + "40000000" + "8aeea268" + "40000000" + "8aeea268" + "00".repeat(8) +
  "38e56d8b" + "14000000" + "0300" + "01000000" + "01706b" + "76" + "0400" + "00000000" + "01706b32";

function entry(key: string, value: string): StoredEntry {
  return { key: utf8(key), value: utf8(value) };
}

function endIn(bytes: Uint8Array, sum: number): number | undefined {
  return parseEnd(new DataView(bytes.buffer), END_AT, sum);
}

/** Returns records, each to follow the one before it. */
function sealed(records: readonly (readonly StoredEntry[])[], first = SUM): Uint8Array[] {
  let previous = first;
  return records.map((entries) => {
    const record = makeRecord(entries);
    assert.equal(record.length, recordBytes(entries));
    previous = sealRecord(record, previous);
    return record;
  });
}

function read(bytes: Uint8Array, previous = SUM): { length: number; entries: string[] } {
  const entries: string[] = [];
  const { length } = readRecords(bytes, previous, (key, value) => {
    entries.push(`${new TextDecoder().decode(key)}=${new TextDecoder().decode(value)}`);
  });
  return { length, entries };
}

test("a journal's bytes are those that docs/format.md tells", () => {
  const [record] = sealed([[entry("\x01pk", "v"), entry("\x01pk2", "")]]);
  assert.equal(hex(concatBytes(HEADER, record!)), VECTOR);
  const bytes = fromHex(VECTOR)!;
  assert.deepEqual(parseHeader(bytes), { ...BASIS, sum: SUM });
  assert.equal(endIn(bytes, SUM), HEADER_BYTES);
  assert.deepEqual(read(bytes.subarray(HEADER_BYTES)).entries, ["\x01pk=v", "\x01pk2="]);
});

test("a header in which any bit is another is none, or is refused", () => {
  for (let bit = 0; bit < 36 * 8; bit++) {
    const bytes = HEADER.slice();
    bytes[bit >> 3]! ^= 1 << (bit & 7);
    assert.equal(parseHeader(bytes), undefined, `bit ${bit}`);
  }
  const later = HEADER.slice();
  later[8] = 2;
  new DataView(later.buffer).setUint32(32, crc32(later.subarray(0, 32)), true);
  assert.throws(() => parseHeader(later), /format that is not known/);
});

test("an end that was written for another header, or half, is none", () => {
  const other = makeHeader({ ...BASIS, transaction: BASIS.transaction + 1 }, SALT);
  const mixed = concatBytes(other.subarray(0, END_AT), HEADER.subarray(END_AT));
  assert.equal(endIn(mixed, parseHeader(mixed)!.sum), undefined);
  const [before, after] = [makeEnd(0x1234, SUM), makeEnd(0x5678, SUM)];
  for (let at = 1; at < before.length; at++) {
    const half = HEADER.slice();
    half.set(concatBytes(after.subarray(0, at), before.subarray(at)), END_AT);
    const end = endIn(half, SUM);
    assert.ok(end === undefined || end === 0x1234 || end === 0x5678, `${at}: ${end}`);
  }
});

const RECORDS = [
  [entry("\x01pa", "1")],
  [entry("\x01pb", "2"), entry("\x01pc", "3".repeat(50))],
  [entry("\x01pd", "")],
];
/** What there is of these records, by how many are whole. */
const SHOWN = [0, 1, 3, 4];

test("of records that were cut at any byte the whole ones are read", () => {
  const records = sealed(RECORDS);
  const bytes = concatBytes(...records);
  const all = read(bytes);
  assert.deepEqual([all.length, all.entries.length], [bytes.length, 4]);
  for (let length = 0; length <= bytes.length; length++) {
    let whole = 0, end = 0;
    while (whole < 3 && end + records[whole]!.length <= length) end += records[whole++]!.length;
    const found = read(bytes.subarray(0, length));
    assert.deepEqual(found, { length: end, entries: all.entries.slice(0, SHOWN[whole]) });
  }
});

test("of records in which a bit is another those before it are read", () => {
  const records = sealed(RECORDS);
  const bytes = concatBytes(...records);
  const all = read(bytes);
  const ends = records.map((_, i) => records.slice(0, i + 1).reduce((sum, { length }) => sum + length, 0));
  for (let bit = 0; bit < bytes.length * 8; bit++) {
    const changed = bytes.slice();
    changed[bit >> 3]! ^= 1 << (bit & 7);
    const whole = ends.filter((end) => end <= bit >> 3).length;
    assert.deepEqual(read(changed).entries, all.entries.slice(0, SHOWN[whole]), `bit ${bit}`);
  }
});

test("a record is none behind another one than that which it was written behind", () => {
  const [first, second] = sealed([[entry("\x01pa", "1")], [entry("\x01pb", "2")]]);
  const [instead] = sealed([[entry("\x01pa", "!")]]);
  assert.equal(instead!.length, first!.length);
  assert.deepEqual(read(concatBytes(instead!, second!)).entries, ["\x01pa=!"]);
  assert.deepEqual(read(second!).entries, []);
  const salted = parseHeader(makeHeader(BASIS, seededRandomness(1).bytes(8)))!.sum;
  assert.deepEqual(
    read(concatBytes(first!, second!), salted).entries,
    [],
    "nor in a journal that was begun anew",
  );
});

test("random bytes are no records, and nonsense with a true sum is refused", () => {
  const chance = seededRandomness(2);
  for (let run = 0; run < 2000; run++) {
    assert.deepEqual(read(chance.bytes(Math.floor(chance.fraction() * 100))), { length: 0, entries: [] });
  }
  const nonsense = [
    "ffff00000000",
    "0000" + "01000000" + "76",
    "0300" + "ffffffff" + "01706b",
    "00",
    "0300" + "00000000" + "00706b",
  ];
  for (const body of nonsense) {
    const record = new Uint8Array(8 + body.length / 2);
    new DataView(record.buffer).setUint32(4, body.length / 2, true);
    record.set(fromHex(body)!, 8);
    sealRecord(record, SUM);
    assert.throws(() => read(record), /what is no entry/, body);
  }
});
