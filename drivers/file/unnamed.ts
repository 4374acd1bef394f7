/** Objects that are written before they have a key: under a temporary name, until one is given. */

import { closeSync, fstatSync, openSync } from "node:fs";
import { assertInvariant } from "../../base/errors.ts";
import type { ObjectInfo, UnnamedObject } from "../object_store.ts";
import { attempt, attemptAsync } from "./failures.ts";
import { closeQuietly, unlinkQuietly, writeAllParts } from "./file_calls.ts";
import { type Place, temporaryIn } from "./placement.ts";
import { CREATE_FLAGS, publish, publishIfAbsent } from "./publishing.ts";
import { readObject } from "./reading.ts";
import { isFolderGone, MAX_TRIES, type WriterOptions } from "./writing.ts";

/** How many pieces that wait one call to the system takes. */
const MAX_AT_ONCE = 8;

export interface UnnamedOptions extends WriterOptions {
  /** Told when the object has its key. */
  readonly named: (key: string) => void;
}

/** A piece that waits to be written, and who waits for that. */
interface Waiting {
  readonly piece: Uint8Array;
  readonly done: () => void;
  readonly failed: (error: unknown) => void;
}

export class UnnamedFile implements UnnamedObject {
  readonly #folder: string;
  readonly #options: UnnamedOptions;
  readonly #path: string;
  #fd: number | undefined;
  #waiting: Waiting[] = [];
  #writing: Promise<void> | undefined;
  /** What a write failed with: the file lacks a piece then. */
  #failure: { readonly error: unknown } | undefined;
  #info: { readonly sizeBytes: number; readonly modifiedMs: number } | undefined;
  #isNamed = false;

  /** Makes the file, in a folder that is made if need be. */
  constructor(folder: string, options: UnnamedOptions) {
    this.#folder = folder;
    this.#options = options;
    this.#path = options.placement.pathOf(temporaryIn(folder));
    this.#fd = attempt({ action: "put", key: folder }, () => this.#create());
  }

  add(piece: Uint8Array): Promise<void> {
    assertInvariant(this.#info === undefined, "nothing is added to an object that is being named");
    return new Promise((done, failed) => {
      this.#waiting.push({ piece, done, failed });
      this.#writing ??= this.#write();
    });
  }

  async name(key: string, mode: "replace" | "if_absent"): Promise<ObjectInfo> {
    const place = this.#options.placement.place(key);
    assertInvariant(place.folder === this.#folder, "an object is named in the folder that it lies in");
    const what = { action: "put", key } as const;
    await this.#writing;
    attempt(what, () => this.#end());
    if (mode === "if_absent") attempt(what, () => publishIfAbsent(place, this.#path));
    else await attemptAsync(what, () => publish(place, this.#path, this.#options.sync));
    this.#isNamed = true;
    this.#options.named(key);
    return { key, ...this.#info! };
  }

  async read(offset: number, length: number, into?: Uint8Array): Promise<Uint8Array> {
    const place: Place = { key: this.#folder, folder: this.#folder, path: this.#path };
    return await readObject(place, { offset, length, into });
  }

  async abandon(): Promise<void> {
    await this.#writing;
    if (this.#fd !== undefined) closeQuietly(this.#fd);
    this.#fd = undefined;
    if (!this.#isNamed) unlinkQuietly(this.#path);
    this.#isNamed = true;
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

  /** Writes what waits, and what comes to wait meanwhile. Never fails: those who wait for the pieces do. */
  async #write(): Promise<void> {
    while (this.#waiting.length > 0) {
      const some = this.#waiting.splice(0, MAX_AT_ONCE);
      try {
        if (this.#failure) throw this.#failure.error;
        const parts = some.map(({ piece }) => piece);
        await attemptAsync({ action: "put", key: this.#folder }, () => writeAllParts(this.#fd!, parts));
        for (const { done } of some) done();
      } catch (error) {
        this.#failure ??= { error };
        for (const { failed } of some) failed(error);
      }
    }
    this.#writing = undefined;
  }

  /** Closes the file, of which all is written. */
  #end(): void {
    if (this.#failure) throw this.#failure.error;
    if (this.#info) return;
    const fd = this.#fd!;
    const { size, mtimeMs } = fstatSync(fd);
    this.#info = { sizeBytes: size, modifiedMs: mtimeMs };
    this.#fd = undefined;
    closeSync(fd);
  }
}
