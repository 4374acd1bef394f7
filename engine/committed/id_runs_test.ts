import assert from "node:assert/strict";
import { test } from "node:test";
import { type Randomness, seededRandomness } from "../../base/randomness.ts";
import {
  derivedBytes,
  derivedIds,
  joinedRuns,
  partsOfBase,
  putNews,
  RunRecorder,
  type Runs,
} from "./id_runs.ts";

type List = readonly number[];

let drawn = 0;

test("a list is got back from the list that it is derived from, through any number of versions", () => {
  const random = seededRandomness(11);
  for (let round = 0; round < 20; round++) {
    const base = fresh(3000 + Math.floor(random.fraction() * 100));
    let list: List = base, runs: Runs | undefined;
    for (let version = 0; version < 8; version++) {
      const next = edited(list, `v${version}`, random, round % 2 === 0);
      runs = runs ? { ...joinedRuns(next.runs, runs) } : next.runs;
      list = next.list;
      const derived = derivedIds(bytesOf(list), runs)!;
      assert.ok(derived, "it is worth keeping as runs");
      assert.equal(derivedBytes(derived), list.length * 32);
      assert.deepEqual(restored(base, derivedIds(bytesOf(list), runs)!), bytesOf(list));
    }
    assert.equal(runs!.base, "v0");
  }
});

test("where IDs were only replaced, the base is read in one part", () => {
  const random = seededRandomness(3), base = fresh(5000);
  const { list, runs } = edited(base, "base", random, true);
  const derived = derivedIds(bytesOf(list), runs)!;
  assert.ok(derived.news.length > 0 && derived.news.length < 100 * 32);
  assert.equal(partsOfBase(derived, new Uint8Array(derivedBytes(derived))).length, 1);
});

test("a list is kept whole that is short, of several bases, mostly new, or in too many runs", () => {
  const runsOf = (record: (recorder: RunRecorder) => void) => {
    const recorder = new RunRecorder();
    record(recorder);
    return recorder.runs();
  };
  const many = runsOf((recorder) => recorder.addKnown("a", 0, 4000))!;
  assert.ok(derivedIds(new Uint8Array(4000 * 32), many));
  assert.equal(derivedIds(new Uint8Array(100 * 32), { ...many, pairs: Uint32Array.of(0, 100) }), undefined);
  assert.equal(runsOf((recorder) => recorder.addNew()), undefined);
  assert.equal(
    runsOf((recorder) => {
      recorder.addKnown("a", 0, 4000);
      recorder.addKnown("b", 0, 1);
    }),
    undefined,
  );
  const mostlyNew = runsOf((recorder) => {
    recorder.addKnown("a", 0, 3000);
    for (let i = 0; i < 1000; i++) recorder.addNew();
  })!;
  assert.equal(derivedIds(new Uint8Array(4000 * 32), mostlyNew), undefined);
  assert.equal(
    runsOf((recorder) => {
      for (let i = 0; i < 2000; i++) recorder.addKnown("a", i * 10, 5);
    }),
    undefined,
  );
});

function fresh(count: number): number[] {
  return Array.from({ length: count }, () => ++drawn);
}

/** Replaces some of a list, and puts in and takes out some unless it is only to be replaced; returns what a writer records. */
function edited(
  list: List,
  base: string,
  random: Randomness,
  onlyReplaces: boolean,
): { list: List; runs: Runs } {
  const recorder = new RunRecorder(), next: number[] = [];
  for (let i = 0; i < list.length; i++) {
    const chance = random.fraction();
    const isChanged = chance < 0.006, kind = onlyReplaces ? 0 : Math.floor(random.fraction() * 3);
    if (isChanged && kind < 2) {
      next.push(++drawn);
      recorder.addNew();
    }
    if (isChanged && kind !== 1) continue;
    next.push(list[i]!);
    recorder.addKnown(base, i, 1);
  }
  return { list: next, runs: recorder.runs()! };
}

function bytesOf(list: List): Uint8Array {
  return new Uint8Array(Uint32Array.from(list.flatMap((id) => [id, id, id, id, id, id, id, id])).buffer);
}

function restored(base: List, derived: NonNullable<ReturnType<typeof derivedIds>>): Uint8Array {
  const whole = bytesOf(base), list = new Uint8Array(derivedBytes(derived));
  for (const { offset, into } of partsOfBase(derived, list)) {
    into.set(whole.subarray(offset, offset + into.length));
  }
  putNews(derived, list);
  return list;
}
