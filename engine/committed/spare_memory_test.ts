import assert from "node:assert/strict";
import { test } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { type DiskCache, openDiskCache } from "../../cache/mod.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import { madeUpChange } from "../../tests/support/made_up_changes.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { entryWeight, sameContent } from "../objects/mod.ts";
import { applyChanges, type Change } from "./apply.ts";
import type { Chunking } from "./chunking.ts";
import { TableFiles } from "./files.ts";
import { Metarange, NO_METARANGE } from "./metarange.ts";
import { RecordIds } from "./ids.ts";
import { giveBytesBack, giveRecordIdsBack, takeBytes, takeRecordIds } from "./spare_memory.ts";

const CHUNKING: Chunking = { minSizeBytes: 0, maxSizeBytes: 20 << 20, raggedness: 2000 };
const OPTIONS = { chunking: CHUNKING, weigh: entryWeight, same: sameContent };

test("what is given back is taken again, with nothing in it, unless it is large", () => {
  const ids = takeRecordIds();
  ids.add(utf8("a"), utf8("b"));
  giveRecordIdsBack(ids);
  const again = takeRecordIds();
  assert.equal(again, ids);
  assert.equal(again.count, 0);
  assert.notEqual(takeRecordIds(), ids);

  const bytes = takeBytes(100_000);
  assert.ok(bytes.length >= 100_000);
  giveBytesBack(bytes);
  assert.equal(takeBytes(90_000), bytes);
  const large = new Uint8Array(7 * 1024 * 1024);
  giveBytesBack(large);
  assert.notEqual(takeBytes(100_000), large);
});

test("memory that is too short for what is asked is not given, and stays for others", () => {
  const short = new Uint8Array(100_000), long = new Uint8Array(200_000);
  giveBytesBack(long);
  giveBytesBack(short);
  assert.ok(takeBytes(300_000).length >= 300_000);
  assert.equal(takeBytes(100_000), short);
  assert.equal(takeBytes(100_000), long);
});

test("what a list was made in serves whatever needs memory", () => {
  const ids = new RecordIds(10_000);
  giveRecordIdsBack(ids);
  const bytes = takeBytes(300_000);
  assert.equal(bytes.length, 320_000);
  assert.notEqual(takeRecordIds(), ids);
  assert.equal(ids.memoryBytes, 0);
});

test("a commit that touches many ranges has their record IDs in the memory of a few", async (t) => {
  const objects = openMemoryObjectStore(),
    disk = openDiskCache({ folder: temporaryFolder(t), maxBytes: 1 << 30 });
  const used = new Set<ArrayBufferLike>();
  let lists = 0;
  const note = ({ buffer }: Uint8Array) => {
    used.add(buffer);
    lists++;
  };
  const watched: DiskCache = {
    read(key, into) {
      if (into && key.endsWith(".ids")) note(into);
      return disk.read(key, into);
    },
    readParts(key, parts) {
      if (parts[0]) note(parts[0].into);
      return disk.readParts(key, parts);
    },
    readAt: (...call) => disk.readAt(...call),
    size: (key) => disk.size(key),
    write: (...call) => disk.write(...call),
    delete: (key) => disk.delete(key),
  };
  let id = NO_METARANGE;
  for (let version = 0; version < 6; version++) {
    const files = new TableFiles(objects, { sides: { ...OPTIONS, disk: watched } });
    const applied = await apply(files, id, changes(version, 60_000, version === 0 ? 1 : 500));
    await files.settled();
    id = applied.id;
  }
  assert.ok(lists > 80, `${lists} lists were read`);
  assert.ok(used.size <= 8, `into ${used.size} pieces of memory`);
});

test("changes that are applied side by side do not meet in the memory that they share", async () => {
  const files = new TableFiles(openMemoryObjectStore(), { sides: OPTIONS });
  const base = (await apply(files, NO_METARANGE, changes(0, 8000))).id;
  const sides = Array.from({ length: 6 }, (_, i) => changes(i + 1, 8000, 997));
  const together = await Promise.all(sides.map((side) => apply(files, base, side)));
  assert.ok(files.counts.blocksCopied > 100, `${files.counts.blocksCopied} blocks copied`);
  for (const [i, side] of sides.entries()) {
    const alone = new TableFiles(openMemoryObjectStore());
    const whole = await apply(alone, (await apply(alone, NO_METARANGE, changes(0, 8000))).id, side);
    assert.equal(together[i]!.id, whole.id);
    for (const { id } of await new Metarange(files, whole.id).ranges()) await (await files.open(id)).verify();
  }
});

function apply(files: TableFiles, base: string, all: readonly Change[]) {
  async function* inOne() {
    yield all;
  }
  return applyChanges(files, new Metarange(files, base), inOne(), OPTIONS);
}

/** Returns a record for each `step`-th of so many keys. */
function changes(version: number, count: number, step = 1): Change[] {
  return Array.from({ length: Math.ceil(count / step) }, (_, i) => {
    return madeUpChange(`folder/${String(i * step).padStart(6, "0")}`, version, i);
  });
}
