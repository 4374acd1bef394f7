/**
 * The journal: writes that come into the database a little later (docs/decisions/0014, 0015). It lies beside `data.mdb`,
 * and whoever reads lays its records over what the database holds.
 *
 * A journal says of which state of the database it is, by the number of the transaction that made it:
 *
 *     journal's number = state's     its records are newer than all that the database holds
 *     journal's number < state's     each transaction first writes the records that there are: they are in the database
 *     journal's number > state's     the state is no longer the newest; if it is, the two files do not belong together
 *
 * So the transaction that puts the records into the database makes the journal void by being committed, whatever becomes of
 * the process, and nothing need be done to the file. Who adds a record to a void journal begins it anew.
 *
 * While there is one the mark of the database says so (`format.ts`). The file is there before that, and is taken away after
 * it: a state that was found without a journal never gets one.
 */

import { type BigIntStats, statSync } from "node:fs";
import { join } from "node:path";
import type { SortedMap } from "../sorted_map.ts";
import { type JournalExtent, JournalFile, UNSETTLED } from "./journal_file.ts";
import { JournalDamage, type Meta } from "./page.ts";

const NAME = "journal";

/** What the journal asks of a state of the database. */
export interface JournaledState {
  readonly meta: Meta;
  /** Whether its mark says that there is a journal. */
  readonly hasJournal: boolean;
}

export class Journal {
  readonly path: string;
  readonly #mayMap: boolean;
  #met: JournaledState | undefined;
  #file: JournalFile | undefined;
  #isInUse = false;

  constructor(folder: string, mayMap: boolean) {
    this.path = join(folder, NAME);
    this.#mayMap = mayMap;
  }

  /**
   * Returns the entries to lay over a state, which grow as records are added; {@link UNSETTLED} while somebody begins the
   * journal. Fails with {@link JournalDamage}.
   */
  over(state: JournaledState): SortedMap | undefined | typeof UNSETTLED {
    return this.fileOf(state)?.over(state.meta);
  }

  /** As {@link over}, to one who holds the lock of writers. */
  overUndisturbed(state: JournaledState): SortedMap | undefined {
    const newer = this.over(state);
    if (newer === UNSETTLED) throw new JournalDamage("does not begin as one");
    return newer;
  }

  /** Returns how much of it is sound, to one who holds the lock; `undefined` where there is none. */
  extentOver(state: JournaledState): JournalExtent | undefined {
    this.overUndisturbed(state);
    return this.fileOf(state)?.extentOver(state.meta);
  }

  /** Returns the journal of a state, `undefined` if there is none. */
  fileOf(state: JournaledState): JournalFile | undefined {
    if (state !== this.#met) this.#meet(state);
    return this.#isInUse ? this.#file : undefined;
  }

  /** The one look at the folder that a state costs. */
  #meet(state: JournaledState): void {
    const found = statSync(this.path, { bigint: true, throwIfNoEntry: false });
    this.#isInUse = found !== undefined && state.hasJournal;
    if (found && this.#isInUse) this.#open(found);
    else this.#forget();
    this.#met = state;
  }

  #open(found: BigIntStats): void {
    if (this.#file?.isSame(found)) return;
    // To open another thing, such as a pipe, could wait for ever.
    if (!found.isFile()) throw new JournalDamage("is no file");
    this.#forget();
    this.#file = new JournalFile(this.path, this.#mayMap);
  }

  /** Returns whether the path leads to the journal that was last in use. */
  isInPlace(): boolean {
    const found = statSync(this.path, { bigint: true, throwIfNoEntry: false });
    return found !== undefined && this.#file?.isSame(found) === true;
  }

  #forget(): void {
    this.#file?.close();
    this.#file = undefined;
  }

  close(): void {
    this.#forget();
    this.#met = undefined;
    this.#isInUse = false;
  }
}
