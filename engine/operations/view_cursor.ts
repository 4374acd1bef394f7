/**
 * Walking what a view shows: its committed records with the staged ones laid over them, each side leaping on its own.
 *
 *     staged      b†    d           † tombstone
 *     committed a b c       e
 *     shown     a   c   d   e
 */

import { afterKey, compareBytes, EMPTY_BYTES } from "../../base/bytes.ts";
import type { Metarange, ValueRecord } from "../committed/mod.ts";
import type { Repository } from "../repository.ts";
import { type StagedRecord, stagedRecords } from "../staging/mod.ts";
import { SeekCursor } from "./seek_cursor.ts";
import { TokenWatch, type View } from "./view.ts";

/** Used as a {@link SeekCursor} is; what it gave is not to be trusted before {@link checkWhole}. */
export class ViewCursor {
  readonly #watch: TokenWatch;
  readonly #committed: SeekCursor<ValueRecord>;
  readonly #staged: SeekCursor<StagedRecord> | undefined;

  constructor(repository: Repository, view: View, start: Uint8Array = EMPTY_BYTES) {
    const { metarange, tokens } = view;
    this.#watch = new TokenWatch(repository, view);
    this.#committed = new SeekCursor((from) => recordsFrom(metarange, from), start);
    if (tokens.length > 0) {
      this.#staged = new SeekCursor((from) => stagedRecords(repository.kv, tokens, from), start);
    }
  }

  /** Returns the current record if all is loaded that tells which it is; `undefined` means "call {@link load}". */
  peek(): ValueRecord | undefined {
    const staged = this.#staged;
    if (!staged || staged.isAtEnd) return this.#committed.peek();
    for (let change = staged.peek(); change; change = staged.peek()) {
      const old = this.#committed.peek();
      if (!old && !this.#committed.isAtEnd) return undefined;
      const order = old ? compareBytes(old.key, change.key) : 1;
      if (order < 0) return old;
      // What is committed under the key is not shown, whatever is staged over it.
      if (order === 0) this.#committed.advance();
      if (change.record) return change.record;
      staged.advance();
    }
    return undefined;
  }

  /** Loads until there is a current record; returns it, or `undefined` at the end. */
  async load(): Promise<ValueRecord | undefined> {
    while (true) {
      const record = this.peek();
      if (record) return record;
      const old = this.#committed.peek() ?? await this.#committed.load();
      const change = this.#staged && (this.#staged.peek() ?? await this.#staged.load());
      if (!old && !change) return undefined;
    }
  }

  advance(): void {
    const old = this.#committed.peek(), change = this.#staged?.peek();
    if (!change || (old && compareBytes(old.key, change.key) < 0)) this.#committed.advance();
    else this.#staged!.advance();
  }

  /** Leaps to the first record at or after `key`, never backwards. */
  seek(key: Uint8Array): void {
    this.#committed.seek(key);
    this.#staged?.seek(key);
  }

  async close(): Promise<void> {
    await this.#committed.close();
    await this.#staged?.close();
  }

  /** Fails with `try_again` if records may have been deleted under the walk, so that it came out short. */
  async checkWhole(): Promise<void> {
    await this.#watch.check();
  }
}

/**
 * Yields the records from `start` on, the first one alone: often the next leap follows right behind it, and then nothing but
 * its block has been read.
 */
async function* recordsFrom(
  metarange: Metarange,
  start: Uint8Array,
): AsyncGenerator<readonly ValueRecord[]> {
  const first = await metarange.seek(start);
  if (!first) return;
  yield [first];
  yield* metarange.records(afterKey(first.key));
}
