/**
 * Small files on their way to a branch, many at a time: what a put of each alone would cost in waiting is paid once a
 * batch, and while batches are being stored the next files are read.
 */

import type { BranchWriter, FileBody, PutObjectOptions } from "../../drivers/store.ts";

const BATCH_FILES = 128;
const BATCH_BYTES = 1024 * 1024;
/** With the one that is being filled, this bounds the memory. */
const MOST_RUNNING = 3;

/** A small file, with what its caller wants to know it by. */
export interface SmallFile<T> extends FileBody {
  readonly about: T;
}

export interface SmallFilesOptions<T> {
  readonly put: PutObjectOptions;
  /** Told of each file once: that it was put, or why not. What it throws ends everything. */
  readonly settled: (file: SmallFile<T>, failure?: { error: unknown }) => void;
}

export class SmallFiles<T> {
  readonly #writer: BranchWriter;
  readonly #options: SmallFilesOptions<T>;
  #filling: SmallFile<T>[] = [];
  #fillingBytes = 0;
  readonly #running = new Set<Promise<void>>();
  #failure: { error: unknown } | undefined;

  constructor(writer: BranchWriter, options: SmallFilesOptions<T>) {
    this.#writer = writer;
    this.#options = options;
  }

  /** Takes a file, whose body is from now on ours. Returns a promise only where the caller has to wait for room. */
  add(file: SmallFile<T>): Promise<void> | undefined {
    this.#filling.push(file);
    this.#fillingBytes += file.body.length;
    if (this.#filling.length < BATCH_FILES && this.#fillingBytes < BATCH_BYTES) return undefined;
    return this.#turn();
  }

  /** Waits until every file is settled. */
  async finish(): Promise<void> {
    this.#start();
    while (this.#running.size > 0) await Promise.race(this.#running);
    this.#throwIfFailed();
  }

  async #turn(): Promise<void> {
    this.#start();
    while (this.#running.size >= MOST_RUNNING) await Promise.race(this.#running);
    this.#throwIfFailed();
  }

  #start(): void {
    if (this.#filling.length === 0) return;
    const batch = this.#filling;
    this.#filling = [];
    this.#fillingBytes = 0;
    const running: Promise<void> = this.#put(batch).catch((error) => {
      this.#failure ??= { error };
    }).finally(() => this.#running.delete(running));
    this.#running.add(running);
  }

  async #put(batch: readonly SmallFile<T>[]): Promise<void> {
    const { settled } = this.#options;
    try {
      await this.#writer.putMany(batch, this.#options.put);
    } catch {
      // One of them may be the cause: each alone tells which.
      for (const file of batch) await this.#putAlone(file);
      return;
    }
    for (const file of batch) settled(file);
  }

  async #putAlone(file: SmallFile<T>): Promise<void> {
    let failure: { error: unknown } | undefined;
    try {
      await this.#writer.put(file.path, file.body, this.#options.put);
    } catch (error) {
      failure = { error };
    }
    this.#options.settled(file, failure);
  }

  #throwIfFailed(): void {
    if (this.#failure) throw this.#failure.error;
  }
}
