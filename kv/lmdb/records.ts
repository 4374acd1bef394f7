/**
 * Writing records so that damage is found: the way to each is proved before LMDB takes it (`path_check.ts`), and values bear
 * seals (`seal.ts`); those of a database of the version before them get theirs first (`format.ts`). All of it happens in an open
 * transaction.
 */

import { join } from "node:path";
import { hasSeals, sealAll } from "./format.ts";
import { countFreePages } from "./free_pages.ts";
import { Growth } from "./growth.ts";
import { Damage } from "./page.ts";
import { damaged, PathCheck } from "./path_check.ts";
import { seal, unseal } from "./seal.ts";
import { proveWhole } from "./whole_check.ts";
import type { LmdbDatabase } from "./vendor.ts";
import type { WriterLock } from "./writer_lock.ts";

/** Of a node of a page, and of a seal. */
const NODE_BYTES = 12;

/** Records as a write meets them: in a transaction, or on the way to the journal. */
export interface Puts {
  /** Returns a value, as those before in the same group have left it; nobody may change it. */
  get(key: Uint8Array): Uint8Array | undefined;
  put(key: Uint8Array, value: Uint8Array): void;
}

/** What only a transaction can do. */
export interface Removals extends Puts {
  remove(key: Uint8Array): void;
}

export interface RecordsOptions {
  readonly folder: string;
  readonly lock: WriterLock;
  /** Called before the first write, by one who holds the lock. */
  readonly beforeWriting?: (() => void) | undefined;
}

export class Records implements Removals {
  readonly #database: LmdbDatabase;
  readonly #path: string;
  readonly #check: PathCheck;
  readonly #beforeWriting: (() => void) | undefined;
  /** Known to be; a database never goes back. */
  #isSealed = false;
  #hasWritten = false;
  #growth: Growth | undefined;

  constructor(database: LmdbDatabase, { folder, lock, beforeWriting }: RecordsOptions) {
    this.#database = database;
    this.#path = join(folder, "data.mdb");
    this.#check = new PathCheck(folder, lock);
    this.#beforeWriting = beforeWriting;
  }

  /** Returns a value, as the transaction has it. Fails with `kv_corrupt`. */
  get(key: Uint8Array): Uint8Array | undefined {
    this.#check.prove((tree) => tree.proveWay(key));
    const stored = this.#database.get(key);
    if (stored) return unseal(key, stored) ?? this.#refuse(new Damage("a record does not bear its seal"));
    this.#check.prove((tree) => tree.proveAbsence(key, true));
    return undefined;
  }

  /** Runs a body that writes. Fails with `kv_corrupt`, `kv_too_new`. */
  writing(body: () => void): void {
    this.#check.renew();
    this.#growth = new Growth(this.#path);
    this.#isSealed ||= this.#check.prove(hasSeals);
    if (!this.#hasWritten) {
      this.#check.prove((tree) => {
        if (this.#isSealed) countFreePages(tree);
        else proveWhole(tree, { isSealed: false });
      });
      this.#beforeWriting?.();
    }
    if (!this.#isSealed) this.#check.prove((tree) => sealAll(tree, (key, value) => this.put(key, value)));
    this.#isSealed = true;
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

  #refuse(damage: Damage): never {
    throw damaged(this.#path, damage);
  }
}
