/**
 * LMDB, which writes the database that we read ourselves (`page_reader.ts`).
 *
 * A transaction is committed synchronously, so that its pages and its meta page are on disk when the call is answered
 * (docs/decisions/0002-lmdb-durability.md), and LMDB lets one writer in at a time over all processes. Its own locks do not do, as
 * its open has a hole (`writer_lock.ts`): a lock of ours is held by whoever opens, writes or closes.
 */

import { join } from "node:path";
import { clearTimeout, setTimeout } from "node:timers";
import type { CodedError } from "../../base/errors.ts";
import { CommitQueue } from "./commit_queue.ts";
import type { DatabaseFile } from "./database_file.ts";
import { kvError } from "./errors.ts";
import { JournalWriter, type JournalWriterOptions } from "./journal_writer.ts";
import { closeLocked, type OpeningOptions, openLocked } from "./opening.ts";
import { type Puts, Records, type Removals } from "./records.ts";
import { growthError } from "./room.ts";
import { type LmdbDatabase, loadLmdb } from "./vendor.ts";
import type { WriterLock } from "./writer_lock.ts";

/** Leaves a transaction the rest of a second. */
const RELAXED_FOR_MS = 250;

/**
 * What goes to the journal: relaxed writes, or `all` that only put, those that are not relaxed with a flush of it: one in place of
 * a transaction's two. Its making and its end cost a transaction each: `never` is for who does not stay.
 */
export type Journaling = "never" | "relaxed" | "all";

export interface WriterOptions extends OpeningOptions {
  /** How long a write may be in the journal alone: for tests. */
  readonly relaxedForMs?: number;
  /** What goes to the journal; default `relaxed`. */
  readonly journaling?: Journaling;
  /** Called before the first write, which may put the database into the newest version of its layout (`format.ts`). */
  readonly beforeWriting?: () => void;
}

/**
 * Opens the database that `file` watches, to write to it.
 *
 * Fails with `kv_moved`, `kv_corrupt`, `kv_forbidden`, `kv_read_only`, `kv_full`, `kv_unavailable`, `native_unavailable`.
 */
export async function openWriter(
  folder: string,
  { file, journal, reader, ...options }: WriterOptions & JournalWriterOptions & {
    readonly allowNetwork?: boolean;
  },
): Promise<LmdbWriter> {
  const lmdb = await loadLmdb(options.native);
  // Otherwise one would be made where it was.
  file.requireInPlace();
  const { database, lock } = await openLocked(lmdb, folder, options);
  const records = new Records(database, { folder, lock, beforeWriting: options.beforeWriting });
  return new LmdbWriter(database, {
    file,
    records,
    lock,
    path: join(folder, "data.mdb"),
    journal: new JournalWriter({ file, journal, reader }),
    // Elsewhere there is no telling what others see, or who else adds.
    mayAppend: lock.excludes && !options.allowNetwork,
    ...options,
  });
}

/** Writes to the database: what is asked for in one turn shares a transaction (`commit_queue.ts`). */
export class LmdbWriter {
  readonly #database: LmdbDatabase;
  readonly #file: DatabaseFile;
  readonly #path: string;
  readonly #records: Records;
  readonly #lock: WriterLock;
  readonly #queue: CommitQueue;
  readonly #journal: JournalWriter;
  readonly #relaxedForMs: number;
  readonly #journaling: Journaling;
  /** Runs out when a write has been in the journal alone for long enough. */
  #timer: NodeJS.Timeout | undefined;
  /** Whether what is in the journal could not be taken in: then nothing is added to it. */
  #isStuck = false;
  #isClosed = false;

