import assert from "node:assert/strict";
import { test } from "node:test";
import { hex } from "../../base/bytes.ts";
import { golden } from "../../tests/support/golden.ts";
import { TypedStream } from "./typed_stream.ts";

const STREAMS: Record<string, () => TypedStream> = {
  'bytes ""': () => new TypedStream().bytes(new Uint8Array(0)),
  "bytes 00ff": () => new TypedStream().bytes(Uint8Array.of(0, 0xff)),
  'string ""': () => new TypedStream().string(""),
  'string "é"': () => new TypedStream().string("é"),
  "int64 0": () => new TypedStream().int64(0),
  "int64 -1": () => new TypedStream().int64(-1),
  "int64 9007199254740993": () => new TypedStream().int64(9007199254740993n),
  "string slice []": () => new TypedStream().list([]),
  'string slice ["b","a"]': () => new TypedStream().list(["b", "a"]),
  "string map {}": () => new TypedStream().map({}),
  'string map {"b":"2","a":"1","Z":"0"}': () => new TypedStream().map({ b: "2", a: "1", Z: "0" }),
};

test("TypedStream writes the golden items and hashes", () => {
  for (const { what, bytes_hex, sha256_hex } of golden.ident) {
    const stream = STREAMS[what];
    assert.ok(stream, `no stream for ${what}`);
    assert.equal(hex(stream().finish()), bytes_hex, what);
    assert.equal(hex(stream().sha256()), sha256_hex, what);
  }
});
