import assert from "node:assert/strict";
import type { Stats } from "node:fs";
import { describe, it } from "node:test";
import { isCoded } from "./errors.ts";
import { requireUnchanged } from "./read_files.ts";

const STATS = { ino: 7, size: 10, mtimeMs: 1.5, ctimeMs: 2.25, blocks: 8 } as Stats;

function isRefused(after: Partial<Stats>, { before = STATS, bytesRead = 10 } = {}): boolean {
  try {
    requireUnchanged("x", { before, after: { ...before, ...after } as Stats, bytesRead });
    return false;
  } catch (error) {
    if (isCoded(error, "source_changed")) return true;
    throw error;
  }
}

describe("requireUnchanged()", () => {
  it("takes a file that is as it was", () => {
    assert.equal(isRefused({}), false);
    assert.equal(isRefused({ atimeMs: 99, nlink: 2 }), false);
  });

  it("refuses one whose size, times or place differ", () => {
    for (const after of [{ size: 11 }, { mtimeMs: 1.75 }, { ctimeMs: 2.5 }, { ino: 8 }]) {
      assert.equal(isRefused(after), true, JSON.stringify(after));
    }
  });

  it("refuses one that had more or fewer bytes than its size says, but for what the system makes up", () => {
    assert.equal(isRefused({}, { bytesRead: 9 }), true);
    assert.equal(isRefused({}, { bytesRead: 11 }), true);
    const before = { ...STATS, size: 0, blocks: 0 } as Stats;
    assert.equal(isRefused({}, { before, bytesRead: 120 }), false);
    assert.equal(isRefused({ mtimeMs: 9 }, { before, bytesRead: 120 }), true);
  });
});
