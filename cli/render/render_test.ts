import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { escapeBytes, escapeForTerminal } from "./escape.ts";
import { counted, humanSize } from "./sizes.ts";
import { timeWithZone, utcTime } from "./times.ts";

describe("escapeForTerminal()", () => {
  it("shows control characters and changes of direction as escapes, and leaves the rest", () => {
    assert.equal(escapeForTerminal("a\x1b[31m\nb\tc\r\x7f\x9b"), "a\\x1b[31m\\nb\\tc\\r\\x7f\\x9b");
    assert.equal(escapeForTerminal("\u202egpj.exe\u2066\u200f"), "\\u{202e}gpj.exe\\u{2066}\\u{200f}");
    assert.equal(escapeForTerminal("é 漢字 😀 a\u0301"), "é 漢字 😀 a\u0301");
  });
});

it("escapeBytes() shows bytes that are no UTF-8 one by one", () => {
  const bytes = new Uint8Array([0x61, 0xff, 0xc3, 0xa9, 0xc3, 0xed, 0xa0, 0x80, 0x0a]);
  assert.equal(escapeBytes(bytes), "a\\xffé\\xc3\\xed\\xa0\\x80\\n");
});

it("humanSize() counts in thousands", () => {
  const sizes: Record<string, string> = {
    "0": "0 B",
    "999": "999 B",
    "1000": "1.0 kB",
    "916393": "916.4 kB",
    "999949": "999.9 kB",
    "999951": "1.0 MB",
    "5000000000": "5.0 GB",
  };
  for (const [bytes, text] of Object.entries(sizes)) assert.equal(humanSize(Number(bytes)), text);
});

it("counted() says one and many", () => {
  assert.deepEqual([counted(1, "file"), counted(0, "file"), counted(12345, "file"), counted(1234567, "x")], [
    "1 file",
    "0 files",
    "12,345 files",
    "1,234,567 xs",
  ]);
});

describe("times", () => {
  it("are in UTC where nobody reads along", () => {
    assert.equal(utcTime(1722608013999), "2024-08-02T14:13:33Z");
    assert.equal(timeWithZone(1722608013000, false), "2024-08-02 14:13:33 +0000 UTC");
  });

  it("show the offset of the local zone", () => {
    const text = timeWithZone(1722608013000, true);
    assert.match(text, /^2024-08-0\d \d\d:\d\d:33 [+-]\d{4} \S+$/);
    const [day, time, offset] = text.split(" ");
    assert.equal(Date.parse(`${day}T${time}${offset}`), 1722608013000);
  });

  it("that no date can hold do not stop a listing", () => {
    assert.equal(utcTime(Number.NaN), "unknown");
    assert.equal(timeWithZone(1e18, true), "unknown");
  });
});
