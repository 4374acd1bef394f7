import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { namesEtag, rangeOf } from "./ranges.ts";

describe("rangeOf()", () => {
  it("gives what is there of the bytes asked for", () => {
    const cases: readonly (readonly [string | null, number, [number, number] | undefined])[] = [
      [null, 10, undefined],
      ["bytes=0-0", 10, [0, 0]],
      ["bytes=5-15", 10, [5, 9]],
      ["bytes=5-", 10, [5, 9]],
      ["bytes=5-99999999999999999999", 10, [5, 9]],
      ["bytes=-3", 10, [7, 9]],
      ["bytes=-30", 10, [0, 9]],
      ["bytes=-1", 0, undefined],
      ["bytes=5-4", 10, undefined],
      ["bytes=0-1,3-4", 10, undefined],
      ["bytes=-", 10, undefined],
      ["items=0-1", 10, undefined],
      ["bytes=x-y", 10, undefined],
    ];
    for (const [header, size, expected] of cases) {
      const range = rangeOf(header, size);
      assert.deepEqual(range && [range.start, range.end], expected, String(header));
    }
  });

  it("fails where nothing of it is there", () => {
    for (
      const [header, size] of [
        ["bytes=10-", 10],
        ["bytes=99999999999999999999-", 10],
        ["bytes=0-", 0],
        ["bytes=-0", 10],
      ] as const
    ) {
      assert.throws(() => rangeOf(header, size), { code: "invalid_range" }, header);
    }
  });
});

describe("namesEtag()", () => {
  it("finds an ETag in a list, weak or not, and any by *", () => {
    assert.ok(namesEtag('"a", W/"b"', '"b"'));
    assert.ok(namesEtag(" * ", '"b"'));
    assert.ok(!namesEtag('"a"', '"b"'));
  });
});
