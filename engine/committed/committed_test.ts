import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { compareBytes, hex, lossyText, utf8 } from "../../base/bytes.ts";
import { type Randomness, seededRandomness } from "../../base/randomness.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import { canonicalModel } from "../../tests/support/canonical.ts";
import { entriesOf, golden, goldenFile } from "../../tests/support/golden.ts";
import { decodeEntry, type Entry, entryRecord, entryWeight, sameContent } from "../objects/mod.ts";
import { entryOf } from "../../tests/support/golden_entries.ts";
import { applyChanges, type Change } from "./apply.ts";
import type { Chunking } from "./chunking.ts";
import { diffMetaranges } from "./diff.ts";
import { TableFiles } from "./files.ts";
import { type Conflict, mergeChanges } from "./merge.ts";
import { Metarange, NO_METARANGE } from "./metarange.ts";
import type { ValueRecord } from "./record.ts";
import { MetarangeWriter } from "./writer.ts";

const DEFAULTS: Chunking = { minSizeBytes: 0, maxSizeBytes: 20 << 20, raggedness: 50_000 };

/** Every other time ranges have sides, so that both ways to walk them are held to the same results. */
function newFiles(chunking: Chunking, seed = 0): TableFiles {
  const sides = seed % 2 === 0 ? {} : { sides: { chunking, weigh: entryWeight } };
  return new TableFiles(openMemoryObjectStore(), sides);
}

async function writeAll(files: TableFiles, records: Iterable<ValueRecord>, chunking: Chunking) {
  const writer = new MetarangeWriter(files, { chunking, weigh: entryWeight });
  const sorted = [...records].sort((a, b) => compareBytes(a.key, b.key));
  for (const record of sorted) if (writer.add(record)) await writer.proceed();
  return await writer.finish();
}

async function* blocksOf<T>(items: readonly T[], size = 7): AsyncGenerator<readonly T[]> {
  for (let i = 0; i < items.length; i += size) yield items.slice(i, i + size);
}

async function collect<T>(blocks: AsyncIterable<readonly T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const block of blocks) items.push(...block);
  return items;
}

function recordOf(key: string, version: number): ValueRecord {
  const entry: Entry = {
    address: `data/${key.length}/${version}`,
    addressType: 1,
    lastModified: { seconds: 1, nanos: 0 },
    sizeBytes: version,
    etag: `etag-${version}`,
    metadata: version % 5 === 0 ? { v: "x".repeat(version % 40) } : {},
    contentType: version % 3 === 0 ? "text/plain" : "",
  };
  return entryRecord(utf8(key), entry);
}

test("MetarangeWriter gives the golden seed IDs and ranges", async () => {
  for (const goldenCase of golden.cases) {
    const chunking = {
      minSizeBytes: goldenCase.params.MinRangeSizeBytes,
      maxSizeBytes: goldenCase.params.MaxRangeSizeBytes,
      raggedness: goldenCase.params.RangeSizeEntriesRaggedness,
    };
    const files = newFiles(chunking);
    const records = entriesOf(goldenCase).map((given) => entryRecord(utf8(given.key), entryOf(given)));
    const written = await writeAll(files, records, chunking);
    assert.equal(written.id, goldenCase.seed_ids.metarange_id, goldenCase.name);
    const ranges = await new Metarange(files, written.id).ranges();
    const shown = ranges.map((range) => ({
      id: range.id,
      min_key: lossyText(range.minKey),
      max_key: lossyText(range.maxKey),
      count: range.count,
    }));
    assert.deepEqual(shown, goldenCase.seed_ids.ranges, goldenCase.name);
  }
});

test("a metarange that lakeFS wrote is read whole, and recognised as made elsewhere", async () => {
  for (const goldenCase of golden.cases) {
    const objects = openMemoryObjectStore();
    const put = async (kind: "ranges" | "metaranges", id: string) =>
      await objects.put(`_lakefs/${id}`, new Uint8Array(readFileSync(goldenFile(goldenCase, kind, id))));
    await put("metaranges", goldenCase.metarange.id);
    for (const range of goldenCase.ranges) await put("ranges", range.id);
    const metarange = new Metarange(new TableFiles(objects), goldenCase.metarange.id);
    assert.equal(await metarange.isOurs(), false);
    const records = await collect(metarange.records());
    const given = [...entriesOf(goldenCase)].sort((a, b) => compareBytes(utf8(a.key), utf8(b.key)));
    assert.deepEqual(records.map(({ key }) => lossyText(key)), given.map(({ key }) => key));
    records.forEach((record, i) => {
      assert.equal(hex(record.identity), given[i]!.identity_hex);
      assert.deepEqual(decodeEntry(record.data), entryOf(given[i]!));
    });
    // The first change on it writes it canonically.
    const files = new TableFiles(objects);
    const options = { chunking: DEFAULTS, weigh: entryWeight, same: sameContent };
    const change = recordOf("zz", 1);
    const applied = await applyChanges(
      files,
      metarange,
      blocksOf([{ key: change.key, record: change }]),
      options,
    );
    assert.equal(applied.id, canonicalModel([...records, change], DEFAULTS, entryWeight).metarangeId);
    assert.equal(applied.reusedRanges, 0);
  }
});

