/**
 * A process of its own that uses databases which may be damaged, since one of them might end it: `damaged.ts FOLDER…`. For
 * each it says what came of it: `right`, the code of an error, or what was wrong; unbuffered.
 */

import { writeSync } from "node:fs";
import process from "node:process";
import { equalBytes, hex, utf8 } from "../../../base/bytes.ts";
import { isCoded } from "../../../base/errors.ts";
import type { ListedKvStore } from "../../store.ts";
import { openLmdb } from "../mod.ts";

export const PARTITIONS = ["a", "b", "c"].map(utf8);
const ENTRIES = 150;

export function keyOf(i: number): Uint8Array {
  return utf8(`folder ${i % 7}/file ${i}`);
}

/** Some values lie on pages of their own. */
export function valueOf(i: number): Uint8Array {
  return new Uint8Array(i % 25 === 24 ? 7000 : 60).fill(i);
}

export async function fill(folder: string): Promise<void> {
  const store = await openLmdb(folder);
  for (const partition of PARTITIONS) {
    for (const parity of [0, 1]) {
      const numbers = Array.from({ length: ENTRIES }, (_, i) => i).filter((i) => i % 2 === parity);
      await store.setMany(partition, numbers.map((i) => ({ key: keyOf(i), value: valueOf(i) })));
    }
    await store.set(partition, utf8("gone"), utf8("soon"));
    await store.delete(partition, utf8("gone"));
  }
  await store.close();
}

/** Reads all, one by one and by scans, and what is not there; then writes, and reads that. Throws what is not right. */
async function use(folder: string): Promise<void> {
  const store = await openLmdb(folder);
  try {
    await outcomes([
      ...PARTITIONS.map((partition) => () => readEach(store, partition)),
      ...PARTITIONS.map((partition) => () => readPages(store, partition)),
      () => readPartitions(store),
    ]);
    await outcomes(PARTITIONS.map((partition) => () => write(store, partition)));
  } finally {
    await store.close();
  }
}

/** Runs all, one after the other, whatever becomes of one; a refusal is passed on when no other is worse. */
async function outcomes(steps: readonly (() => Promise<void>)[]): Promise<void> {
  let refusal: unknown;
  for (const step of steps) {
    try {
      await step();
    } catch (error) {
      if (!isCoded(error, "kv_corrupt")) throw error;
      refusal = error;
    }
  }
  if (refusal) throw refusal;
}

async function readEach(store: ListedKvStore, partition: Uint8Array): Promise<void> {
  const steps = Array.from({ length: ENTRIES }, (_, i) => async () => {
    await expectValue(store, partition, i);
    if (await store.get(partition, utf8(`folder ${i % 7}/nothing ${i}`))) {
      throw new Error("something is there");
    }
    if (await store.get(partition, utf8(`g${i}`))) throw new Error("something is there");
  });
  await outcomes(steps);
}

async function expectValue(store: ListedKvStore, partition: Uint8Array, i: number): Promise<void> {
  const found = await store.get(partition, keyOf(i));
  if (!found || !equalBytes(found.value, valueOf(i))) {
    throw new Error(`${i} is ${found ? "another" : "missing"}`);
  }
}

async function readPages(store: ListedKvStore, partition: Uint8Array): Promise<void> {
  const expected = new Map(Array.from({ length: ENTRIES }, (_, i) => [hex(keyOf(i)), valueOf(i)]));
  for await (const page of store.scan(partition, { pageSize: 20 })) {
    for (const { key, value } of page) {
      const wanted = expected.get(hex(key));
      if (!wanted || !equalBytes(wanted, value)) throw new Error(`a scan gives a wrong ${hex(key)}`);
      expected.delete(hex(key));
    }
  }
  if (expected.size > 0) throw new Error(`a scan came out ${expected.size} short`);
  for await (const page of store.scan(partition, { prefix: utf8("folder 3/") })) {
    if (page.some(({ key }) => key[7] !== 0x33)) throw new Error("a scan leaves its prefix");
  }
}

async function readPartitions(store: ListedKvStore): Promise<void> {
  const found: string[] = [];
  for await (const partition of store.partitions()) found.push(hex(partition));
  if (found.join() !== PARTITIONS.map(hex).join()) throw new Error(`the partitions are ${found.join()}`);
}

async function write(store: ListedKvStore, partition: Uint8Array): Promise<void> {
  const more = Array.from({ length: 40 }, (_, i) => ({ key: utf8(`more ${i}`), value: new Uint8Array(300) }));
  await store.setMany(partition, more);
  await store.deleteMany(partition, more.map(({ key }) => key));
  await store.deleteMany(partition, Array.from({ length: ENTRIES }, (_, i) => keyOf(i)));
  for await (const page of store.scan(partition)) throw new Error(`${page.length} are left`);
}

if (import.meta.main) {
  for (const folder of process.argv.slice(2)) {
    let outcome = "right";
    try {
      await use(folder);
    } catch (error) {
      outcome = isCoded(error) ? error.code : `WRONG: ${error instanceof Error ? error.message : error}`;
    }
    writeSync(1, `${outcome}\n`);
  }
}
