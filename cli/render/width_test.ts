import assert from "node:assert/strict";
import { it } from "node:test";
import { cutToWidth, displayWidth, padToWidth } from "./width.ts";

it("displayWidth() counts the cells of a terminal", () => {
  const widths: Record<string, number> = {
    "": 0,
    "abc": 3,
    "é": 1,
    "e\u0301": 1,
    "漢字": 4,
    "한글": 4,
    "\u1112\u1161\u11ab": 2,
    "ｶﾅ": 2,
    "Ａ": 2,
    "、": 2,
    "עברית": 5,
    "مرحبا": 5,
    "שָׁלוֹם": 4,
    "😀": 2,
    "👍🏽": 2,
    "👨‍👩‍👧": 2,
    "🇮🇱": 2,
    "🇮🇱🇩🇪": 4,
    "1️⃣": 2,
    "❤": 1,
    "❤️": 2,
    "नि": 2,
    "10 #*": 5,
    "…": 1,
    "\u{2000b}": 2,
  };
  for (const [text, width] of Object.entries(widths)) assert.equal(displayWidth(text), width, text);
});

it("padToWidth() makes columns of any script line up", () => {
  for (const text of ["abc", "漢字", "😀", "שלום"]) {
    assert.equal(displayWidth(padToWidth(text, 8)), 8);
    assert.equal(displayWidth(padToWidth(text, 8, "start")), 8);
  }
  assert.equal(padToWidth("too long", 3), "too long");
});

it("cutToWidth() never takes more than it may, and never half a character", () => {
  assert.equal(cutToWidth("abcdef", 6), "abcdef");
  assert.equal(cutToWidth("abcdef", 4), "abc…");
  assert.equal(cutToWidth("漢字漢字", 4), "漢…");
  assert.equal(cutToWidth("漢字漢字", 5), "漢字…");
  assert.equal(cutToWidth("e\u0301e\u0301e\u0301", 2), "e\u0301…");
  assert.equal(cutToWidth("👨‍👩‍👧x👨‍👩‍👧", 3), "👨‍👩‍👧…");
  assert.equal(cutToWidth("abc", 0), "");
});
