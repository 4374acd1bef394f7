import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { type Randomness, seededRandomness } from "../../base/randomness.ts";
import { type DiskCache, openDiskCache } from "../../cache/mod.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import { canonicalModel } from "../../tests/support/canonical.ts";
import { madeUpChange } from "../../tests/support/made_up_changes.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { entryWeight, sameContent } from "../objects/mod.ts";
import { applyChanges, type Change } from "./apply.ts";
import { TableFiles } from "./files.ts";
import { Metarange, NO_METARANGE } from "./metarange.ts";
import type { ValueRecord } from "./record.ts";

const CHUNKING = { minSizeBytes: 0, maxSizeBytes: 20 << 20, raggedness: 1 << 30 };
const OPTIONS = { chunking: CHUNKING, weigh: entryWeight, same: sameContent };
const KEYS = 6000;
const WHOLE_BYTES = KEYS * 32;

test("of the record IDs of a range that changed a little only what differs is kept", async (t) => {
  const versions = new Versions(t);
  await versions.commit(additions());
  assert.ok(versions.bytesKept > WHOLE_BYTES);
  for (let round = 0; round < 3; round++) {
    versions.bytesKept = 0;
    await versions.commit([change(40 + round, round)]);
    assert.ok(versions.bytesKept < WHOLE_BYTES / 8, `${versions.bytesKept} bytes were kept`);
  }
});

test("a range keeps its side through many versions, in processes of their own", async (t) => {
  const versions = new Versions(t), random = seededRandomness(4);
  await versions.commit(additions());
  for (let round = 1; round <= 30; round++) {
    const { blocksCopied, blocksRead } = await versions.commit(someChanges(round, random));
    assert.ok(blocksCopied > 50, `${blocksCopied} blocks copied in round ${round}`);
    assert.ok(blocksRead < 100, `${blocksRead} blocks read in round ${round}`);
  }
  // By then so much had changed that a newer list was kept whole.
  const lists = versions.names(".ids").length;
  assert.ok(lists >= 2 && lists <= 6, `${lists} lists are kept whole`);
});

test("record IDs whose base is gone or damaged are made again from the range", async (t) => {
  const damages: ((path: string) => void)[] = [
    (path) => rmSync(path),
    (path) => writeFileSync(path, readFileSync(path).subarray(0, 1000)),
    (path) => {
      const bytes = readFileSync(path);
      bytes[5000]! ^= 1;
      writeFileSync(path, bytes);
    },
  ];
  for (const damage of damages) {
    const versions = new Versions(t);
    await versions.commit(additions());
    await versions.commit([change(7, 1)]);
    const [base] = versions.names(".ids");
    damage(join(versions.folder, base!));
    const { blocksCopied } = await versions.commit([change(8, 2)]);
    assert.ok(blocksCopied > 50, `${blocksCopied} blocks copied`);
    assert.deepEqual(
      versions.names(".ids").filter((name) => name !== base).length,
      1,
      "one list was made again",
    );
    assert.ok((await versions.commit([change(9, 3)])).blocksRead < 20);
  }
});

test("a range that comes back as it was, when its file was lost, has its side", async (t) => {
  const versions = new Versions(t);
  await versions.commit(additions());
  await versions.commit([change(7, 1)]);
  for (const name of await versions.lose()) assert.match(name, /^_lakefs/);
  await versions.commit([change(7, 0)]);
  assert.ok((await versions.commit([change(8, 2)])).blocksCopied > 50);
});

/** Versions of one list of records; each is made by files that know nothing but what lies on the disk. */
class Versions {
  readonly folder: string;
  bytesKept = 0;
  readonly #objects = openMemoryObjectStore();
  readonly #disk: DiskCache;
  readonly #model = new Map<string, ValueRecord>();
  readonly #ids = [NO_METARANGE];

  constructor(t: TestContext) {
    this.folder = temporaryFolder(t);
    const disk = openDiskCache({ folder: this.folder, maxBytes: 1 << 30 });
    this.#disk = {
      read: (...call) => disk.read(...call),
      readAt: (...call) => disk.readAt(...call),
      readParts: (...call) => disk.readParts(...call),
      size: (key) => disk.size(key),
      delete: (key) => disk.delete(key),
      write: async (key, bytes) => {
        this.bytesKept += (bytes as Uint8Array).length;
        await disk.write(key, bytes);
      },
    };
  }

  /** Applies changes; the result must be what a list from scratch would be. */
  async commit(changes: readonly Change[]) {
    const files = new TableFiles(this.#objects, { sides: { ...OPTIONS, disk: this.#disk } });
    async function* inOne() {
      yield changes;
    }
    const { id } = await applyChanges(files, new Metarange(files, this.#ids.at(-1)!), inOne(), OPTIONS);
    await files.settled();
    for (const { key, record } of changes) {
      const name = key.join();
      if (record) this.#model.set(name, record);
      else this.#model.delete(name);
    }
    assert.equal(id, canonicalModel(this.#model.values(), CHUNKING, entryWeight).metarangeId);
    this.#ids.push(id);
    return files.counts;
  }

  names(kind: string): string[] {
    return readdirSync(this.folder).filter((name) => name.endsWith(kind));
  }

  /** Loses the range files of the first version; returns their keys. */
  async lose(): Promise<string[]> {
    const files = new TableFiles(this.#objects);
    const ranges = await new Metarange(files, this.#ids[1]!).ranges();
    const keys = ranges.map(({ id }) => `_lakefs/${id}`);
    for (const key of keys) await this.#objects.delete(key);
    return keys;
  }
}

function change(i: number, version: number): Change {
  return madeUpChange(`folder/${String(i).padStart(6, "0")}`, version, i);
}

/** Every second number, so that there is room between them. */
function additions(): Change[] {
  return Array.from({ length: KEYS }, (_, i) => change(i * 2, 0));
}

/** Changes, additions and removals of neighbours in a few places. */
function someChanges(version: number, random: Randomness): Change[] {
  const changes = new Map<number, Change>();
  for (let place = 0; place < 4; place++) {
    const start = Math.floor(random.fraction() * KEYS * 2 - 40);
    for (let i = Math.max(0, start); i < start + 14; i++) {
      const { key, record } = change(i, version);
      changes.set(i, { key, record: random.fraction() < 0.3 ? undefined : record });
    }
  }
  return [...changes].sort(([a], [b]) => a - b).map(([, change]) => change);
}
