import assert from "node:assert/strict";
import { test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import { concatBytes, utf8 } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { ProtobufWriter } from "../../base/protobuf.ts";
import { type Randomness, seededRandomness } from "../../base/randomness.ts";
import { encodeEntry, type Entry, entryWeight } from "./entry.ts";
import { EntryFields } from "./entry_fields.ts";
import { decodeGenerally, EntryReader } from "./entry_reader.ts";

const KEY = utf8("some/key");
/** Field 15, unknown to entries: with it in front, the general way is taken through the rest. */
const UNKNOWN_FIELD = Uint8Array.from([0x78, 1]);

test("what we write has the form that is read in one pass", () => {
  const random = seededRandomness(1);
  for (let i = 0; i < 500; i++) assert.ok(new EntryFields().find(encodeEntry(randomEntry(random))));
});

test("a reader gives of every entry what the general decoder gives, in one form or another", () => {
  const random = seededRandomness(2);
  const reader = new EntryReader();
  for (let i = 0; i < 2000; i++) {
    const entry = randomEntry(random);
    const data = encodeEntry(entry);
    assert.deepEqual(reader.read(data).entry(), entry);
    assert.deepEqual(reader.read(concatBytes(UNKNOWN_FIELD, data)).entry(), entry);
    const { sizeBytes, address, addressType, etag, lastModified, contentType, metadata, sha256 } = reader
      .read(data);
    const fields = { sizeBytes, address, addressType, etag, lastModified, contentType, metadata };
    assert.deepEqual({ ...fields, ...(sha256 ? { sha256 } : {}) }, entry);
  }
});

test("of bytes with planted damage a reader says exactly what the general decoder says", () => {
  const random = seededRandomness(3);
  const reader = new EntryReader();
  let sound = 0, refused = 0;
  for (let i = 0; i < 6_000; i++) {
    const data = damaged(encodeEntry(randomEntry(random)), random);
    const general = outcome(() => decodeGenerally(data, "file"));
    agree(data, outcome(() => reader.read(data, "file").entry()), general);
    const weight = outcome(() => entryWeight({ key: KEY, identity: data, data }));
    const behind = concatBytes(UNKNOWN_FIELD, data);
    agree(data, weight, outcome(() => entryWeight({ key: KEY, identity: behind, data: behind })));
    if (general instanceof CodedError) refused++;
    else sound++;
  }
  assert.ok(sound > 600 && refused > 600, `${sound} sound, ${refused} refused`);
});

test("of bytes drawn at random, too", () => {
  const random = seededRandomness(4);
  const tags = [
    0x0a,
    0x12,
    0x18,
    0x22,
    0x2a,
    0x30,
    0x3a,
    0xa2,
    0x06,
    0x20,
    0x08,
    0x10,
    0,
    1,
    2,
    3,
    0x80,
    0xff,
  ];
  const reader = new EntryReader();
  for (let i = 0; i < 20_000; i++) {
    const data = random.bytes(Math.floor(random.fraction() * 14)).map((byte) => tags[byte % tags.length]!);
    const read = outcome(() => reader.read(data, "file").entry());
    agree(data, read, outcome(() => decodeGenerally(data, "file")));
  }
});

test("a getter fails for a text that is not UTF-8, and the others do not", () => {
  const data = new ProtobufWriter().bytes(1, Uint8Array.from([0xff])).uint(3, 7).string(4, "tag").finish();
  const reader = new EntryReader().read(data, "file");
  assert.equal(reader.sizeBytes, 7);
  assert.equal(reader.etag, "tag");
  assert.throws(() => reader.address, { code: "corrupt_file", details: { file: "file", offset: 0 } });
});

test("a content type is not taken for its neighbour's because of equal bytes that are no ASCII", () => {
  const reader = new EntryReader();
  assert.equal(reader.read(encodeEntry({ ...PLAIN, contentType: "é" })).contentType, "é");
  const stray = new ProtobufWriter().bytes(7, Uint8Array.from([0xe9])).finish();
  assert.throws(() => reader.read(stray).contentType, { code: "corrupt_file" });
  assert.equal(reader.read(encodeEntry({ ...PLAIN, contentType: "text/plain" })).contentType, "text/plain");
  assert.equal(reader.read(encodeEntry({ ...PLAIN, contentType: "text/plaid" })).contentType, "text/plaid");
  assert.equal(reader.read(encodeEntry(PLAIN)).contentType, "");
});

test("a reader gives of entries that lie among others what it gives of each alone", () => {
  const random = seededRandomness(5);
  for (const noise of [3, 40_000]) {
    const entries = Array.from({ length: 60 }, () => randomEntry(random));
    const parts = entries.flatMap((entry) => [random.bytes(1 + noise), encodeEntry(entry)]);
    const bytes = concatBytes(...parts);
    const reader = new EntryReader();
    let at = 0;
    for (let i = 0; i < parts.length; i++) {
      const dataStart = at;
      at += parts[i]!.length;
      if (i % 2 === 0) continue;
      const read = reader.readAt({ bytes, dataStart, dataEnd: at });
      assert.deepEqual(read.entry(), entries[(i - 1) / 2]);
    }
  }
});

test("what is wrong with an entry among others is told as if it were alone", () => {
  const random = seededRandomness(6);
  const reader = new EntryReader();
  for (let i = 0; i < 2000; i++) {
    const data = damaged(encodeEntry(randomEntry(random)), random);
    const bytes = concatBytes(random.bytes(9), data, random.bytes(9));
    const place = { bytes, dataStart: 9, dataEnd: 9 + data.length };
    agree(data, outcome(() => reader.readAt(place, "x").entry()), outcome(() => decodeGenerally(data, "x")));
  }
});

test("fields that stand twice weigh and count as the general way has it", () => {
  const twice = new ProtobufWriter().string(7, "abc").string(7, "de").string(1, "x").string(1, "yz").finish();
  assert.equal(entryWeight({ key: KEY, identity: twice, data: twice }), KEY.length + 96 + 5);
  const { contentType, address } = new EntryReader().read(twice);
  assert.deepEqual([contentType, address], ["de", "yz"]);
});

const PLAIN: Entry = {
  address: "a",
  addressType: 1,
  lastModified: { seconds: 1, nanos: 2 },
  sizeBytes: 3,
  etag: "e",
  metadata: {},
  contentType: "",
};

function randomEntry(random: Randomness): Entry {
  const below = (bound: number) => Math.floor(random.fraction() * bound);
  const text = (longest: number) =>
    Array.from({ length: below(longest) }, () => "abc/%é😀\u0000"[below(7)]!).join("").toWellFormed();
  const metadata = Object.fromEntries(
    Array.from({ length: below(4) < 3 ? 0 : below(4) }, () => [text(5) + below(10), text(200)] as const),
  );
  return {
    address: below(2) ? `data/${text(30)}` : "data/0a/bc/0123456789abcdef",
    addressType: below(3) as 0 | 1 | 2,
    lastModified: { seconds: below(10) ? below(2 ** 33) : 0, nanos: below(1e9) },
    sizeBytes: below(2) ? below(1e6) : below(2 ** 50),
    etag: below(2) ? text(40) : "5eb63bbbe01eeed093cb22bb8f5acdc3",
    metadata,
    contentType: ["", "text/plain", "application/octet-stream", text(5)][below(4)]!,
    ...(below(2) ? { sha256: random.bytes(32) } : {}),
  };
}

/** Changes, cuts, repeats or puts in some bytes, mostly near the start of a field. */
function damaged(data: Uint8Array, random: Randomness): Uint8Array {
  const at = Math.floor(random.fraction() * (data.length + 1));
  const some = random.bytes(1 + Math.floor(random.fraction() * 3));
  switch (Math.floor(random.fraction() * 5)) {
    case 0:
      return data.subarray(0, at);
    case 1:
      return concatBytes(data.subarray(0, at), some, data.subarray(at));
    case 2:
      return concatBytes(data.subarray(0, at), data.subarray(Math.min(data.length, at + some.length)));
    case 3:
      return concatBytes(data, data.subarray(at), data);
    default:
      return data.map((byte, i) => i === at ? byte ^ (1 << (some[0]! % 8)) : byte);
  }
}

function agree(data: Uint8Array, actual: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(actual, expected)) assert.deepEqual(actual, expected, `of ${data}`);
}

function outcome(decode: () => unknown): unknown {
  try {
    return decode();
  } catch (error) {
    assert.ok(error instanceof CodedError, String(error));
    return error;
  }
}
