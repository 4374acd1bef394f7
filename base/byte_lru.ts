/** A map bounded in bytes, and in how many there are, that drops what has not been used for long. */

/** What an entry takes beside its value's bytes, roughly: small ones must not come by the million. */
const ENTRY_BYTES = 1024;

interface Entry<T> {
  readonly value: T;
  readonly bytes: number;
  /** Whether it was asked for since the map last thought of dropping it: then it stays for another round. */
  isUsed: boolean;
}

export class ByteLru<T> {
  readonly #maxBytes: number;
  readonly #mostEntries: number;
  readonly #entries = new Map<string, Entry<T>>();
  #bytes = 0;

  constructor(maxBytes: number, mostEntries = Infinity) {
    this.#maxBytes = maxBytes;
    this.#mostEntries = mostEntries;
  }

  get(key: string): T | undefined {
    const entry = this.#entries.get(key);
    if (!entry) return undefined;
    entry.isUsed = true;
    return entry.value;
  }

  set(key: string, value: T, bytes: number): void {
    this.delete(key);
    const taken = bytes + ENTRY_BYTES;
    this.#entries.set(key, { value, bytes: taken, isUsed: false });
    this.#bytes += taken;
    // The newest one stays even when it alone is too large: whoever put it there needs it next.
    while (this.#isFull() && this.#entries.size > 1) this.#dropOne(key);
  }

  delete(key: string): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#bytes -= entry.bytes;
  }

  #isFull(): boolean {
    return this.#bytes > this.#maxBytes || this.#entries.size > this.#mostEntries;
  }

  #dropOne(newest: string): void {
    for (const [key, entry] of this.#entries) {
      if (!entry.isUsed && key !== newest) return this.delete(key);
      entry.isUsed = key === newest;
      this.#entries.delete(key);
      this.#entries.set(key, entry);
    }
  }
}
