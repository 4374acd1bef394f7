/**
 * The database's file, watched while it is open: an open file can be read and written to after it was moved or deleted, and then
 * what is answered as written is not where the next command looks for it.
 */

import { type BigIntStats, fstatSync, statSync } from "node:fs";
import { CodedError } from "../../base/errors.ts";

export class DatabaseFile {
  readonly #path: string;
  readonly #opened: BigIntStats;

  /** Watches whether `path` leads to the file that is open as `handle`. */
  constructor(path: string, handle: number) {
    this.#path = path;
    this.#opened = fstatSync(handle, { bigint: true });
  }

  /**
   * Runs a body that writes. What it wrote when the file was moved meanwhile counts as not answered. Fails with `kv_moved`.
   */
  inPlace(body: () => void): void {
    this.requireInPlace();
    body();
    this.requireInPlace();
  }

  /** Fails with `kv_moved` unless the path leads to the open file. */
  requireInPlace(): void {
    const now = statSync(this.#path, { bigint: true, throwIfNoEntry: false });
    if (now && now.ino === this.#opened.ino && now.dev === this.#opened.dev) return;
    throw new CodedError(
      "unavailable",
      "kv_moved",
      `Cannot write to the key-value store: "${this.#path}" was ${
        now ? "replaced" : "moved or deleted"
      } while it was open`,
    );
  }
}
