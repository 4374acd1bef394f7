import assert from "node:assert/strict";
import { test } from "node:test";
import { concatBytes, hex, utf8 } from "../../base/bytes.ts";
import { protobufFields } from "../../base/protobuf.ts";
import { entriesOf, golden } from "../../tests/support/golden.ts";
import { entryOf } from "../../tests/support/golden_entries.ts";
import { encodeValue } from "../committed/mod.ts";
import {
  decodeEntry,
  encodeEntry,
  type Entry,
  entryIdentity,
  entryRecord,
  entryWeight,
  sameContent,
} from "./entry.ts";

test("entryIdentity() gives lakeFS's identity of every golden entry", () => {
  for (const goldenCase of golden.cases) {
    for (const given of entriesOf(goldenCase)) {
      assert.equal(hex(entryIdentity(entryOf(given))), given.identity_hex, given.key);
    }
  }
});

test("encodeEntry() and encodeValue() write the bytes that lakeFS wrote", () => {
  let compared = 0;
  for (const given of golden.cases.flatMap(entriesOf)) {
    if (given.entry_proto_hex === undefined) continue;
    const entry = entryOf(given);
    assert.equal(hex(encodeEntry(entry)), given.entry_proto_hex, given.key);
    if (given.value_hex) {
      assert.equal(hex(encodeValue(entryIdentity(entry), encodeEntry(entry))), given.value_hex);
    }
    compared++;
  }
  assert.ok(compared >= 4);
});

test("decodeEntry() gives back what was encoded, our SHA-256 too", () => {
  const entry: Entry = {
    address: "data/0/1/2/abc",
    addressType: 1,
    lastModified: { seconds: 1_700_000_000, nanos: 5 },
    sizeBytes: 2 ** 40 + 1,
    etag: "5eb63bbbe01eeed093cb22bb8f5acdc3",
    metadata: { "__proto__x": "1", constructor: "2", é: "" },
    contentType: "text/plain",
    sha256: new Uint8Array(32).fill(7),
  };
  assert.deepEqual(decodeEntry(encodeEntry(entry)), entry);
});

test("decodeEntry() refuses bytes that are no entry as corrupt", () => {
  for (const bad of [[0x0a], [0x0a, 5, 1], [0x30, 9], [0xff, 0xff], [0x0a, 1, 0xff]]) {
    assert.throws(() => decodeEntry(Uint8Array.from(bad), "x"), { kind: "corrupt", code: "corrupt_file" });
  }
});

test("entryWeight() counts key, metadata and content type, and nothing else", () => {
  const entry = {
    ...entryOf(entriesOf(golden.cases[1]!)[0]!),
    metadata: { ab: "é", c: "" },
    contentType: "t/x",
  };
  const key = utf8("a/ж");
  assert.equal(entryWeight(entryRecord(key, entry)), key.length + 32 + 64 + 2 + 2 + 1 + 3);
  const elsewhere = { ...entry, address: "another/much/longer/address", etag: "", sizeBytes: 9 };
  assert.equal(entryWeight(entryRecord(key, elsewhere)), entryWeight(entryRecord(key, entry)));
});

test("sameContent() holds for equal bytes under different ETags, not for different metadata", () => {
  const key = utf8("k");
  const simple: Entry = {
    ...entryOf(entriesOf(golden.cases[1]!)[0]!),
    sha256: new Uint8Array(32).fill(1),
  };
  const multipart = { ...simple, etag: "abc-2", address: "data/elsewhere" };
  assert.ok(sameContent(entryRecord(key, simple), entryRecord(key, multipart)));
  assert.ok(!sameContent(entryRecord(key, simple), entryRecord(key, { ...multipart, metadata: { a: "1" } })));
  assert.ok(!sameContent(entryRecord(key, simple), entryRecord(key, { ...multipart, sizeBytes: 1 })));
  const { sha256: _, ...unknown } = multipart;
  assert.ok(!sameContent(entryRecord(key, simple), entryRecord(key, unknown)));
});

test("entryWeight() weighs an entry of any form as one that reads all of its fields does", () => {
  const entry: Entry = {
    address: "data/0/1/2/abc".repeat(12),
    addressType: 2,
    lastModified: { seconds: -5, nanos: 5 },
    sizeBytes: 2 ** 45,
    etag: "e".repeat(140),
    metadata: {},
    contentType: "text/plain",
    sha256: new Uint8Array(32).fill(0xa2),
  };
  const key = utf8("k"), identity = new Uint8Array(32);
  const whole = encodeEntry(entry), described = encodeEntry({ ...entry, metadata: { a: "b", c: "ü" } });
  const twice = concatBytes(whole, encodeEntry({ ...entry, contentType: "x".repeat(200) }));
  const unknown = concatBytes(whole, Uint8Array.of(0x4a, 3, 1, 2, 3, 0x50, 0x80, 1));
  let weighed = 0, refused = 0;
  for (const bytes of [whole, described, twice, unknown]) {
    for (let end = 0; end <= bytes.length; end++) {
      const data = bytes.slice(0, end);
      const expected = weightOf(data);
      if (expected === undefined) {
        assert.throws(() => entryWeight({ key, identity, data }), { code: "corrupt_file" }, `${end}`);
        refused++;
      } else {
        assert.equal(entryWeight({ key, identity, data }), 1 + 32 + 64 + expected, `${end}`);
        weighed++;
      }
    }
  }
  assert.ok(weighed > 20 && refused > 500, `${weighed} weighed, ${refused} refused`);
});

/** The bytes of content type and metadata, or `undefined` when the entry does not decode. */
function weightOf(data: Uint8Array): number | undefined {
  try {
    let weight = 0;
    for (const { number, bytes } of protobufFields(data)) {
      if (number === 7) weight += bytes.length;
      if (number === 5) { for (const part of protobufFields(bytes)) weight += part.bytes.length; }
    }
    return weight;
  } catch {
    return undefined;
  }
}