/** Keys around each other and at both ends, so that breaks are inserted, deleted and appended to. */
function randomKey(random: Randomness): string {
  const letters = "abcd\u00e9\u{1f600}";
  const length = 1 + Math.floor(random.fraction() * 4);
  return Array.from({ length }, () => [...letters][Math.floor(random.fraction() * 6)]!).join("/");
}

function randomChanges(random: Randomness, model: Map<string, ValueRecord>, version: number): Change[] {
  const changes = new Map<string, Change>();
  const existing = [...model.keys()];
  const count = Math.floor(random.fraction() ** 3 * 60);
  for (let i = 0; i < count; i++) {
    const isOld = existing.length > 0 && random.fraction() < 0.6;
    const key = isOld ? existing[Math.floor(random.fraction() * existing.length)]! : randomKey(random);
    const record = random.fraction() < 0.45
      ? undefined
      : recordOf(key, random.fraction() < 0.2 ? 1 : version);
    changes.set(key, { key: utf8(key), record });
  }
  return [...changes.values()].sort((a, b) => compareBytes(a.key, b.key));
}

function applyToModel(model: Map<string, ValueRecord>, changes: readonly Change[]): void {
  for (const { key, record } of changes) {
    if (record) model.set(lossyText(key), record);
    else model.delete(lossyText(key));
  }
}

const CHUNKINGS: Chunking[] = [
  DEFAULTS,
  { minSizeBytes: 0, maxSizeBytes: 20 << 20, raggedness: 7 },
  { minSizeBytes: 900, maxSizeBytes: 20 << 20, raggedness: 4 },
  // Runs longer than the maximum: most ranges end by size.
  { minSizeBytes: 0, maxSizeBytes: 500, raggedness: 50_000 },
  { minSizeBytes: 300, maxSizeBytes: 1200, raggedness: 9 },
  { minSizeBytes: 0, maxSizeBytes: 1, raggedness: 3 },
];

test("whatever changes led there, ranges and metarange ID are those of the records written from scratch", async () => {
  for (const [c, chunking] of CHUNKINGS.entries()) {
    for (let seed = 0; seed < 12; seed++) {
      const random = seededRandomness(c * 1000 + seed);
      const files = newFiles(chunking, seed);
      const options = { chunking, weigh: entryWeight, same: sameContent };
      const model = new Map<string, ValueRecord>();
      let id = NO_METARANGE;
      for (let step = 0; step < 12; step++) {
        const changes = randomChanges(random, model, step + 2);
        const applied = await applyChanges(files, new Metarange(files, id), blocksOf(changes), options);
        const before = new Map(model);
        applyToModel(model, changes);
        const expected = canonicalModel(model.values(), chunking, entryWeight);
        const where = `chunking ${c} seed ${seed} step ${step}`;
        assert.equal(applied.id, expected.metarangeId, where);
        const ranges = await new Metarange(files, applied.id).ranges();
        assert.deepEqual(ranges.map(({ id, count }) => ({ id, count })), expected.ranges, where);
        const stored = await collect(new Metarange(files, applied.id).records());
        assert.deepEqual(stored.map(({ key }) => lossyText(key)).sort(), [...model.keys()].sort(), where);
        const differing = [...new Set([...before.keys(), ...model.keys()])]
          .filter((key) =>
            hex(before.get(key)?.identity ?? utf8("")) !== hex(model.get(key)?.identity ?? utf8(""))
          );
        assert.equal(applied.added + applied.changed + applied.removed, differing.length, where);
        const diff = await collect(
          diffMetaranges(new Metarange(files, id), new Metarange(files, applied.id)),
        );
        assert.deepEqual(diff.map(({ key }) => lossyText(key)).sort(), differing.sort(), where);
        id = applied.id;
      }
    }
  }
});

test("a diff within bounds gives just the keys within them", async () => {
  const random = seededRandomness(77);
  const chunking = CHUNKINGS[1]!;
  const files = newFiles(chunking, 1);
  const left = new Map<string, ValueRecord>(), right = new Map<string, ValueRecord>();
  for (let i = 0; i < 300; i++) {
    const key = randomKey(random);
    if (random.fraction() < 0.8) left.set(key, recordOf(key, 1));
    if (random.fraction() < 0.8) right.set(key, recordOf(key, random.fraction() < 0.9 ? 1 : 2));
  }
  const [a, b] = [
    await writeAll(files, left.values(), chunking),
    await writeAll(files, right.values(), chunking),
  ];
  const all = await collect(diffMetaranges(new Metarange(files, a.id), new Metarange(files, b.id)));
  for (let i = 0; i < 200; i++) {
    const bounds = { start: utf8(randomKey(random)), end: utf8(randomKey(random)) };
    const some = await collect(
      diffMetaranges(new Metarange(files, a.id), new Metarange(files, b.id), bounds),
    );
    const expected = all.filter(({ key }) =>
      compareBytes(key, bounds.start) >= 0 && compareBytes(key, bounds.end) < 0
    );
    assert.deepEqual(some, expected);
  }
});

