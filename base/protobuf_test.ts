import assert from "node:assert/strict";
import { test } from "node:test";
import { fromHex, hex, utf8 } from "./bytes.ts";
import {
  ProtobufError,
  protobufFields,
  protobufPair,
  protobufString,
  protobufTimestamp,
  ProtobufWriter,
} from "./protobuf.ts";

function fieldsOf(message: Uint8Array): [number, number, string][] {
  return [...protobufFields(message)].map(({ number, uint, bytes }) => [number, uint, hex(bytes)]);
}

test("fields are written as the protobuf documentation shows", () => {
  assert.equal(hex(new ProtobufWriter().uint(1, 150).finish()), "089601");
  assert.equal(hex(new ProtobufWriter().string(2, "testing").finish()), "120774657374696e67");
  assert.equal(hex(new ProtobufWriter().bool(3, true).finish()), "1801");
  assert.equal(hex(new ProtobufWriter().signed(1, -1).finish()), "08ffffffffffffffffff01");
  assert.equal(hex(new ProtobufWriter().strings(4, ["a", ""]).finish()), "2201612200");
  assert.equal(
    hex(new ProtobufWriter().timestamp(5, { seconds: 1, nanos: 2 }).finish()),
    "2a04" + "0801" + "1002",
  );
});

test("default values are left out, but not empty elements", () => {
  const writer = new ProtobufWriter().uint(1, 0).bool(2, false).string(3, "").bytes(4, new Uint8Array(0));
  assert.equal(hex(writer.timestamp(5, undefined).strings(6, []).map(7, []).finish()), "");
  assert.equal(hex(new ProtobufWriter().element(1, new Uint8Array(0)).finish()), "0a00");
});

test("maps are written in byte order of their keys, whatever order they come in", () => {
  const sorted = new ProtobufWriter().map(1, [["Z", "1"], ["a", "2"], ["\uffee", "3"], ["\u{1f600}", "4"]])
    .finish();
  const shuffled = new ProtobufWriter().map(1, [["\u{1f600}", "4"], ["a", "2"], ["\uffee", "3"], ["Z", "1"]]);
  assert.equal(hex(shuffled.finish()), hex(sorted));
  const pairs = [...protobufFields(sorted)].map(protobufPair);
  assert.deepEqual(pairs, [["Z", "1"], ["a", "2"], ["\uffee", "3"], ["\u{1f600}", "4"]]);
});

test("numbers up to 2^53 - 1, and negative ones, come back exactly", () => {
  const numbers = [1, 127, 128, 16383, 16384, 2 ** 31, 2 ** 32, 2 ** 35, 2 ** 49, 2 ** 53 - 1];
  for (const number of [...numbers, ...numbers.map((n) => -n)]) {
    const [field] = protobufFields(new ProtobufWriter().signed(1, number).finish());
    assert.equal(field!.uint, number);
  }
});

test("timestamps come back, also ones before 1970", () => {
  for (
    const time of [{ seconds: 1_700_000_000, nanos: 5 }, { seconds: -1, nanos: 999_999_999 }, {
      seconds: 0,
      nanos: 0,
    }]
  ) {
    const [field] = protobufFields(new ProtobufWriter().timestamp(1, time).finish());
    assert.deepEqual(protobufTimestamp(field!), time);
  }
});

test("a message longer than the writer's first memory comes back whole", () => {
  const writer = new ProtobufWriter();
  for (let i = 1; i <= 500; i++) writer.bytes(i, new Uint8Array(i % 100 + 1).fill(i));
  const fields = fieldsOf(writer.finish());
  assert.equal(fields.length, 500);
  fields.forEach(([number, , bytes], at) => {
    assert.equal(number, at + 1);
    assert.equal(bytes, hex(new Uint8Array(number % 100 + 1).fill(number)));
  });
});

test("finish() returns a copy that further writing does not change", () => {
  const writer = new ProtobufWriter().uint(1, 1);
  const first = writer.finish();
  writer.uint(2, 2);
  assert.equal(hex(first), "0801");
});

test("fixed-width fields of 4 and 8 bytes are read past", () => {
  assert.deepEqual(fieldsOf(fromHex("0d01020304" + "110102030405060708" + "1807")!), [
    [1, 0, "01020304"],
    [2, 0, "0102030405060708"],
    [3, 7, ""],
  ]);
});

test("bytes that are no protobuf are refused, wherever they break off", () => {
  const bad = {
    "ends inside a tag": "80",
    "ends inside a number": "0880",
    "a length beyond the end": "0a05aabb",
    "a length beyond any memory": "0affffffffffffff7f",
    "a length below zero": "0affffffffffffffffff01",
    "a number that never ends": "08" + "ff".repeat(11),
    "field number 0": "0001",
    "a group": "0b",
    "wire type 7": "0f",
    "a fixed field that is cut": "0d010203",
  };
  for (const [what, text] of Object.entries(bad)) {
    assert.throws(() => fieldsOf(fromHex(text)!), ProtobufError, what);
  }
});

test("every message that is cut short reads as its first fields or is refused", () => {
  const whole = new ProtobufWriter().uint(1, 300).string(2, "text").map(3, [["k", "v"]]).timestamp(4, {
    seconds: 9,
    nanos: 9,
  }).finish();
  const all = fieldsOf(whole);
  for (let length = 0; length < whole.length; length++) {
    try {
      const fields = fieldsOf(whole.subarray(0, length));
      assert.deepEqual(fields, all.slice(0, fields.length));
    } catch (error) {
      assert.ok(error instanceof ProtobufError, String(error));
    }
  }
});

test("a string field that is not UTF-8 is refused", () => {
  const [field] = protobufFields(new ProtobufWriter().bytes(1, Uint8Array.of(0xff)).finish());
  assert.throws(() => protobufString(field!), ProtobufError);
  assert.equal(
    protobufString([...protobufFields(new ProtobufWriter().bytes(1, utf8("é")).finish())][0]!),
    "é",
  );
});
