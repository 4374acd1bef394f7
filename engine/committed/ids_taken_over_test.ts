import assert from "node:assert/strict";
import { test } from "node:test";
import { compareBytes, lossyText, utf8 } from "../../base/bytes.ts";
import { type Randomness, seededRandomness } from "../../base/randomness.ts";
import { openDiskCache } from "../../cache/mod.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import { canonicalModel } from "../../tests/support/canonical.ts";
import { madeUpChange, madeUpRecord } from "../../tests/support/made_up_changes.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { entryWeight, sameContent } from "../objects/mod.ts";
import { applyChanges, type Change } from "./apply.ts";
import type { Chunking } from "./chunking.ts";
import { TableFiles } from "./files.ts";
import { Metarange, NO_METARANGE } from "./metarange.ts";
import type { ValueRecord } from "./record.ts";

const CHUNKINGS: Chunking[] = [
  { minSizeBytes: 0, maxSizeBytes: 20 << 20, raggedness: 1 << 25 },
  { minSizeBytes: 0, maxSizeBytes: 20 << 20, raggedness: 2000 },
  { minSizeBytes: 150_000, maxSizeBytes: 500_000, raggedness: 2000 },
];
test("whatever a process finds on disk, ranges made of older ones are those that the records alone come to", async (t) => {
  for (const [c, chunking] of CHUNKINGS.entries()) {
    for (let seed = 0; seed < 3; seed++) {
      const random = seededRandomness(c * 10 + seed);
      const objects = openMemoryObjectStore();
      const disk = openDiskCache({ folder: temporaryFolder(t), maxBytes: 1 << 30 });
      const options = { chunking, weigh: entryWeight, same: sameContent };
      const model = new Map<string, ValueRecord>();
      let id = NO_METARANGE, copied = 0;
      for (let step = 0; step < 12; step++) {
        const changes = step === 0 ? initial(6000) : draw(random, model, step + 2);
        for (const { key, record } of changes) {
          if (record) model.set(lossyText(key), record);
          else model.delete(lossyText(key));
        }
        // As a new process does, so that lists of IDs are read into memory that the new ones are then made in.
        const files = new TableFiles(objects, { sides: { ...options, disk } });
        const applied = await applyChanges(files, new Metarange(files, id), inOne(changes), options);
        await files.settled();
        assert.equal(applied.id, canonicalModel(model.values(), chunking, entryWeight).metarangeId);
        for (const range of applied.newRanges) await (await files.open(range)).verify();
        copied += files.counts.blocksCopied;
        id = applied.id;
      }
      assert.ok(copied > 300, `${copied} blocks copied`);
    }
  }
});

/** A few changes here and there, many side by side, or the removal of a run of neighbours; perhaps in front of all, or behind. */
function draw(random: Randomness, model: Map<string, ValueRecord>, version: number): Change[] {
  const keys = [...model.keys()], changes = new Map<string, Change>();
  const set = (key: string, record: ValueRecord | undefined) => changes.set(key, { key: utf8(key), record });
  const at = () => Math.floor(random.fraction() * keys.length);
  const kind = random.fraction();
  if (kind < 0.4) {
    for (let i = 0; i < 1 + at() % 5; i++) set(keys[at()]!, madeUpRecord(keys[at()]!, version));
  } else if (kind < 0.6) {
    for (let i = 0, from = at(); i < 1500; i++) set(`${keys[from]}+${i}`, madeUpRecord("", version));
  } else {for (const key of keys.slice(at()).slice(0, at() % 900)) {
      set(key, kind < 0.8 ? undefined : madeUpRecord(key, version));
    }}
  if (random.fraction() < 0.3) set("a", random.fraction() < 0.5 ? undefined : madeUpRecord("a", version));
  if (random.fraction() < 0.3) set("z", random.fraction() < 0.5 ? undefined : madeUpRecord("z", version));
  for (const [key, change] of changes) {
    if (change.record) changes.set(key, { key: change.key, record: madeUpRecord(key, version) });
  }
  return [...changes.values()].sort((a, b) => compareBytes(a.key, b.key));
}

function initial(count: number): Change[] {
  return Array.from({ length: count }, (_, i) => {
    return madeUpChange(`folder/${String(i).padStart(6, "0")}`, 1);
  });
}

async function* inOne(all: readonly Change[]) {
  yield all;
}
