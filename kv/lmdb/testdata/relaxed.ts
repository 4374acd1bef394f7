/**
 * A process of its own that writes relaxed and strict, for the tests: `relaxed.ts MODE FOLDER ARGUMENT`. It says what it was
 * answered on standard output, unbuffered, so that a line is there even if the process is killed right after.
 */

import { writeSync } from "node:fs";
import process from "node:process";
import { asBuffer, utf8 } from "../../../base/bytes.ts";
import { seededRandomness } from "../../../base/randomness.ts";
import { isCoded } from "../../../base/errors.ts";
import type { KvStore } from "../../store.ts";
import { Journal } from "../journal.ts";
import { DatabaseFile } from "../database_file.ts";
import { openLmdb } from "../mod.ts";
import { PageReader } from "../page_reader.ts";
import { openWriter } from "../writer.ts";
import { encodeKey } from "../keys.ts";

export const P: Uint8Array = utf8("partition");
const RELAXED = { relaxed: true };

/** One write of a run; {@link runOf} says which they are. */
export interface Step {
  readonly isRelaxed: boolean;
  readonly puts: readonly [key: string, value: Uint8Array][];
  readonly deletes: readonly string[];
}

/** The writes of a process, all to keys of its own, without end: they follow from its name. */
export function* runOf(name: string): Generator<Step> {
  const chance = seededRandomness([...name].reduce((sum, letter) => 31 * sum + letter.charCodeAt(0), 7));
  const below = (bound: number) => Math.floor(chance.fraction() * bound);
  const key = () => `${name}/${below(12)}`;
  for (let i = 0;; i++) {
    const kind = below(10);
    if (kind === 0) yield { isRelaxed: false, puts: [], deletes: [key(), key()] };
    else {
      const value = new Uint8Array(4 + below(400)).fill(i);
      asBuffer(value).writeUInt32LE(i);
      const puts = Array.from({ length: 1 + below(4) }, (): [string, Uint8Array] => [key(), value]);
      yield { isRelaxed: kind > 2, puts, deletes: [] };
    }
  }
}

async function carryOut(store: KvStore, { isRelaxed, puts, deletes }: Step): Promise<void> {
  if (deletes.length > 0) return await store.deleteMany(P, deletes.map(utf8));
  const entries = puts.map(([key, value]) => ({ key: utf8(key), value }));
  await store.setMany(P, entries, isRelaxed ? RELAXED : {});
}

/**
 * Writes until it is killed; each line is the number of a write that was answered. ARGUMENT is its name: one that begins with "a"
 * writes by the journal what is relaxed, any other one all.
 */
async function steps(folder: string, name: string): Promise<void> {
  const journaling = name.startsWith("a") ? "relaxed" : "all";
  const store = await openLmdb(folder, { relaxedForMs: 20, journaling });
  let i = 0;
  for (const step of runOf(name)) {
    await carryOut(store, step);
    writeSync(1, `${i++}\n`);
  }
}

/** Writes the same 60 keys ARGUMENT times, each time the round's number into all of them at once, mostly relaxed. */
async function rounds(folder: string, argument: string): Promise<void> {
  const store = await openLmdb(folder, { relaxedForMs: 5 });
  for (let round = 0; round < Number(argument); round++) {
    const value = new Uint8Array(round % 7 === 0 ? 3000 : 100);
    new DataView(value.buffer).setUint32(0, round);
    const entries = Array.from({ length: 60 }, (_, i) => ({ key: utf8(`key ${i}`), value }));
    await store.setMany(P, entries, { relaxed: round % 5 !== 0 });
  }
  await store.close();
}

/** Writes relaxed three times; the lines show in a trace where the last answer came. */
async function trace(folder: string): Promise<void> {
  const store = await openLmdb(folder, { relaxedForMs: 2 ** 30 });
  await store.setMany(P, [{ key: utf8("first"), value: utf8("value") }], RELAXED);
  await store.setMany(P, [{ key: utf8("second"), value: utf8("value") }], RELAXED);
  writeSync(1, "BEGIN\n");
  await store.setMany(P, [{ key: utf8("third"), value: utf8("value") }], RELAXED);
  writeSync(1, "ANSWERED\n");
  await store.close();
}

