import { fdatasync } from "node:fs";

/** So much is written before the disk is told to begin. */
const BYTES_BETWEEN = 32 * 1024 * 1024;

/**
 * Has the disk write a large file while the rest of it still arrives, so that the flush at its end has little left to do. It
 * makes nothing durable by itself: who needs that flushes.
 */
export class EarlySync {
  readonly #fd: number;
  #bytes = 0;
  #running: Promise<void> | undefined;
  #error: unknown;

  constructor(fd: number) {
    this.#fd = fd;
  }

  /** Told of bytes that are on their way to the file. */
  wrote(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes < BYTES_BETWEEN || this.#running) return;
    this.#bytes = 0;
    this.#running = new Promise((resolve) => {
      fdatasync(this.#fd, (error) => {
        this.#error ??= error ?? undefined;
        this.#running = undefined;
        resolve();
      });
    });
  }

  /** Waits until nothing is running: only then may the file be closed. */
  async settle(): Promise<void> {
    await this.#running;
  }

  /** Fails if the disk has failed meanwhile: the system tells it once, and a later flush would succeed and lie. */
  async finish(): Promise<void> {
    await this.settle();
    if (this.#error !== undefined) throw this.#error;
  }
}
