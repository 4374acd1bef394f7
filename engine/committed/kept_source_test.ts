import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { lossyText, utf8 } from "../../base/bytes.ts";
import { type DiskCache, openDiskCache } from "../../cache/mod.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { type Entry, entryRecord, entryWeight } from "../objects/mod.ts";
import { DEFAULT_CHUNKING } from "./chunking.ts";
import { TableFiles } from "./files.ts";
import { Metarange } from "./metarange.ts";
import { MetarangeWriter } from "./writer.ts";

const KEYS = Array.from({ length: 3000 }, (_, i) => `key-${String(i).padStart(5, "0")}`);

function record(key: string) {
  const entry: Entry = {
    address: `data/${key}`,
    addressType: 1,
    lastModified: { seconds: 1, nanos: 0 },
    sizeBytes: 1,
    etag: key,
    metadata: {},
    contentType: "",
  };
  return entryRecord(utf8(key), entry);
}

/** Writes a metarange; returns its ID and a store that counts what is read of it. */
async function prepare(): Promise<{ id: string; objects: ObjectStore; reads: string[] }> {
  const memory = openMemoryObjectStore();
  const writer = new MetarangeWriter(new TableFiles(memory), {
    chunking: { ...DEFAULT_CHUNKING, raggedness: 1 << 20 },
    weigh: entryWeight,
  });
  for (const key of KEYS) if (writer.add(record(key))) await writer.proceed();
  const { id } = await writer.finish();
  const reads: string[] = [];
  const objects: ObjectStore = Object.create(memory, {
    head: { value: (key: string) => memory.head(key) },
    read: {
      value: (key: string, offset: number, length: number) => {
        reads.push(key);
        return memory.read(key, offset, length);
      },
    },
  });
  return { id, objects, reads };
}

async function readAll(objects: ObjectStore, tables: DiskCache, id: string): Promise<void> {
  const metarange = new Metarange(new TableFiles(objects, { tables, cacheBytes: 0 }), id);
  const keys: string[] = [];
  for await (const block of metarange.records()) keys.push(...block.map(({ key }) => lossyText(key)));
  assert.deepEqual(keys, KEYS);
  for (const key of KEYS.filter((_, i) => i % 500 === 0)) assert.ok(await metarange.get(utf8(key)));
}

test("a table of a far namespace is fetched once, whole, and read from the disk by the next process too", async (t) => {
  const { id, objects, reads } = await prepare();
  const tables = openDiskCache({ folder: temporaryFolder(t), maxBytes: 1 << 28 });
  await readAll(objects, tables, id);
  assert.equal(reads.length, 2, "the metarange and its range");
  await readAll(objects, tables, id);
  assert.equal(reads.length, 2);
});

test("a copy that is damaged, cut short, empty or gone is fetched again, and what is read is right", async (t) => {
  const { id, objects, reads } = await prepare();
  const folder = temporaryFolder(t);
  const tables = openDiskCache({ folder, maxBytes: 1 << 28 });
  await readAll(objects, tables, id);
  const names = () => readdirSync(folder).map((name) => join(folder, name));
  const damages: Record<string, (name: string) => void> = {
    "a bit in the first block": (name) => flip(name, () => 100),
    "a bit in the middle": (name) => flip(name, (size) => size >> 1),
    "a bit in the footer": (name) => flip(name, (size) => size - 5),
    "a bit in the properties": (name) => flip(name, (size) => size - 300),
    "cut short": (name) => truncateSync(name, 500),
    "emptied": (name) => truncateSync(name, 0),
    "gone": (name) => rmSync(name),
  };
  for (const [what, damage] of Object.entries(damages)) {
    assert.equal(names().length, 2, what);
    for (const name of names()) damage(name);
    reads.length = 0;
    await readAll(objects, tables, id);
    assert.ok(reads.length >= 2, what);
    await readAll(objects, tables, id);
  }
});

test("copies that find no room are no failure", async (t) => {
  const { id, objects } = await prepare();
  await readAll(objects, openDiskCache({ folder: temporaryFolder(t), maxBytes: 1000 }), id);
  const file = join(temporaryFolder(t), "file");
  writeFileSync(file, "");
  await readAll(objects, openDiskCache({ folder: join(file, "below"), maxBytes: 1 << 28 }), id);
});

function flip(name: string, at: (size: number) => number): void {
  const bytes = readFileSync(name);
  bytes[Math.max(0, at(bytes.length))]! ^= 1;
  writeFileSync(name, bytes);
}
