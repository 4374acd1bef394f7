/**
 * Reading and writing records so that damage is found: the way to each is proved before LMDB takes it (`path_check.ts`), and
 * values bear seals (`seal.ts`), unless the database is of the version before them (`format.ts`).
 */

import { join } from "node:path";
import { checkMark, checkUnmarked, MARK_KEY, sealAll, TELLING_ENTRIES, type WholeEntry } from "./format.ts";
import type { KeyForm } from "./codec.ts";
import { Growth } from "./growth.ts";
import { Damage } from "./page.ts";
import { damaged, PathCheck } from "./path_check.ts";
import { seal, unseal } from "./seal.ts";
import { proveWhole } from "./whole_check.ts";
import type { LmdbDatabase, LmdbRange, LmdbReadTransaction } from "./vendor.ts";
import type { WriterLock } from "./writer_lock.ts";

/** Of a node of a page, and of a seal. */
const NODE_BYTES = 12;

export interface RecordsOptions {
  readonly folder: string;
  readonly lock: WriterLock;
  readonly keyForm: KeyForm;
  /** Called before the first write, by one who holds the lock. */
  readonly beforeWriting?: (() => void) | undefined;
}

export class Records {
  readonly #database: LmdbDatabase;
  readonly #path: string;
  readonly #keyForm: KeyForm;
  readonly #check: PathCheck;
  readonly #beforeWriting: (() => void) | undefined;
  /** Known to be; a database never goes back. */
  #isSealed = false;
  #hasWritten = false;
  #growth: Growth | undefined;

  constructor(database: LmdbDatabase, { folder, lock, keyForm, beforeWriting }: RecordsOptions) {
    this.#database = database;
    this.#path = join(folder, "data.mdb");
    this.#keyForm = keyForm;
    this.#check = new PathCheck(folder, lock);
    this.#beforeWriting = beforeWriting;
  }

  /** Returns a value, in the open write transaction when none is named. Fails with `kv_corrupt`, `kv_too_new`. */
  get(key: Uint8Array, transaction?: LmdbReadTransaction): Uint8Array | undefined {
    this.#learn(transaction);
    this.#check.prove((tree) => tree.proveWay(key));
    const stored = this.#database.get(key, transaction && { transaction });
    if (stored) return this.opened(key, stored);
    this.#check.prove((tree) => tree.proveAbsence(key, this.#isSealed));
    return undefined;
  }

  /** Returns stored entries, each of which is yet to be {@link opened}; no more than some beyond `maxBytes` may be taken. */
  range(range: LmdbRange, maxBytes: number): Iterable<{ key: Uint8Array; value: Uint8Array }> {
    this.#learn(range.transaction);
    this.#check.prove((tree) => tree.proveRange({ ...range, maxBytes }, this.#isSealed));
    return this.#database.getRange(range);
  }

  /** Returns the value in what is stored under a key. Fails with `kv_corrupt`. */
  opened(key: Uint8Array, stored: Uint8Array): Uint8Array {
    if (!this.#isSealed) return stored;
    const value = unseal(key, stored);
    if (!value) throw damaged(this.#path, new Damage("a record does not bear its seal"));
    return value;
  }

  /** Runs a body that writes, in an open transaction. */
  writing(body: () => void): void {
    this.#check.renew();
    this.#growth = new Growth(this.#path);
    this.#learn(undefined);
    if (!this.#hasWritten) {
      this.#check.prove((tree) =>
        this.#isSealed ? tree.proveFree() : void proveWhole(tree, { isSealed: false })
      );
      this.#beforeWriting?.();
    }
    if (!this.#isSealed) this.#sealAll();
    body();
  }

  /** To be called after the transaction: whether it was committed. */
  ended(isCommitted: boolean): void {
    this.#check.renew();
    if (isCommitted) this.#hasWritten = true;
    else if (!this.#hasWritten) this.#isSealed = false;
  }

  put(key: Uint8Array, value: Uint8Array): void {
    const bytes = NODE_BYTES + key.length + value.length;
    this.#check.prove((tree) => this.#growth!.add(tree, { leaf: tree.proveWay(key), bytes }));
    this.#database.put(key, seal(key, value));
  }

  remove(key: Uint8Array): void {
    this.#check.prove((tree) => this.#growth!.add(tree, { leaf: tree.proveDeletion(key), bytes: 0 }));
    this.#database.remove(key);
  }

  close(): void {
    this.#check.close();
  }

  /** Finds out whether values have seals, in the state that is then read. */
  #learn(transaction: LmdbReadTransaction | undefined): void {
    if (this.#isSealed) return;
    this.#check.prove((tree) => tree.proveWay(MARK_KEY));
    const mark = this.#database.get(MARK_KEY, transaction && { transaction });
    try {
      if (mark) checkMark(mark);
      else checkUnmarked(this.#firstEntries(transaction));
    } catch (error) {
      throw error instanceof Damage ? damaged(this.#path, error) : error;
    }
    this.#isSealed = mark !== undefined;
  }

  #firstEntries(transaction: LmdbReadTransaction | undefined): WholeEntry[] {
    const range = { start: Uint8Array.of(0), end: undefined, limit: TELLING_ENTRIES };
    this.#check.prove((tree) => tree.proveRange({ ...range, maxBytes: 0 }, false));
    return this.#whole({ ...range, ...(transaction && { transaction }) });
  }

  #sealAll(): void {
    sealAll({
      entries: (start, limit) => this.#whole({ start, end: undefined, limit }),
      put: (key, value) => this.put(key, value),
    });
    this.#isSealed = true;
  }

  #whole(range: LmdbRange): WholeEntry[] {
    this.#keyForm.isWhole = true;
    try {
      return [...this.#database.getRange(range)];
    } finally {
      this.#keyForm.isWhole = false;
    }
  }
}
