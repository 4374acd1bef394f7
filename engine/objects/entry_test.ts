import assert from "node:assert/strict";
import { test } from "node:test";
import { hex, utf8 } from "../../base/bytes.ts";
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
