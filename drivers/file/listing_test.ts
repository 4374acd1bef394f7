import assert from "node:assert/strict";
import test from "node:test";
import { compareBytes, utf8 } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { compareAsUtf8 } from "./listing.ts";

test("compareAsUtf8() orders texts as their bytes", () => {
  const random = seededRandomness(1);
  const alphabet = [
    "",
    "a",
    "/",
    "!",
    "\u007f",
    "\u0080",
    "\u07ff",
    "\u0800",
    "\ud7ff",
    "\ue000",
    "\uffff",
    "\u{10000}",
  ];
  const letters = [...alphabet, "\u{1f600}", "\u{1f601}", "\u{10ffff}"];
  const draw = () =>
    Array.from({ length: 4 }, () => letters[Math.floor(random.fraction() * letters.length)]).join("");
  for (let i = 0; i < 20_000; i++) {
    const [a, b] = [draw(), draw()];
    assert.equal(
      Math.sign(compareAsUtf8(a, b)),
      Math.sign(compareBytes(utf8(a), utf8(b))),
      JSON.stringify([a, b]),
    );
  }
});
