/**
 * Proves, before LMDB reads or writes anything, the pages that it will go through (`page_tree.ts`).
 *
 * That happens inside a transaction that writes, so nobody else does meanwhile; what it has written itself is not feared. What looks
 * like damage is looked at again in the newest state, and which that is, is asked now and then only.
 */

import { closeSync, openSync } from "node:fs";
import { dirname, join } from "node:path";
import { CodedError } from "../../base/errors.ts";
import { Damage, JournalDamage } from "./page.ts";
import { readMeta } from "./meta_pages.ts";
import { PageTree } from "./page_tree.ts";
import type { WriterLock } from "./writer_lock.ts";

/** How often a state is used before it is asked whether it is the newest. */
const USES = 64;

export class PathCheck {
  readonly #path: string;
  readonly #file: number;
  readonly #lock: WriterLock;
  #tree: PageTree | undefined;
  #uses = 0;

  constructor(folder: string, lock: WriterLock) {
    this.#path = join(folder, "data.mdb");
    this.#file = openSync(this.#path, "r");
    this.#lock = lock;
  }

  /** Runs a check; one that failed is run again on the newest state. Fails with `kv_corrupt`. */
  prove<T>(check: (tree: PageTree) => T): T {
    try {
      return check(this.#state());
    } catch (error) {
      if (!(error instanceof Damage)) throw error;
      return this.#lock.holding(() => this.#proveNewest(check));
    }
  }

  /** Has the next check look at the newest state. */
  renew(): void {
    this.#uses = USES;
  }

  close(): void {
    closeSync(this.#file);
  }

  #proveNewest<T>(check: (tree: PageTree) => T): T {
    this.#tree = undefined;
    try {
      return check(this.#state());
    } catch (error) {
      if (!(error instanceof Damage)) throw error;
      throw damaged(this.#path, error);
    }
  }

  #state(): PageTree {
    if (this.#tree && this.#uses++ < USES) return this.#tree;
    const meta = readMeta(this.#file);
    this.#uses = 0;
    if (this.#tree?.meta.transaction !== meta.transaction) {
      this.#tree = new PageTree(this.#file, meta, this.#tree);
    }
    return this.#tree;
  }
}

/** Returns the error that says which file is damaged, and where; `path` is that of the database. */
export function damaged(path: string, damage: Damage): CodedError {
  if (damage instanceof JournalDamage) {
    return new CodedError(
      "corrupt",
      "kv_journal_corrupt",
      `Cannot use the key-value store: its journal, "${join(dirname(path), "journal")}", ${damage.message}`,
    );
  }
  return new CodedError(
    "corrupt",
    "kv_corrupt",
    `Cannot use the key-value store: "${path}" is damaged: ${damage.message}`,
  );
}
