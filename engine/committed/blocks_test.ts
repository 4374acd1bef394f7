import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { compareBytes, lossyText, utf8 } from "../../base/bytes.ts";
import { type Randomness, seededRandomness } from "../../base/randomness.ts";
import { type DiskCache, openDiskCache } from "../../cache/mod.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { canonicalModel } from "../../tests/support/canonical.ts";
import { type Entry, entryRecord, entryWeight, sameContent } from "../objects/mod.ts";
import { applyChanges, type Change } from "./apply.ts";
import type { Chunking } from "./chunking.ts";
import { diffMetaranges } from "./diff.ts";
import { TableFiles } from "./files.ts";
import { type Conflict, mergeChanges } from "./merge.ts";
import { Metarange, NO_METARANGE } from "./metarange.ts";
import type { ValueRecord } from "./record.ts";
import { MetarangeWriter } from "./writer.ts";

type Model = Map<string, ValueRecord>;

const WHOLE: Chunking = { minSizeBytes: 0, maxSizeBytes: 20 << 20, raggedness: 1 << 20 };

function recordOf(key: string, version: number, address = `data/${version}/${key}`): ValueRecord {
  const entry: Entry = {
    address,
    addressType: 1,
    lastModified: { seconds: version, nanos: 0 },
    sizeBytes: version,
    etag: `etag-${version}-${"e".repeat(key.length % 7)}`,
    metadata: version % 11 === 0 ? { v: "x".repeat(version * 7 % 900) } : {},
    contentType: "application/octet-stream",
  };
  return entryRecord(utf8(key), entry);
}

async function* inBlocks<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  for (let i = 0; i < items.length; i += 50) yield items.slice(i, i + 50);
}

async function collect<T>(blocks: AsyncIterable<readonly T[]>): Promise<T[]> {
  const items: T[] = [];
  for await (const block of blocks) items.push(...block);
  return items;
}

function sorted(model: Model): ValueRecord[] {
  return [...model.values()].sort((a, b) => compareBytes(a.key, b.key));
}

function open(objects: ObjectStore, chunking: Chunking, disk?: DiskCache): TableFiles {
  return new TableFiles(objects, { sides: { chunking, weigh: entryWeight, ...(disk ? { disk } : {}) } });
}

async function write(files: TableFiles, model: Model, chunking: Chunking): Promise<string> {
  const writer = new MetarangeWriter(files, { chunking, weigh: entryWeight });
  for (const record of sorted(model)) if (writer.add(record)) await writer.proceed();
  const { id } = await writer.finish();
  await files.settled();
  return id;
}

async function apply(files: TableFiles, id: string, changes: readonly Change[], chunking: Chunking) {
  const options = { chunking, weigh: entryWeight, same: sameContent };
  const applied = await applyChanges(files, new Metarange(files, id), inBlocks(changes), options);
  await files.settled();
  return applied;
}

function randomKey(random: Randomness): string {
  return `folder-${Math.floor(random.fraction() * 20)}/file-${Math.floor(random.fraction() * 2000)}`;
}

/** Changes here and there, or many side by side, or the removal of a run of neighbours. */
function draw(random: Randomness, model: Model, version: number): Change[] {
  const changes = new Map<string, Change>();
  const set = (key: string, record: ValueRecord | undefined) => changes.set(key, { key: utf8(key), record });
  const kind = random.fraction();
  const existing = sorted(model);
  if (kind < 0.5 || existing.length === 0) {
    const count = existing.length === 0 ? 1500 : Math.floor(random.fraction() * 20);
    for (let i = 0; i < count; i++) {
      const key = randomKey(random);
      set(key, random.fraction() < 0.3 ? undefined : recordOf(key, version));
    }
  } else {
    const from = Math.floor(random.fraction() * existing.length);
    const run = existing.slice(from, from + Math.floor(random.fraction() * 200));
    for (const { key } of run) {
      set(lossyText(key), kind < 0.7 ? undefined : recordOf(lossyText(key), version));
    }
  }
  if (random.fraction() < 0.2) set("aaa", random.fraction() < 0.5 ? undefined : recordOf("aaa", version));
  if (random.fraction() < 0.2) set("zzz", random.fraction() < 0.5 ? undefined : recordOf("zzz", version));
  return [...changes.values()].sort((a, b) => compareBytes(a.key, b.key));
}

