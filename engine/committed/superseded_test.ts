import assert from "node:assert/strict";
import { test } from "node:test";
import { setImmediate } from "node:timers/promises";
import { utf8 } from "../../base/bytes.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import { entryRecord, entryWeight, sameContent } from "../objects/mod.ts";
import { applyChanges, type Change } from "./apply.ts";
import { TableFiles } from "./files.ts";
import { Metarange, NO_METARANGE } from "./metarange.ts";
import { SupersededRanges } from "./superseded.ts";

const OPTIONS = {
  chunking: { minSizeBytes: 0, maxSizeBytes: 1 << 30, raggedness: 2 ** 31 },
  weigh: entryWeight,
  same: sameContent,
};

test("what was written here and copied is superseded, and told once", () => {
  const ranges = new SupersededRanges();
  ranges.noteWritten("a");
  ranges.noteWritten("b");
  ranges.noteCopied("a");
  ranges.noteCopied("a");
  ranges.noteCopied("somebody else's");
  assert.deepEqual(ranges.take(), ["a"]);
  assert.deepEqual(ranges.take(), []);
  ranges.noteCopied("a");
  assert.deepEqual(ranges.take(), []);
});

test("of many that were written the latest are remembered", () => {
  const ranges = new SupersededRanges();
  for (let i = 0; i <= 1000; i++) ranges.noteWritten(`${i}`);
  ranges.noteCopied("0");
  ranges.noteCopied("1");
  assert.deepEqual(ranges.take(), ["1"]);
});

test("a store is told of ranges that the next commit has replaced, and they can still be read", async () => {
  const objects = openMemoryObjectStore(), told: string[] = [];
  objects.letGo = (keys) => void told.push(...keys);
  const first = await commit(new TableFiles(objects, { sides: OPTIONS }), NO_METARANGE, changes(0, 2000));

  const files = new TableFiles(objects, { sides: OPTIONS });
  const second = await commit(files, first.id, changes(1, 1));
  assert.deepEqual(told, [], "the first range was written elsewhere: others may read it");
  const third = await commit(files, second.id, changes(2, 1));
  assert.deepEqual(told, second.newRanges.map((id) => `_lakefs/${id}`));
  for (const range of second.newRanges) assert.equal(files.opened(range), undefined);
  await setImmediate();
  for (const range of third.newRanges) {
    assert.ok(files.opened(range), "it will be replaced soon: it is open already");
  }

  // Another branch goes on from there.
  const other = await commit(files, second.id, changes(2, 1));
  assert.deepEqual(other.id, third.id);
  assert.equal(await new Metarange(files, second.id).isOurs(), true);
  for (const { newRanges } of [first, second, third]) {
    for (const range of newRanges) await (await files.open(range)).verify();
  }
});

async function commit(files: TableFiles, base: string, all: readonly Change[]) {
  async function* inBlocks() {
    yield all;
  }
  const applied = await applyChanges(files, new Metarange(files, base), inBlocks(), OPTIONS);
  await files.flush([...applied.newRanges, applied.id]);
  return applied;
}

function changes(version: number, count: number): Change[] {
  return Array.from({ length: count }, (_, i) => {
    const record = entryRecord(utf8(`folder/${String(i).padStart(8, "0")}`), {
      address: `data/${version}/${Math.imul(i, 0x9e3779b1) >>> 0}`,
      addressType: 1,
      lastModified: { seconds: version, nanos: 0 },
      sizeBytes: i,
      etag: `${Math.imul(i, 31) >>> 0}${version}`,
      metadata: {},
      contentType: "application/octet-stream",
    });
    return { key: record.key, record };
  });
}
