import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { test } from "node:test";
import { headerText, headerValue } from "./text_headers.ts";

const raw = (text: string) => Buffer.from(text).toString("latin1");

test("text comes out of a header as it was put in", () => {
  for (
    const text of [
      "",
      "plain",
      "two words",
      "grün",
      "湖",
      "=?UTF-8?B?eA==?=",
      " padded ",
      "a\tb",
      "\u0001",
      "?=",
      "=?",
    ]
  ) {
    const value = headerValue(text);
    assert.match(value, /^[\x20-\x7e]*$/);
    assert.equal(headerText(value), text, JSON.stringify(text));
  }
});

test("headerText() reads UTF-8, Latin-1 and words of RFC 2047, and leaves what is none", () => {
  const cases = [
    [raw("grün"), "grün"],
    ["gr\u00fcn", "grün"],
    ["=?UTF-8?Q?gr=C3=BCn_=3D?= end", "grün = end"],
    ["=?iso-8859-1?q?gr=FCn?=", "grün"],
    ["a =?utf-8?b?Z3LDvG4=?= =?utf-8?b?ZXI=?= b", "a grüner b"],
    ["=?utf-8?b?/w==?=", "=?utf-8?b?/w==?="],
    ["=?koi8-r?b?eA==?=", "=?koi8-r?b?eA==?="],
    ["=?not a word?=", "=?not a word?="],
  ] as const;
  for (const [value, text] of cases) assert.equal(headerText(value), text);
});
