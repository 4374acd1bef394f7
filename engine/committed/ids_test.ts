import assert from "node:assert/strict";
import { test } from "node:test";
import { hex, utf8 } from "../../base/bytes.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { type OlderIds, RECORD_ID_BYTES, RecordIds, SPARE_IDS } from "./ids.ts";

const IDENTITY = utf8("identity");

class Older implements OlderIds {
  recordIds: Uint8Array;
  moves = 0;

  constructor(ids: readonly Uint8Array[], spare: number) {
    const memory = new Uint8Array((ids.length + spare) * RECORD_ID_BYTES);
    ids.forEach((id, i) => memory.set(id, i * RECORD_ID_BYTES));
    this.recordIds = memory.subarray(0, ids.length * RECORD_ID_BYTES);
  }

  moveIds(to: Uint8Array): void {
    this.recordIds = to;
    this.moves++;
  }
}

test("a list in the memory of an older one comes to what a list of its own does, and the older one can be read on", () => {
  const random = seededRandomness(3);
  const upTo = (bound: number) => 1 + Math.floor(random.fraction() * bound);
  let moves = 0, moved = 0;
  for (let round = 0; round < 60; round++) {
    const known = idsOf("old", upTo(5000));
    const older = new Older(known, [0, 1, 100, SPARE_IDS][round % 4]!);
    const ids = new RecordIds(), expected: Uint8Array[] = [];
    ids.takeOver(older);
    for (let at = round % 3 === 0 ? upTo(known.length) - 1 : 0; at < known.length;) {
      const left = known.length - at, count = Math.min(left, upTo(round % 2 === 0 ? 2000 : 20));
      const what = random.fraction();
      if (what < 0.5) {
        ids.addKnown(older.recordIds, at, count);
        expected.push(...known.slice(at, at += count));
      } else if (what < 0.7) {
        at += Math.min(count, 30);
      } else {
        const fresh = idsOf(`${round} ${at}`, Math.min(count, 1500));
        for (let i = 0; i < fresh.length; i++) ids.add(utf8(`${round} ${at} ${i}`), IDENTITY);
        expected.push(...fresh);
      }
      assert.equal(ids.count, expected.length);
      const next = older.recordIds.subarray(at * RECORD_ID_BYTES, known.length * RECORD_ID_BYTES);
      assertSame(next, known.slice(at), "the rest of the older list");
      if (random.fraction() < 0.02) {
        ids.sendGuestAway();
        moved++;
      }
    }
    assertSame(ids.all(), expected, "the list");
    moves += older.moves;
  }
  assert.ok(moves > 60 && moved > 10, `${moves} moves, ${moved} times away`);
});

test("memory that a list is made in serves another one when the older list was sent away", () => {
  const known = idsOf("old", 3000), older = new Older(known, SPARE_IDS), ids = new RecordIds();
  ids.takeOver(older);
  ids.addKnown(older.recordIds, 0, 1000);
  ids.sendGuestAway();
  ids.clear();
  for (let i = 0; i < 3000; i++) ids.add(utf8(`other ${i}`), IDENTITY);
  assertSame(ids.all(), idsOf("other", 3000), "the other list");
  assertSame(
    older.recordIds.subarray(1000 * RECORD_ID_BYTES),
    known.slice(1000),
    "the rest of the older list",
  );
});

function idsOf(name: string, count: number): Uint8Array[] {
  const ids = new RecordIds();
  return Array.from({ length: count }, (_, i) => {
    ids.add(utf8(`${name} ${i}`), IDENTITY);
    return ids.last(1).slice();
  });
}

function assertSame(list: Uint8Array, ids: readonly Uint8Array[], what: string): void {
  assert.equal(list.length, ids.length * RECORD_ID_BYTES, what);
  for (const [i, id] of ids.entries()) {
    const at = i * RECORD_ID_BYTES;
    if (!id.every((byte, k) => byte === list[at + k])) {
      assert.fail(`${what}: ID ${i} is ${hex(list.subarray(at, at + RECORD_ID_BYTES))}, not ${hex(id)}`);
    }
  }
}
