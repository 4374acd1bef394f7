/**
 * Ranges that the next commit of a branch replaces. What is in memory of those that this process has written itself is let go
 * of, since hardly anybody reads them again: what the caches know of them, and the system's copy of their files.
 *
 * A server that commits often would come to hold nothing but old ranges, and each new one would be written to memory that no
 * program has used lately, the dear kind. A range that was there before may be one that other branches still read: it is left
 * alone.
 */

/** How many ranges are remembered as written here. */
const MOST_WRITTEN = 1000;

export class SupersededRanges {
  readonly #written = new Set<string>();
  readonly #copied = new Set<string>();

  noteWritten(id: string): void {
    this.#written.add(id);
    if (this.#written.size > MOST_WRITTEN) this.#written.delete(this.#written.values().next().value!);
  }

  /** Is told that a newer range has taken over what is in this one. */
  noteCopied(id: string): void {
    if (this.#written.delete(id)) this.#copied.add(id);
  }

  /** Returns, once, what was copied since the last time. */
  take(): string[] {
    const ids = [...this.#copied];
    this.#copied.clear();
    return ids;
  }
}