  constructor(
    database: LmdbDatabase,
    { file, records, lock, path, journal, mayAppend, relaxedForMs = RELAXED_FOR_MS, journaling = "relaxed" }:
      {
        readonly file: DatabaseFile;
        readonly records: Records;
        readonly lock: WriterLock;
        readonly path: string;
        readonly journal: JournalWriter;
        readonly mayAppend: boolean;
        readonly relaxedForMs?: number;
        readonly journaling?: Journaling;
      },
  ) {
    this.#database = database;
    this.#file = file;
    this.#path = path;
    this.#records = records;
    this.#lock = lock;
    this.#journal = journal;
    this.#relaxedForMs = relaxedForMs;
    this.#journaling = journaling;
    this.#queue = new CommitQueue({
      transaction: (body) => this.#transaction(() => body(this.#records)),
      ...(mayAppend && journaling !== "never" &&
        { journal: (body, isDurable) => this.#addToJournal(body, isDurable) }),
    });
  }

  /** Carries out a write, which may return its refusal, having written nothing; durable when it returns. */
  async commit(write: (records: Removals) => CodedError | void): Promise<void> {
    await this.#queue.commit((records) => write(records) ?? undefined);
  }

  /** As {@link commit} one that only puts. A relaxed one is durable a little later, or with the next that is not. */
  async put(write: (records: Puts) => CodedError | void, isRelaxed = false): Promise<void> {
    await this.#queue.put((records) => write(records) ?? undefined, isRelaxed);
  }

  get mapBytes(): number {
    const { mapSize } = this.#database.getStats();
    this.#database.resetReadTxn();
    return mapSize;
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#queue.flush();
    this.#retireJournal();
    this.#records.close();
    await closeLocked(this.#database, this.#lock);
  }

  #addToJournal(body: (records: Puts) => void, isDurable: boolean): boolean {
    if (this.#isStuck || (isDurable && this.#journaling !== "all")) return false;
    const outcome = this.#lock.holding(() => this.#tryJournal(body, isDurable));
    if (outcome === "added") this.#takeInLater();
    return outcome !== "refused";
  }

  #tryJournal(body: (records: Puts) => void, isDurable: boolean): "added" | "refused" | "taken in" {
    let outcome: "added" | "refused" | "unflushed";
    try {
      outcome = this.#journal.write(body, isDurable);
    } catch (error) {
      throw kvError("Cannot write to the key-value store", error);
    }
    if (outcome !== "unflushed") return outcome;
    // Before the lock is let go: what others add behind it would be flushed, and it not.
    this.#isStuck = true;
    this.#takeInLater();
    this.#transaction(() => {});
    return "taken in";
  }

  #takeInLater(): void {
    this.#timer ??= setTimeout(() => this.#takeIn(), this.#relaxedForMs).unref();
  }

  /** Has a transaction take in what is in the journal. While that fails all writes are transactions, and so tell of it. */
  #takeIn(): void {
    this.#timer = undefined;
    this.#queue.commit(() => undefined).catch(() => {
      this.#isStuck = true;
      if (!this.#isClosed) this.#takeInLater();
    });
  }

  /** What cannot be taken in stays in the journal for whoever comes next. */
  #retireJournal(): void {
    clearTimeout(this.#timer);
    try {
      this.#lock.holding(() => {
        this.#journal.retire((body) => this.#transaction(() => body(this.#records)));
      });
    } catch {
      // It is no failure of the close.
    }
  }

  #transaction(body: () => void): void {
    try {
      this.#lock.holding(() => this.#file.inPlace(() => this.#run(body)));
      this.#records.ended(true);
      this.#journal.ended();
      this.#isStuck = false;
      clearTimeout(this.#timer);
      this.#timer = undefined;
    } catch (error) {
      this.#records.ended(false);
      throw kvError("Cannot write to the key-value store", error);
    }
  }

  #run(body: () => void): void {
    try {
      // A body must not return what `put` returns, a promise: the transaction would stay open until it settles.
      this.#database.transactionSync(() =>
        this.#records.writing(() => {
          this.#journal.takeIn(this.#records);
          body();
        })
      );
    } catch (error) {
      throw growthError(error, this.#path);
    }
  }
}
