/** Journals as power loss and careless copying leave them: what is read was written up to some moment, or it is refused. */

import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { test, type TestContext } from "node:test";
import { hex, utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import { seededRandomness } from "../../base/randomness.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import type { KvStore } from "../store.ts";
import { JournalFile } from "./journal_file.ts";
import { END_AT, HEADER_BYTES, KEPT_AT, makeEnd, makeHeader, parseHeader } from "./journal_format.ts";
import { checkDatabase, type LmdbOptions, openLmdb } from "./mod.ts";

const P = utf8("partition");
const RELAXED = { relaxed: true }, NEVER = { relaxedForMs: 2 ** 30 };
const SECTOR = 512;

/** The files after each of a run of writes, and what was to be read then. */
interface Moment {
  readonly database: Uint8Array;
  readonly journal: Uint8Array;
  readonly shown: string;
  readonly isStrict: boolean;
}

function bytesOf(folder: string, name: string): Uint8Array {
  return new Uint8Array(fs.readFileSync(join(folder, name)));
}

/** Returns where the header says that the records end. */
function endOf(journal: Uint8Array): number {
  return new DataView(journal.buffer).getUint32(END_AT, true);
}

async function shownBy(store: KvStore): Promise<string> {
  const lines: string[] = [];
  for await (const page of store.scan(P)) {
    for (const { key, value } of page) {
      lines.push(`${new TextDecoder().decode(key)}=${hex(value.slice(0, 8))}`);
    }
  }
  return lines.join();
}

/** Writes relaxed and strict by chance, each time some of a few keys, so that no write can be missing unseen. */
async function recorded(
  folder: string,
  seed: number,
  steps: number,
  options: LmdbOptions = NEVER,
): Promise<Moment[]> {
  const chance = seededRandomness(seed), below = (bound: number) => Math.floor(chance.fraction() * bound);
  const store = await openLmdb(folder, options);
  await store.setMany(P, [{ key: utf8("begin"), value: utf8("0") }], RELAXED);
  const moments: Moment[] = [];
  for (let step = 0; step < steps; step++) {
    const isStrict = step === 0 || chance.fraction() < 0.2;
    const value = new Uint8Array(8 + below(300)).fill(step);
    const entries = Array.from({ length: 1 + below(3) }, () => ({ key: utf8(`key ${below(6)}`), value }));
    entries.push({ key: utf8("step"), value });
    if (isStrict && chance.fraction() < 0.3) {
      await store.deleteMany(P, [utf8(`key ${below(6)}`), utf8("step")]);
    } else await store.setMany(P, entries, isStrict ? {} : RELAXED);
    moments.push({
      database: bytesOf(folder, "data.mdb"),
      journal: bytesOf(folder, "journal"),
      shown: await shownBy(store),
      isStrict,
    });
  }
  await store.close();
  return moments;
}

/** Returns what is read of such files, before and after somebody writes; `refused` if they are, for reading and for writing. */
async function readBack(
  t: TestContext,
  { database, journal }: { database: Uint8Array; journal: Uint8Array | undefined },
): Promise<string> {
  const folder = temporaryFolder(t);
  fs.writeFileSync(join(folder, "data.mdb"), database);
  if (journal) fs.writeFileSync(join(folder, "journal"), journal);
  const store = await openLmdb(folder, NEVER);
  try {
    const shown = await orRefused(shownBy(store));
    const checked = await orRefused(checkDatabase(folder).then(() => "sound"));
    assert.equal(checked === "refused", shown === "refused");
    const written = await orRefused(
      store.setMany(utf8("other"), [{ key: P, value: P }]).then(() => "written"),
    );
    assert.equal(written === "refused", shown === "refused");
    assert.equal(await orRefused(shownBy(store)), shown);
    if (shown !== "refused") {
      await store.setMany(P, [{ key: utf8("later"), value: utf8("1") }], RELAXED);
      assert.equal(await shownBy(store), [...shown.split(",").filter(Boolean), "later=31"].sort().join());
    }
    return shown;
  } finally {
    await store.close();
  }
}

async function orRefused(answer: Promise<string>): Promise<string> {
  try {
    return await answer;
  } catch (error) {
    if (isCoded(error, "kv_journal_corrupt")) return "refused";
    throw error;
  }
}

/** Returns what may be read of the state at a moment: what was written last since the last strict write may be missing. */
function prefixesOf(moments: readonly Moment[], at: number): Set<string> {
  let first = at;
  while (!moments[first]!.isStrict) first--;
  return new Set(moments.slice(first, at + 1).map(({ shown }) => shown));
}

test("power loss that leaves of the journal what it likes takes the last relaxed writes alone", async (t) => {
  const chance = seededRandomness(4), below = (bound: number) => Math.floor(chance.fraction() * bound);
  const outcomes = { all: 0, some: 0 };
  for (let seed = 0; seed < 6; seed++) {
    const moments = await recorded(temporaryFolder(t), seed, 40);
    for (let run = 0; run < 40; run++) {
      const at = below(moments.length), earlier = moments[below(at + 1)]!.journal;
      const { database, journal, shown } = moments[at]!;
      const left = journal.slice();
      for (let sector = 0; sector < left.length; sector += SECTOR) {
        const kind = below(5);
        if (kind > 1) continue;
        left.fill(0, sector, sector + SECTOR);
        if (kind === 0 || sector === 0) left.set(earlier.subarray(sector, sector + SECTOR), sector);
      }
      const size = chance.fraction() < 0.3
        ? HEADER_BYTES + below(left.length - HEADER_BYTES + 1)
        : left.length;
      const found = await readBack(t, { database, journal: left.subarray(0, size) });
      assert.ok(prefixesOf(moments, at).has(found), `seed ${seed}, moment ${at}: ${found} is no prefix`);
      outcomes[found === shown ? "all" : "some"]++;
    }
  }
  t.diagnostic(JSON.stringify(outcomes));
  assert.ok(outcomes.some > 20 && outcomes.all > 20);
});

test("power loss takes nothing that was flushed with the journal, nor what came before that", async (t) => {
  const chance = seededRandomness(6), below = (bound: number) => Math.floor(chance.fraction() * bound);
  let flushed = 0, some = 0;
  for (let seed = 0; seed < 6; seed++) {
    const moments = await recorded(temporaryFolder(t), seed, 40, { ...NEVER, journaling: "all" });
    for (let run = 0; run < 40; run++) {
      const at = below(moments.length);
      const { database, journal, shown } = moments[at]!;
      let first = at;
      while (!moments[first]!.isStrict) first--;
      const left = journal.slice();
      // A sector is as it was at the last flush, or at any moment since.
      for (let sector = 0; sector < left.length; sector += SECTOR) {
        const then = moments[first + below(at - first + 1)]!.journal;
        left.set(then.subarray(sector, sector + SECTOR), sector);
      }
      const found = await readBack(t, { database, journal: left });
      assert.ok(prefixesOf(moments, at).has(found), `seed ${seed}, moment ${at}: ${found} is no prefix`);
      if (at === first && endOf(journal) > HEADER_BYTES) flushed++;
      if (found !== shown) some++;
    }
  }
  assert.ok(flushed > 20 && some > 10, `${flushed} ${some}`);
});

test("damage to what was flushed with the journal is found, at every byte of it", async (t) => {
  const folder = temporaryFolder(t);
  const store = await openLmdb(folder, { ...NEVER, journaling: "all" });
  for (const text of ["begin", "a", "b"]) await store.set(P, utf8(text), utf8(text));
  await store.setMany(P, [{ key: utf8("late"), value: P }], RELAXED);
  const database = bytesOf(folder, "data.mdb"), journal = bytesOf(folder, "journal");
  await store.close();
  const kept = new DataView(journal.buffer).getUint32(KEPT_AT, true);
  assert.ok(kept > HEADER_BYTES && kept < endOf(journal));
  for (let at = HEADER_BYTES; at < endOf(journal); at += 3) {
    const bytes = journal.slice();
    bytes[at]! ^= 0x10;
    const found = await readBack(t, { database, journal: bytes });
    assert.equal(found, at < kept ? "refused" : "a=61,b=62,begin=626567696e", `byte ${at}`);
  }
});

test("a journal that ends at any byte behind its header shows what was whole", async (t) => {
  const moments = await recorded(temporaryFolder(t), 11, 8);
  const at = moments.length - 1;
  const { database, journal } = moments[at]!;
  const prefixes = prefixesOf(moments, at), seen = new Set<string>();
  for (let size = HEADER_BYTES; size <= endOf(journal); size += 7) {
    const found = await readBack(t, { database, journal: journal.subarray(0, size) });
    assert.ok(prefixes.has(found), `${size}: ${found}`);
    seen.add(found);
  }
  assert.ok(seen.size > 2);
});

test("a journal without its header, or with random bytes in it, is refused or shows what was whole", async (t) => {
  const chance = seededRandomness(5), below = (bound: number) => Math.floor(chance.fraction() * bound);
  const moments = await recorded(temporaryFolder(t), 11, 8);
  const at = moments.length - 1;
  const { database, journal } = moments[at]!;
  const prefixes = prefixesOf(moments, at);
  for (const size of [0, 1, 8, 40, HEADER_BYTES - 1]) {
    assert.equal(await readBack(t, { database, journal: journal.subarray(0, size) }), "refused", `${size}`);
  }
  assert.equal(await readBack(t, { database, journal: new Uint8Array(journal.length) }), "refused");
  assert.equal(await readBack(t, { database, journal: chance.bytes(5000) }), "refused");
  let refused = 0;
  for (let run = 0; run < 150; run++) {
    const bytes = journal.slice();
    const place = below(run % 3 === 0 ? HEADER_BYTES : endOf(bytes));
    bytes.set(chance.bytes(1 + below(20)).subarray(0, bytes.length - place), place);
    const found = await readBack(t, { database, journal: bytes });
    assert.ok(found === "refused" || prefixes.has(found), found);
    if (found === "refused") refused++;
  }
  assert.ok(refused > 20 && refused < 130, `${refused} refused`);
});

test("a copy whose two files are of different times is what was written up to some moment, or refused", async (t) => {
  const outcomes = { whole: 0, refused: 0 };
  for (let seed = 20; seed < 24; seed++) {
    const moments = await recorded(temporaryFolder(t), seed, 14);
    for (let i = 0; i < moments.length; i++) {
      for (let j = 0; j < moments.length; j += 2) {
        const found = await readBack(t, { database: moments[i]!.database, journal: moments[j]!.journal });
        const isLater = transactionOf(moments[j]!.journal) > newestOf(moments[i]!.database);
        assert.equal(found === "refused", isLater, `seed ${seed}: ${i} and ${j}`);
        if (!isLater) assert.ok(prefixesOf(moments, lastOfState(moments, i)).has(found));
        outcomes[found === "refused" ? "refused" : "whole"]++;
      }
    }
  }
  t.diagnostic(JSON.stringify(outcomes));
  assert.ok(outcomes.whole > 50 && outcomes.refused > 20);
});

function transactionOf(journal: Uint8Array): number {
  return parseHeader(journal)!.transaction;
}

/** Returns the number of the transaction that a database is at. */
function newestOf(database: Uint8Array): number {
  const view = new DataView(database.buffer);
  return Math.max(...[0, 4096].map((page) => Number(view.getBigUint64(page + 152, true))));
}

/** Returns the last moment before the next strict write. */
function lastOfState(moments: readonly Moment[], at: number): number {
  let last = at;
  while (moments[last + 1]?.isStrict === false) last++;
  return last;
}

test("the journal of another database at the same transaction is refused", async (t) => {
  const [one, other] = [await recorded(temporaryFolder(t), 30, 6), await recorded(temporaryFolder(t), 31, 6)];
  let same = 0;
  for (const { database } of one) {
    for (const { journal: theirs } of other) {
      if (transactionOf(theirs) !== newestOf(database)) continue;
      same++;
      assert.equal(await readBack(t, { database, journal: theirs }), "refused");
    }
  }
  assert.ok(same > 0);
});

test("what is no file, and an end that no journal has, is refused, and nobody waits for it", async (t) => {
  const moments = await recorded(temporaryFolder(t), 11, 8);
  const { database, journal } = moments.at(-1)!;
  for (const make of [(path: string) => fs.mkdirSync(path), makePipe]) {
    if (make === makePipe && process.platform === "win32") continue;
    const folder = temporaryFolder(t);
    fs.writeFileSync(join(folder, "data.mdb"), database);
    make(join(folder, "journal"));
    const store = await openLmdb(folder);
    await assert.rejects(store.get(P, P), {
      code: "kv_journal_corrupt",
      kind: "corrupt",
      message: /is no file/,
    });
    await assert.rejects(store.set(P, P, P), { code: "kv_journal_corrupt" });
    await store.close();
  }
  const { sum } = parseHeader(journal)!;
  for (const end of [0, HEADER_BYTES - 1, 4 * 1024 * 1024 + 1, 0xffffffff]) {
    const bytes = journal.slice();
    bytes.set(makeEnd(end, sum), 40);
    assert.equal(await readBack(t, { database, journal: bytes }), "refused", `${end}`);
  }
});

function makePipe(path: string): void {
  execFileSync("mkfifo", [path]);
}

test("a journal that a state does not tell of is none, and one that is missing is told of by the whole check", async (t) => {
  const folder = temporaryFolder(t);
  const store = await openLmdb(folder);
  await store.set(P, utf8("a"), utf8("1"));
  await store.close();
  const journal = makeHeader({ transaction: 2 ** 40, fingerprint: 0 }, new Uint8Array(8));
  assert.equal(await readBack(t, { database: bytesOf(folder, "data.mdb"), journal }), "a=31");
  const { database } = (await recorded(temporaryFolder(t), 11, 3)).at(-1)!;
  const lone = temporaryFolder(t);
  fs.writeFileSync(join(lone, "data.mdb"), database);
  assert.equal((await checkDatabase(lone)).journal, "missing");
  assert.notEqual(await readBack(t, { database, journal: undefined }), "refused");
});

test("what power loss took from a journal is told of by the whole check until the next write", async (t) => {
  const moments = await recorded(temporaryFolder(t), 11, 8);
  const { database, journal } = moments.at(-1)!;
  const folder = temporaryFolder(t);
  fs.writeFileSync(join(folder, "data.mdb"), database);
  fs.writeFileSync(join(folder, "journal"), journal.subarray(0, endOf(journal) - 1));
  const { journal: extent } = await checkDatabase(folder);
  assert.ok(extent && extent !== "missing" && extent.tornBytes > 0);
  const store = await openLmdb(folder, NEVER);
  await store.setMany(P, [{ key: utf8("later"), value: utf8("1") }], RELAXED);
  assert.deepEqual((await checkDatabase(folder)).journal, { entries: 0, tornBytes: 0 });
  await store.close();
});

test("a header that is just being written is asked for again, and damaged only if nobody writes", async (t) => {
  const folder = temporaryFolder(t);
  const store = await openLmdb(folder, NEVER);
  for (const text of ["begin", "a", "b"]) {
    await store.setMany(P, [{ key: utf8(text), value: utf8(text) }], RELAXED);
  }
  const path = join(folder, "journal"), whole = bytesOf(folder, "journal");
  const file = new JournalFile(path, true);
  t.after(() => file.close());
  const state = parseHeader(whole)!;
  for (let look = 0; look < 200; look++) {
    // At first it is read, then mapped.
    const place = look % 48, handle = fs.openSync(path, "r+");
    if (place >= 36 && place < 40) continue;
    fs.writeSync(handle, Uint8Array.of(whole[place]! ^ 0xff), 0, 1, place);
    assert.equal(typeof file.over(state), "symbol", `byte ${place}`);
    fs.writeSync(handle, whole, 0, HEADER_BYTES, 0);
    fs.closeSync(handle);
    assert.equal(typeof file.over(state), "object");
  }
  await store.close();
});
