/**
 * A process of its own that uses a store, for the tests: `process.ts MODE FOLDER ARGUMENT`. It says what it was answered on
 * standard output, unbuffered, so that a line is there even if the process is killed right after.
 */

import { Buffer } from "node:buffer";
import { writeSync } from "node:fs";
import process from "node:process";
import { utf8 } from "../../../base/bytes.ts";
import { isCoded } from "../../../base/errors.ts";
import type { KvStore } from "../../store.ts";
import { openLmdb } from "../mod.ts";

const P = utf8("partition");
const [mode, folder, argument] = process.argv.slice(2) as [string, string, string];

const modes: Record<string, () => Promise<void>> = { count, visit, rounds, write, outgrow, single, planted };
await modes[mode]!();

/** Raises the counter ARGUMENT times with `setIf`. */
async function count(): Promise<void> {
  const store = await openLmdb(folder);
  for (let i = 0; i < Number(argument); i++) await raise(store);
  await store.close();
  writeSync(1, "done\n");
}

async function raise(store: KvStore): Promise<void> {
  for (;;) {
    const seen = await store.get(P, utf8("counter"));
    const next = seen ? Number(new TextDecoder().decode(seen.value)) + 1 : 1;
    try {
      return await store.setIf(P, utf8("counter"), utf8(String(next)), seen?.predicate);
    } catch (error) {
      if (!isCoded(error, "predicate_failed")) throw error;
    }
  }
}

/** Opens the store, writes once and closes it, again and again, as short commands do. ARGUMENT begins its keys. */
async function visit(): Promise<void> {
  for (let i = 0; i < 30; i++) {
    const store = await openLmdb(folder);
    await store.set(P, utf8(`${argument}/${i}`), utf8("value"));
    await store.close();
  }
  writeSync(1, "done\n");
}

/** Writes the same 300 keys ARGUMENT times, each time the round's number into all of them in one transaction. */
async function rounds(): Promise<void> {
  const store = await openLmdb(folder);
  for (let round = 0; round < Number(argument); round++) {
    const value = new Uint8Array(round % 7 === 0 ? 5000 : 100);
    new DataView(value.buffer).setUint32(0, round);
    await store.setMany(P, Array.from({ length: 300 }, (_, i) => ({ key: utf8(`key ${i}`), value })));
  }
  await store.close();
}

/** Writes until it is killed; each line names a write that was answered. ARGUMENT begins its keys. */
async function write(): Promise<void> {
  const store = await openLmdb(folder);
  for (let i = 0;; i++) {
    const value = new Uint8Array(i % 3000).fill(i % 251);
    const entries = [0, 1, 2].map((part) => ({ key: utf8(`${argument}/${i}/${part}`), value }));
    await store.setMany(P, entries);
    writeSync(1, `${i}\n`);
  }
}

/** Writes far more than the map that it begins with holds, and reads all of it again and again. */
async function outgrow(): Promise<void> {
  const store = await openLmdb(folder, { mapBytes: 256 * 1024 });
  const value = new Uint8Array(20_000).fill(argument.charCodeAt(0));
  for (let i = 0; i < 100; i++) {
    await store.set(P, utf8(`${argument}/${i}`), value);
    let found = 0;
    for await (const page of store.scan(P, { prefix: utf8(`${argument}/`) })) {
      found += page.filter((entry) => Buffer.compare(entry.value, value) === 0).length;
    }
    if (found !== i + 1) writeSync(1, `${found} of ${i + 1}\n`);
  }
  await store.close();
  writeSync(1, "done\n");
}

/** Writes once; the line shows in a trace where the answer came. */
async function single(): Promise<void> {
  const store = await openLmdb(folder);
  await store.set(P, utf8("first"), utf8("value"));
  writeSync(1, "BEGIN\n");
  await store.set(P, utf8("key"), utf8("value"));
  writeSync(1, "ANSWERED\n");
  await store.close();
}

/** The obvious way: the package's defaults, which answer before the data is on disk. */
async function planted(): Promise<void> {
  const lmdb = await import("lmdb");
  const database = lmdb.open(folder, { noSubdir: false });
  database.putSync("first", "value");
  await database.flushed;
  writeSync(1, "BEGIN\n");
  database.putSync("key", "value");
  writeSync(1, "ANSWERED\n");
  await database.close();
}
