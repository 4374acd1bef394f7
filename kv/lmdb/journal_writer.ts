/**
 * Writing by the journal (`journal.ts`): what puts may be added to it, and each transaction first takes in what it holds. All of
 * this happens in the newest state, under the lock of writers.
 */

import { closeSync, fsyncSync, openSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { EMPTY_BYTES, nameOfBytes } from "../../base/bytes.ts";
import { MAX_KEY_BYTES, MAX_PARTITION_BYTES } from "../../base/limits.ts";
import { systemRandomness } from "../../base/randomness.ts";
import type { DatabaseFile } from "./database_file.ts";
import { JOURNAL_VERSION, MARK_KEY, PLAIN_VERSION } from "./format.ts";
import type { Journal } from "./journal.ts";
import { makeHeader, makeRecord, recordBytes, ROOM_BYTES, SALT_BYTES } from "./journal_format.ts";
import type { PageReader, PageState } from "./page_reader.ts";
import type { StoredEntry } from "./page_tree.ts";
import type { Puts, Removals } from "./records.ts";

/** More at once gains nothing by the journal. */
const MAX_RECORD_BYTES = 1024 * 1024;
/** What is beyond it is for the database to refuse. */
const MAX_ENCODED_KEY_BYTES = 1 + MAX_PARTITION_BYTES + MAX_KEY_BYTES;

export interface JournalWriterOptions {
  readonly journal: Journal;
  readonly reader: PageReader;
  /** The database beside which the journal lies. */
  readonly file: DatabaseFile;
}

export class JournalWriter {
  readonly #journal: Journal;
  readonly #reader: PageReader;
  readonly #file: DatabaseFile;
  /** Whether the next transaction is to see to it that there is a journal. */
  #isWanted = false;
  /** Whether records were added by this process. */
  #isUsed = false;

  constructor({ journal, reader, file }: JournalWriterOptions) {
    this.#journal = journal;
    this.#reader = reader;
    this.#file = file;
  }

  /**
   * Runs a body, perhaps twice, and adds what it puts to the journal, all or nothing; if `isDurable`, all that is in the journal is
   * on disk when it returns. Returns `refused` where a transaction is to do it, since there is no journal or no room, and
   * `unflushed` where it was added, and a transaction is to take it in at once, since the disk refused it. Fails with `kv_moved`,
   * `kv_corrupt`, `kv_journal_corrupt`.
   */
  write(body: (records: Puts) => void, isDurable: boolean): "added" | "refused" | "unflushed" {
    const { meta, journal } = this.#newest();
    // One that somebody has taken away is not where others look; a transaction takes in what it holds.
    if (!journal || !this.#journal.isInPlace()) {
      this.#isWanted = true;
      return "refused";
    }
    const entries = this.#draftOf(body);
    if (entries.some(({ key }) => key.length > MAX_ENCODED_KEY_BYTES)) return "refused";
    if (recordBytes(entries) > MAX_RECORD_BYTES) return "refused";
    if (entries.length > 0) {
      const salt = () => systemRandomness.bytes(SALT_BYTES);
      if (!journal.append(meta, makeRecord(entries), { path: this.#journal.path, salt })) return "refused";
      this.#isUsed = true;
    }
    this.#file.requireInPlace();
    return !isDurable || journal.flush(meta) ? "added" : "unflushed";
  }

  #draftOf(body: (records: Puts) => void): readonly StoredEntry[] {
    return this.#reader.readNewest((state) => {
      const draft = new Draft(state);
      body(draft);
      return draft.entries;
    });
  }

  /** Writes to the database what the journal holds, in a transaction that goes on. Fails with `kv_corrupt`. */
  takeIn(records: Puts): void {
    const { newer, journal } = this.#newest();
    for (const { key, value } of newer?.from(EMPTY_BYTES) ?? []) records.put(key, value);
    // Another process may have made one meanwhile, and added to it.
    if (!this.#isWanted || (journal && this.#journal.isInPlace())) return;
    // Before anybody can see that there is one.
    if (makeJournal(this.#journal.path)) records.put(MARK_KEY, Uint8Array.of(JOURNAL_VERSION));
    else this.#isWanted = false;
  }

  /** To be told when a transaction has been committed. */
  ended(): void {
    this.#isUsed ||= this.#isWanted;
    this.#isWanted = false;
  }

  /** Takes a journal away that this process has used, by a transaction that takes in the rest. */
  retire(transaction: (body: (records: Removals) => void) => void): void {
    if (!this.#isUsed || !this.#newest().journal) return;
    transaction((records) => records.put(MARK_KEY, Uint8Array.of(PLAIN_VERSION)));
    rmSync(this.#journal.path, { force: true });
  }

  #newest() {
    const state = this.#reader.newest();
    return { meta: state.meta, newer: state.newer, journal: this.#journal.fileOf(state) };
  }
}

/** What a body puts, seen by what it reads. */
class Draft implements Puts {
  readonly entries: StoredEntry[] = [];
  readonly #state: PageState;
  readonly #put = new Map<string, Uint8Array>();

  constructor(state: PageState) {
    this.#state = state;
  }

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#put.get(nameOfBytes(key)) ?? this.#state.get(key);
  }

  put(key: Uint8Array, value: Uint8Array): void {
    this.entries.push({ key, value });
    this.#put.set(nameOfBytes(key), value);
  }
}

/** Makes a void journal that survives power loss; returns `false` where none can be made, as on a full disk. */
function makeJournal(path: string): boolean {
  const fresh = `${path}.new`;
  try {
    const nowhere = { transaction: 0, fingerprint: 0 };
    // With room, since a file that grows costs each flush more.
    const content = new Uint8Array(ROOM_BYTES);
    content.set(makeHeader(nowhere, systemRandomness.bytes(SALT_BYTES)));
    writeFileSync(fresh, content, { mode: 0o600 });
    flush(fresh);
    renameSync(fresh, path);
    flush(dirname(path));
    return true;
  } catch {
    rmSync(fresh, { force: true });
    return false;
  }
}

function flush(path: string): void {
  const handle = openSync(path, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