/** Writes by the journal what is not relaxed; the lines show in a trace where the last answer came. */
async function traceStrict(folder: string): Promise<void> {
  const store = await openLmdb(folder, { relaxedForMs: 2 ** 30, journaling: "all" });
  await store.set(P, utf8("first"), utf8("value"));
  await store.set(P, utf8("second"), utf8("value"));
  writeSync(1, "BEGIN\n");
  await store.set(P, utf8("third"), utf8("value"));
  writeSync(1, "ANSWERED\n");
  await store.close();
}

/** Writes by the journal while the system is made to refuse flushes; says what became of each write. */
async function refused(folder: string): Promise<void> {
  const store = await openLmdb(folder, { relaxedForMs: 2 ** 30, journaling: "all" });
  const raise = async () => {
    const seen = await store.get(P, utf8("key"));
    const value = utf8(String(1 + Number(seen ? new TextDecoder().decode(seen.value) : 0)));
    await store.setIf(P, utf8("key"), value, seen?.predicate);
  };
  for (let i = 0; i < 6; i++) {
    const outcome = await raise().then(() => "kept", (error) => isCoded(error) ? error.code : String(error));
    writeSync(1, `${outcome}\n`);
  }
  await store.close();
}

/** Reads often, and writes and reads, in a store without a journal. */
async function plain(folder: string): Promise<void> {
  const store = await openLmdb(folder);
  await store.set(P, utf8("key"), utf8("value"));
  await store.get(P, utf8("key"));
  writeSync(1, "BEGIN\n");
  for (let i = 0; i < 200; i++) {
    await store.get(P, utf8(`key ${i}`));
    for await (const _ of store.scan(P));
  }
  writeSync(1, "READ\n");
  for (let i = 0; i < 10; i++) {
    await store.set(P, utf8("key"), utf8(`value ${i}`));
    await store.get(P, utf8("key"));
  }
  writeSync(1, "ANSWERED\n");
  await store.close();
}

/** Writes relaxed until it is refused, then strict; says how often it was answered, and the codes of the refusals. */
async function fill(folder: string): Promise<void> {
  const store = await openLmdb(folder, { relaxedForMs: 2 ** 30 });
  const refusalOf = async (write: Promise<void>) => {
    try {
      await write;
    } catch (error) {
      return isCoded(error) ? error.code : String(error);
    }
  };
  let answered = 0, refusal: string | undefined;
  const value = new Uint8Array(3000).fill(5);
  while (refusal === undefined) {
    const entries = [{ key: utf8(`${answered}`), value }, { key: utf8(`${answered} again`), value }];
    refusal = await refusalOf(store.setMany(P, entries, RELAXED));
    if (refusal === undefined) answered++;
  }
  const strict = await refusalOf(store.set(P, utf8("strict"), value));
  writeSync(1, `${answered} ${refusal} ${strict}\n`);
  await store.close();
}

/** Ends, as by a kill, within a transaction that has taken in what is in the journal and was not committed. */
async function die(folder: string): Promise<void> {
  const reader = new PageReader(`${folder}/data.mdb`, { journal: new Journal(folder, true) });
  const file = new DatabaseFile(`${folder}/data.mdb`, reader.handle);
  const writer = await openWriter(folder, { file, reader, journal: new Journal(folder, true) });
  await writer.commit((records) => {
    if (!records.get(encodeKey(P, utf8("a")))) throw new Error("it was not taken in");
    process.kill(process.pid, "SIGKILL");
  });
}

if (import.meta.main) {
  const [mode, folder, argument] = process.argv.slice(2) as [string, string, string];
  const modes: Record<string, (folder: string, argument: string) => Promise<void>> = {
    steps,
    rounds,
    trace,
    traceStrict,
    refused,
    plain,
    fill,
    die,
  };
  await modes[mode]!(folder, argument);
}
