/**
 * Proves, before LMDB reads or writes anything, the pages that it will go through (`page_tree.ts`).
 *
 * Who reads holds no lock, so others may meanwhile write over pages of the state that is looked at: what looks like damage is
 * looked at again while nobody writes. Nor need the state be the newest: what LMDB meets beyond it was written just before, and
 * is not feared. So which state is the newest is asked now and then only.
 */

import { closeSync, openSync } from "node:fs";
import { join } from "node:path";
import { CodedError } from "../../base/errors.ts";
import { Damage } from "./page.ts";
import { PageTree, readMeta } from "./page_tree.ts";
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

/** Returns the error that says which file is damaged, and where. */
export function damaged(path: string, damage: Damage): CodedError {
  return new CodedError(
    "corrupt",
    "kv_corrupt",
    `Cannot use the key-value store: "${path}" is damaged: ${damage.message}`,
  );
}
