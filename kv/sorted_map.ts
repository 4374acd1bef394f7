/**
 * A map from byte strings to byte strings that can be walked in byte order.
 *
 * Keys are held as strings of one character a byte, because only strings can be looked up by content; among such
 * strings `<` is the order of bytes. New keys wait unsorted until somebody walks, so that writing costs no search.
 */

import { Buffer } from "node:buffer";
import { nameOfBytes } from "../base/bytes.ts";

/** One in so many names is inserted; more are merged. */
const FEW_OF = 32;

export class SortedMap {
  readonly #values = new Map<string, Uint8Array>();
  /** In order and without repeats; may hold keys that are gone from `#values`. */
  #sorted: string[] = [];
  #unsorted: string[] = [];

  get(key: Uint8Array): Uint8Array | undefined {
    return this.#values.get(nameOfBytes(key));
  }

  /** Returns the value of the key whose bytes, one character a byte, are `name`. */
  getNamed(name: string): Uint8Array | undefined {
    return this.#values.get(name);
  }

  /** Keeps `value` itself, not a copy. */
  set(key: Uint8Array, value: Uint8Array): void {
    const name = nameOfBytes(key);
    if (!this.#values.has(name)) this.#unsorted.push(name);
    this.#values.set(name, value);
  }

  delete(key: Uint8Array): void {
    this.#values.delete(nameOfBytes(key));
  }

  /** Yields the entries from `first` on in byte order of keys. The map may not change in between. */
  *from(first: Uint8Array): Generator<{ key: Uint8Array; value: Uint8Array }> {
    this.#sort();
    for (let at = this.#position(nameOfBytes(first)); at < this.#sorted.length; at++) {
      const name = this.#sorted[at]!;
      const value = this.#values.get(name);
      if (value) yield { key: new Uint8Array(Buffer.from(name, "latin1")), value };
    }
  }

  #position(name: string): number {
    let low = 0, high = this.#sorted.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.#sorted[middle]! < name) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #insert(): void {
    for (const name of this.#unsorted.splice(0)) {
      const at = this.#position(name);
      if (this.#sorted[at] !== name) this.#sorted.splice(at, 0, name);
    }
  }

  #sort(): void {
    if (this.#unsorted.length === 0) return;
    const areFew = this.#unsorted.length * FEW_OF < this.#sorted.length;
    // Merging also forgets keys that are gone.
    if (areFew && this.#sorted.length < 2 * this.#values.size) return this.#insert();
    const added = this.#unsorted.sort(inByteOrder);
    const merged: string[] = [];
    const take = (name: string) => {
      if (merged.at(-1) !== name && this.#values.has(name)) merged.push(name);
    };
    let next = 0;
    for (const name of this.#sorted) {
      while (next < added.length && added[next]! <= name) take(added[next++]!);
      take(name);
    }
    while (next < added.length) take(added[next++]!);
    this.#sorted = merged;
    this.#unsorted = [];
  }
}

function inByteOrder(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