function change(model: Model, changes: readonly Change[]): void {
  for (const { key, record } of changes) {
    if (record) model.set(lossyText(key), record);
    else model.delete(lossyText(key));
  }
}

async function bytesOf(objects: ObjectStore, id: string): Promise<Uint8Array> {
  const key = `_lakefs/${id}`;
  return (await objects.read(key, 0, (await objects.head(key))!.sizeBytes)).slice();
}

const CHUNKINGS: Chunking[] = [
  WHOLE,
  { minSizeBytes: 0, maxSizeBytes: 20 << 20, raggedness: 300 },
  { minSizeBytes: 40_000, maxSizeBytes: 20 << 20, raggedness: 60 },
  { minSizeBytes: 0, maxSizeBytes: 60_000, raggedness: 1 << 20 },
  { minSizeBytes: 20_000, maxSizeBytes: 90_000, raggedness: 200 },
];

test("ranges made of copied blocks are those written from scratch, byte for byte", async () => {
  for (const [c, chunking] of CHUNKINGS.entries()) {
    for (let seed = 0; seed < 3; seed++) {
      const random = seededRandomness(c * 100 + seed);
      const objects = openMemoryObjectStore(), scratch = openMemoryObjectStore();
      const files = open(objects, chunking);
      const model: Model = new Map();
      let id = NO_METARANGE;
      for (let step = 0; step < 14; step++) {
        const where = `chunking ${c} seed ${seed} step ${step}`;
        const before: Model = new Map(model);
        const changes = draw(random, model, step + 2);
        change(model, changes);
        const applied = await apply(files, id, changes, chunking);
        assert.equal(applied.id, await write(new TableFiles(scratch), model, chunking), where);
        assert.equal(applied.id, canonicalModel(model.values(), chunking, entryWeight).metarangeId, where);
        for (const { id: range } of await new Metarange(files, applied.id).ranges()) {
          assert.deepEqual(await bytesOf(objects, range), await bytesOf(scratch, range), where);
        }
        const diff = await collect(
          diffMetaranges(new Metarange(files, id), new Metarange(files, applied.id)),
        );
        assert.deepEqual(
          diff.map(({ key, left, right }) => [lossyText(key), left?.identity, right?.identity]),
          differences(before, model),
          where,
        );
        id = applied.id;
      }
      assert.ok(files.counts.blocksCopied > 50, `${files.counts.blocksCopied} blocks copied`);
    }
  }
});

function differences(before: Model, after: Model): unknown[] {
  const keys = [...new Set([...before.keys(), ...after.keys()])];
  return keys.sort((a, b) => compareBytes(utf8(a), utf8(b)))
    .map((key) => [key, before.get(key)?.identity, after.get(key)?.identity] as const)
    .filter(([, left, right]) => !left || !right || compareBytes(left, right) !== 0);
}

