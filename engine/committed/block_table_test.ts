import assert from "node:assert/strict";
import { test } from "node:test";
import { seededRandomness } from "../../base/randomness.ts";
import { BlockTableBuilder } from "./block_table.ts";

test("endOfQuiet() stops before a block with a break, and before the one with which there is no room", () => {
  const random = seededRandomness(7);
  const builder = new BlockTableBuilder();
  const rows = Array.from({ length: 60 }, () => ({
    weight: 1 + Math.floor(random.fraction() * 50),
    isBreak: random.fraction() < 0.1,
  }));
  for (const row of rows) {
    builder.add({ keyBytes: 1, valueBytes: 1, ...row });
    builder.endBlock({ recordIds: new Uint8Array(32), fingerprint: 0 });
  }
  const table = builder.finish();
  for (let from = 0; from < rows.length; from++) {
    for (const to of [from, from + 1, rows.length]) {
      for (const room of [0, 1, 50, 200, 10_000]) {
        let end = from;
        for (let weight = 0; end < to; end++) {
          weight += rows[end]!.weight;
          if (rows[end]!.isBreak || weight >= room) break;
        }
        assert.equal(table.endOfQuiet(from, Math.min(to, rows.length), room), Math.min(end, rows.length));
      }
    }
  }
});
