/**
 * The database's file, watched while it is open: an open file can be written to after it was moved or deleted, and then what
 * is answered as written is not where the next command looks for it.
 */

import { type BigIntStats, statSync } from "node:fs";
import { CodedError } from "../../base/errors.ts";
import { growthError } from "./room.ts";

export class DatabaseFile {
  readonly #path: string;
  readonly #opened: BigIntStats | undefined;

  /** Watches the file that was just opened at `path`. */
  constructor(path: string) {
    this.#path = path;
    this.#opened = this.#stat();
  }

  /**
   * Runs a body that writes, and throws what was in its way. What it wrote when the file was moved meanwhile counts as not
   * answered. Fails with `kv_moved`.
   */
  writing(body: () => void): void {
    this.#requireInPlace();
    try {
      body();
    } catch (error) {
      throw growthError(error, this.#path);
    }
    this.#requireInPlace();
  }

  #requireInPlace(): void {
    const now = this.#stat();
    if (now && now.ino === this.#opened?.ino && now.dev === this.#opened.dev) return;
    throw new CodedError(
      "unavailable",
      "kv_moved",
      `Cannot write to the key-value store: "${this.#path}" was ${
        now ? "replaced" : "moved or deleted"
      } while it was open`,
    );
  }

  #stat(): BigIntStats | undefined {
    return statSync(this.#path, { bigint: true, throwIfNoEntry: false });
  }
}