test("a merge takes ranges that one side changed over by ID, and comes to what a plain map comes to", async () => {
  let byId = 0;
  for (const [c, chunking] of CHUNKINGS.entries()) {
    for (let seed = 0; seed < 8; seed++) {
      const random = seededRandomness(9000 + c * 100 + seed);
      const objects = openMemoryObjectStore(), scratch = openMemoryObjectStore();
      const files = open(objects, chunking);
      const base: Model = new Map();
      change(base, draw(random, base, 2));
      const source: Model = new Map(base), destination: Model = new Map(base);
      // Every other time each side keeps to its half of the keys.
      const within = (isLower: boolean) => ({ key }: Change) =>
        seed % 2 === 0 || (compareBytes(key, utf8("folder-15")) < 0) === isLower;
      for (let i = 0; i < 2; i++) change(source, draw(random, source, 3 + i).filter(within(true)));
      for (let i = 0; i < 2; i++) change(destination, draw(random, destination, 5 + i).filter(within(false)));
      const ids = [];
      for (const model of [base, source, destination]) ids.push(await write(files, model, chunking));
      const inputs = {
        base: new Metarange(files, ids[0]!),
        source: new Metarange(files, ids[1]!),
        destination: new Metarange(files, ids[2]!),
      };
      const onConflict = ({ key, source }: Conflict) => ({ key, record: source });
      const merged: Model = new Map(destination);
      for (const [key] of differences(base, source) as [string][]) {
        const record = source.get(key);
        if (record) merged.set(key, record);
        else merged.delete(key);
      }
      const before = { ...files.counts };
      const options = { chunking, weigh: entryWeight, same: sameContent, theirs: inputs };
      const applied = await applyChanges(
        files,
        inputs.destination,
        mergeChanges(inputs, { same: sameContent, onConflict }),
        options,
      );
      const where = `chunking ${c} seed ${seed}`;
      assert.equal(applied.id, await write(new TableFiles(scratch), merged, chunking), where);
      const changes = differences(destination, merged) as [string, unknown, unknown][];
      assert.deepEqual(
        [applied.added, applied.removed, applied.changed],
        [
          changes.filter(([, left]) => !left).length,
          changes.filter(([, , right]) => !right).length,
          changes.filter(([, left, right]) => left && right).length,
        ],
        where,
      );
      const [theirs, ours] = await Promise.all(
        [inputs.source, inputs.destination].map(async (side) =>
          new Set((await side.ranges()).map(({ id }) => id))
        ),
      );
      const result = await new Metarange(files, applied.id).ranges();
      const written = new Set(applied.newRanges);
      byId += result.filter(({ id }) => theirs!.has(id) && !ours!.has(id) && !written.has(id)).length;
      assert.equal(
        files.counts.rangesReused - before.rangesReused + applied.newRanges.length,
        result.length,
        where,
      );
      assert.ok(files.counts.tablesWritten - before.tablesWritten <= applied.newRanges.length + 1, where);
    }
  }
  assert.ok(byId > 8, `${byId} ranges taken by ID`);
});

test("a merge of what only the source changed writes no range", async () => {
  const chunking = CHUNKINGS[1]!;
  const files = open(openMemoryObjectStore(), chunking);
  const base = largeModel(), source: Model = new Map(base), destination: Model = new Map(base);
  for (let i = 0; i < 6000; i += 97) {
    const key = `key-${String(i).padStart(6, "0")}`;
    if (i < 3000) source.set(key, recordOf(key, 30));
    else destination.set(key, recordOf(key, 31));
  }
  // An append re-opens the last range of the source.
  destination.set("key-005999", base.get("key-005999")!);
  const [b, s, d] = [
    await write(files, base, chunking),
    await write(files, source, chunking),
    await write(files, destination, chunking),
  ];
  const inputs = {
    base: new Metarange(files, b),
    source: new Metarange(files, s),
    destination: new Metarange(files, d),
  };
  const applied = await applyChanges(
    files,
    inputs.destination,
    mergeChanges(inputs, { same: sameContent, onConflict: () => assert.fail("there is no conflict") }),
    { chunking, weigh: entryWeight, same: sameContent, theirs: inputs },
  );
  assert.ok(applied.newRanges.length <= 1, "only the range in which the two halves meet may be written");
  assert.equal(applied.changed, Math.ceil(3000 / 97));
});

