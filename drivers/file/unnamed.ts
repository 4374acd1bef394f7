/** Objects that are written before they have a key: under a temporary name, until one is given. */

import { closeSync, fstatSync, openSync } from "node:fs";
import { assertInvariant } from "../../base/errors.ts";
import type { ObjectInfo, UnnamedObject } from "../object_store.ts";
import { attempt, attemptAsync, ofStorage } from "./failures.ts";
import { closeQuietly, unlinkQuietly, writeAllAt } from "./file_calls.ts";
import { EarlyWriting } from "./pages.ts";
import { type Place, temporaryIn } from "./placement.ts";
import { CREATE_FLAGS, publish, publishIfAbsent } from "./publishing.ts";
import { readObject } from "./reading.ts";
import { isFolderGone, MAX_TRIES, type WriterOptions } from "./writing.ts";

export interface UnnamedOptions extends WriterOptions {
  /** Told when the object has its key. */
  readonly named: (key: string) => void;
  /** The address of the store. */
  readonly storage: string;
}

export class UnnamedFile implements UnnamedObject {
  readonly #folder: string;
  readonly #options: UnnamedOptions;
  readonly #path: string;
  #fd: number | undefined;
  /** Where the next piece begins. */
  #end = 0;
  readonly #writing = new Set<Promise<void>>();
  /** What a write failed with: the file lacks a piece then. */
  #failure: { readonly error: unknown } | undefined;
  #info: { readonly sizeBytes: number; readonly modifiedMs: number } | undefined;
  #isNamed = false;
  readonly #pages = new EarlyWriting();

  /** Makes the file, in a folder that is made if need be. */
  constructor(folder: string, options: UnnamedOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#path = options.placement.pathOf(temporaryIn(folder));
    this.#fd = this.#attempt(folder, () => this.#create());
  }

  /** Each piece has its place: so the thread pool goes on while whoever makes them is busy. */
  add(piece: Uint8Array): Promise<void> {
    assertInvariant(this.#info === undefined, "nothing is added to an object that is being named");
    const position = this.#end;
    this.#end += piece.length;
    const added = this.#write(piece, position);
    // Who adds it hears of a failure, and who names the object.
    const ended = added.catch(() => {}).finally(() => this.#writing.delete(ended));
    this.#writing.add(ended);
    return added;
  }

  async name(key: string, mode: "replace" | "if_absent"): Promise<ObjectInfo> {
    const place = this.#options.placement.place(key);
    assertInvariant(place.folder === this.#folder, "an object is named in the folder that it lies in");
    await Promise.all(this.#writing);
    this.#attempt(key, () => this.#close());
    if (mode === "if_absent") this.#attempt(key, () => publishIfAbsent(place, this.#path));
    else await this.#attemptAsync(key, () => publish(place, this.#path, this.#options.sync));
    this.#isNamed = true;
    this.#options.named(key);
    return { key, ...this.#info! };
  }

  async read(offset: number, length: number, into?: Uint8Array): Promise<Uint8Array> {
    const place: Place = { key: this.#folder, folder: this.#folder, path: this.#path };
    return await readObject(place, { offset, length, into });
  }

  async abandon(): Promise<void> {
    await Promise.all(this.#writing);
    if (this.#fd !== undefined) closeQuietly(this.#fd);
    this.#fd = undefined;
    if (!this.#isNamed) unlinkQuietly(this.#path);
    this.#isNamed = true;
  }

  #attempt<T>(key: string, calls: () => T): T {
    try {
      return attempt({ action: "put", key }, calls);
    } catch (error) {
      throw ofStorage(error, "put", this.#options.storage);
    }
  }

  async #attemptAsync<T>(key: string, calls: () => Promise<T>): Promise<T> {
    try {
      return await attemptAsync({ action: "put", key }, calls);
    } catch (error) {
      throw ofStorage(error, "put", this.#options.storage);
    }
  }

  #create(): number {
    const { folders } = this.#options;
    for (let tries = 1;; tries++) {
      try {
        folders.make(this.#folder, this.#folder);
        return openSync(this.#path, CREATE_FLAGS, 0o600);
      } catch (error) {
        if (tries === MAX_TRIES || !isFolderGone(error)) throw error;
        folders.forget();
      }
    }
  }

  async #write(piece: Uint8Array, position: number): Promise<void> {
    if (this.#failure) throw this.#failure.error;
    try {
      await this.#attemptAsync(this.#folder, () => writeAllAt(this.#fd!, piece, position));
      this.#pages.wrote(this.#fd!, piece.length);
    } catch (error) {
      this.#failure ??= { error };
      throw error;
    }
  }

  /** Closes the file, of which all is written. */
  #close(): void {
    if (this.#failure) throw this.#failure.error;
    if (this.#info) return;
    const fd = this.#fd!;
    const { size, mtimeMs } = fstatSync(fd);
    this.#info = { sizeBytes: size, modifiedMs: mtimeMs };
    this.#pages.finish(fd);
    this.#fd = undefined;
    closeSync(fd);
  }
}