test("mergeChanges() gives what a map merged key by key gives, conflicts and all", async () => {
  for (let seed = 0; seed < 60; seed++) {
    const random = seededRandomness(5000 + seed);
    const chunking = CHUNKINGS[seed % CHUNKINGS.length]!;
    const files = newFiles(chunking, seed);
    const base = new Map<string, ValueRecord>();
    applyToModel(base, randomChanges(random, base, 2));
    applyToModel(base, randomChanges(random, base, 3));
    const source = new Map(base), destination = new Map(base);
    applyToModel(source, randomChanges(random, base, 4));
    applyToModel(destination, randomChanges(random, base, random.fraction() < 0.5 ? 4 : 5));
    const ids = [];
    for (const side of [base, source, destination]) {
      ids.push((await writeAll(files, side.values(), chunking)).id);
    }
    const conflicts: Conflict[] = [];
    const changes = await collect(mergeChanges({
      base: new Metarange(files, ids[0]!),
      source: new Metarange(files, ids[1]!),
      destination: new Metarange(files, ids[2]!),
    }, { same: sameContent, onConflict: (conflict) => void conflicts.push(conflict) }));
    const merged = new Map(destination);
    applyToModel(merged, changes);
    const expected = new Map<string, string>(), expectedConflicts: string[] = [];
    const id = (side: Map<string, ValueRecord>, key: string) => hex(side.get(key)?.identity ?? utf8(""));
    for (const key of new Set([...base.keys(), ...source.keys(), ...destination.keys()])) {
      const [b, s, d] = [id(base, key), id(source, key), id(destination, key)];
      let result = s === b ? d : s;
      if (s !== b && d !== b && s !== d) {
        expectedConflicts.push(key);
        result = d;
      }
      if (result !== "") expected.set(key, result);
    }
    assert.deepEqual(
      new Map([...merged].map(([key, { identity }]) => [key, hex(identity)])),
      expected,
      `seed ${seed}`,
    );
    assert.deepEqual(
      conflicts.map(({ key }) => lossyText(key)).sort(),
      expectedConflicts.sort(),
      `seed ${seed}`,
    );
  }
});

test("ranges that no change touches are taken over by ID, and an append re-opens only the last one", async () => {
  const chunking = { minSizeBytes: 0, maxSizeBytes: 20 << 20, raggedness: 50 };
  const files = newFiles(chunking, 1);
  const options = { chunking, weigh: entryWeight, same: sameContent };
  const records = Array.from({ length: 3000 }, (_, i) => recordOf(`k${String(i).padStart(5, "0")}`, 1));
  const first = await writeAll(files, records, chunking);
  const total = first.newRanges.length;
  assert.ok(total > 20);
  const change = async (key: string, record: ValueRecord | undefined) =>
    await applyChanges(
      files,
      new Metarange(files, first.id),
      blocksOf([{ key: utf8(key), record }]),
      options,
    );
  const middle = await change("k01500", recordOf("k01500", 2));
  assert.deepEqual([middle.newRanges.length, middle.reusedRanges], [1, total - 1]);
  const append = await change("k99999", recordOf("k99999", 2));
  assert.equal(append.newRanges.length, 1);
  assert.ok(append.reusedRanges >= total - 1);
  const nothing = await change("k77777", undefined);
  assert.equal(nothing.id, first.id);
});

test("a sound range file in the place of another is damage", async () => {
  const objects = openMemoryObjectStore();
  const chunking = { ...DEFAULTS, raggedness: 3 };
  const records = Array.from({ length: 40 }, (_, i) => recordOf(`k${10 + i}`, 1));
  const { id } = await writeAll(new TableFiles(objects), records, chunking);
  const [first, second] = await new Metarange(new TableFiles(objects), id).ranges();
  const { sizeBytes } = (await objects.head(`_lakefs/${second!.id}`))!;
  await objects.put(`_lakefs/${first!.id}`, await objects.read(`_lakefs/${second!.id}`, 0, sizeBytes));
  const swapped = new Metarange(new TableFiles(objects), id);
  await assert.rejects(collect(swapped.records()), { kind: "corrupt" });
  await assert.rejects(swapped.get(first!.minKey), { kind: "corrupt" });
});
