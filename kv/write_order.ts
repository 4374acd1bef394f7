/**
 * Keeps the writes of one process to one key in the order in which they were called, where the store behind takes several at
 * a time. Writes to different keys do not wait for each other.
 */

import { asBuffer } from "../base/bytes.ts";

export class WriteOrder {
  /** The last write to each key that is under way. */
  readonly #last = new Map<string, Promise<void>>();

  /** Runs a write when all earlier ones to any of its keys have ended, however they ended. */
  async after<T>(
    partition: Uint8Array,
    { keys, write }: { keys: readonly Uint8Array[]; write: () => Promise<T> },
  ): Promise<T> {
    const names = new Set(keys.map((key) => nameOf(partition, key)));
    const earlier = new Set<Promise<void>>();
    let end = () => {};
    const ended = new Promise<void>((resolve) => end = resolve);
    for (const name of names) {
      const last = this.#last.get(name);
      if (last) earlier.add(last);
      this.#last.set(name, ended);
    }
    try {
      if (earlier.size > 0) await Promise.all(earlier);
      return await write();
    } finally {
      for (const name of names) if (this.#last.get(name) === ended) this.#last.delete(name);
      end();
    }
  }
}

function nameOf(partition: Uint8Array, key: Uint8Array): string {
  return String.fromCharCode(partition.length) + asBuffer(partition).toString("latin1") +
    asBuffer(key).toString("latin1");
}