function temporaryFolder(t: TestContext): string {
  const folder = mkdtempSync(join(tmpdir(), "tarn-blocks-"));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

function largeModel(count = 6000): Model {
  const keys = Array.from({ length: count }, (_, i) => `key-${String(i).padStart(6, "0")}`);
  return new Map(keys.map((key, i) => [key, recordOf(key, 2 + i % 5)]));
}

/** What one change to a large range costs. */
async function costOfOneChange(files: TableFiles, id: string, version: number) {
  const counts = { ...files.counts };
  const record = recordOf("key-002000", version);
  const applied = await apply(files, id, [{ key: record.key, record }], WHOLE);
  const { blocksRead, blocksCopied, tablesWritten } = files.counts;
  return {
    id: applied.id,
    blocksRead: blocksRead - counts.blocksRead,
    blocksCopied: blocksCopied - counts.blocksCopied,
    tablesWritten: tablesWritten - counts.tablesWritten,
  };
}

test("one change reads the blocks around it and copies all others, and its diff reads these alone", async (t) => {
  const objects = openMemoryObjectStore();
  const disk = openDiskCache({ folder: temporaryFolder(t), maxBytes: 1 << 30 });
  const id = await write(open(objects, WHOLE, disk), largeModel(), WHOLE);
  const files = open(objects, WHOLE, disk);
  const cost = await costOfOneChange(files, id, 9);
  assert.equal(cost.tablesWritten, 2);
  // The changed block, perhaps the next one, the range's last one; and of metaranges and open files three small ones each.
  assert.ok(cost.blocksRead <= 12, `${cost.blocksRead} blocks read`);
  assert.ok(cost.blocksCopied > 100, `${cost.blocksCopied} blocks copied`);

  const fresh = open(objects, WHOLE, disk);
  const diff = await collect(diffMetaranges(new Metarange(fresh, id), new Metarange(fresh, cost.id)));
  assert.deepEqual(diff.map(({ key }) => lossyText(key)), ["key-002000"]);
  assert.ok(fresh.counts.blocksRead <= 20, `${fresh.counts.blocksRead} blocks read`);
});

test("sides that are missing, damaged or another file's are made again and change nothing", async (t) => {
  const objects = openMemoryObjectStore();
  const folder = temporaryFolder(t);
  const disk = openDiskCache({ folder, maxBytes: 1 << 30 });
  const model = largeModel();
  const id = await write(open(objects, WHOLE, disk), model, WHOLE);
  const damages: Record<string, (name: string) => void> = {
    "all removed": (name) => rmSync(name),
    "a bit flipped": (name) => {
      const bytes = readFileSync(name);
      bytes[bytes.length >> 1]! ^= 4;
      writeFileSync(name, bytes);
    },
    "cut short": (name) => writeFileSync(name, readFileSync(name).subarray(0, -9)),
    "emptied": (name) => writeFileSync(name, ""),
    "swapped with the first": (name) => {
      const [, kind] = name.split(".");
      const first = readdirSync(folder).filter((other) => other.endsWith(kind!)).sort()[0]!;
      writeFileSync(name, readFileSync(join(folder, first)));
    },
  };
  let version = 20;
  for (const [what, damage] of Object.entries(damages)) {
    for (const kind of [".ids", ".blocks", ""]) {
      for (const name of readdirSync(folder)) if (name.endsWith(kind)) damage(join(folder, name));
      const files = open(objects, WHOLE, disk);
      const cost = await costOfOneChange(files, id, ++version);
      const expected = new Map(model).set("key-002000", recordOf("key-002000", version));
      const where = `${what} ${kind}`;
      assert.equal(cost.id, canonicalModel(expected.values(), WHOLE, entryWeight).metarangeId, where);
      assert.ok(cost.blocksCopied > 100, where);
    }
  }
});

test("a side of our bytes is not taken for one of a file that was there before, with other blocks", async (t) => {
  const objects = openMemoryObjectStore();
  const disk = openDiskCache({ folder: temporaryFolder(t), maxBytes: 1 << 30 });
  const model = largeModel();
  // The same keys and identities, but other addresses: values of other lengths, so blocks end elsewhere.
  const elsewhere: Model = new Map(
    [...model].map((
      [key, record],
      i,
    ) => [key, { ...record, data: recordOf(key, 2 + i % 5, "a".repeat(i % 90)).data }]),
  );
  const id = await write(open(objects, WHOLE), elsewhere, WHOLE);
  assert.equal(await write(open(objects, WHOLE, disk), model, WHOLE), id);
  const files = open(objects, WHOLE, disk);
  const cost = await costOfOneChange(files, id, 9);
  const changed = new Map(elsewhere).set("key-002000", recordOf("key-002000", 9));
  const records = await collect(new Metarange(files, cost.id).records());
  assert.deepEqual(records.map(({ data }) => data.slice()), sorted(changed).map(({ data }) => data));
  const scratch = openMemoryObjectStore();
  assert.equal(await write(open(scratch, WHOLE), changed, WHOLE), cost.id);
  const [range] = await new Metarange(files, cost.id).ranges();
  assert.deepEqual(await bytesOf(objects, range!.id), await bytesOf(scratch, range!.id));
});

test("a damaged block is not copied: the commit that would take it over says so", async () => {
  const objects = openMemoryObjectStore();
  const id = await write(open(objects, WHOLE), largeModel(), WHOLE);
  const files = open(objects, WHOLE);
  await costOfOneChange(files, id, 8);
  const [range] = await new Metarange(files, id).ranges();
  const bytes = await bytesOf(objects, range!.id);
  const damaged = bytes.slice();
  damaged[100]! ^= 1;
  await objects.put(`_lakefs/${range!.id}`, damaged);
  await assert.rejects(costOfOneChange(files, id, 9), { kind: "corrupt" });
  await objects.put(`_lakefs/${range!.id}`, bytes);
  assert.ok((await costOfOneChange(files, id, 9)).blocksCopied > 90);
});

test("a side is not used on another file of the same ID, though its blocks end in the same places", async (t) => {
  const objects = openMemoryObjectStore();
  const disk = openDiskCache({ folder: temporaryFolder(t), maxBytes: 1 << 30 });
  const model = largeModel();
  const id = await write(open(objects, WHOLE, disk), model, WHOLE);
  // As a collection of garbage and another home may leave it: the same identities, other addresses of the same length.
  const moved: Model = new Map(
    [...model].map((
      [key, record],
      i,
    ) => [key, { ...record, data: recordOf(key, 2 + i % 5, `DATA/${2 + i % 5}/${key}`).data }]),
  );
  const elsewhere = openMemoryObjectStore();
  assert.equal(await write(open(elsewhere, WHOLE), moved, WHOLE), id);
  const [range] = await new Metarange(open(objects, WHOLE), id).ranges();
  await objects.put(`_lakefs/${range!.id}`, await bytesOf(elsewhere, range!.id));
  const files = open(objects, WHOLE, disk);
  const cost = await costOfOneChange(files, id, 9);
  assert.ok(cost.blocksCopied > 90, "what is known of the blocks was found out anew");
  const records = await collect(new Metarange(files, cost.id).records());
  const expected = new Map(moved).set("key-002000", recordOf("key-002000", 9));
  assert.deepEqual(records.map(({ data }) => data.slice()), sorted(expected).map(({ data }) => data));
});

test("nothing is built on a range file that is another one's, though keys and count are the same", async () => {
  const objects = openMemoryObjectStore();
  const model = largeModel();
  const id = await write(open(objects, WHOLE), model, WHOLE);
  const other = await costOfOneChange(open(objects, WHOLE), id, 9);
  const [mine] = await new Metarange(open(objects, WHOLE), id).ranges();
  const [theirs] = await new Metarange(open(objects, WHOLE), other.id).ranges();
  await objects.put(`_lakefs/${mine!.id}`, await bytesOf(objects, theirs!.id));
  const files = open(objects, WHOLE);
  await assert.rejects(costOfOneChange(files, id, 10), { kind: "corrupt" });
  await assert.rejects(
    collect(diffMetaranges(new Metarange(files, id), new Metarange(files, other.id))),
    { kind: "corrupt" },
  );
});
