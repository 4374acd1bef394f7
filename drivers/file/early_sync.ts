/** Each time that so much was written, and no sync is running, another one begins. */
const STEP_BYTES = 32 * 1024 * 1024;

/**
 * Has a large file written to the disk while more of it comes, so that the flush at its end finds little left to do: the
 * system would keep all of it in memory until then, and the disk idle.
 *
 * This promises nothing. But the system tells only once of a write that failed: who hears of it here must not go on.
 */
export class EarlySync {
  readonly #sync: () => Promise<void>;
  #waitingBytes = 0;
  #running: Promise<void> | undefined;
  #failure: unknown;

  /** `sync` makes all that was written so far survive power loss. */
  constructor(sync: () => Promise<void>) {
    this.#sync = sync;
  }

  /** Counts what was written. Fails with what a sync failed with. */
  wrote(bytes: number): void {
    this.#throwIfFailed();
    this.#waitingBytes += bytes;
    if (this.#running || this.#waitingBytes < STEP_BYTES) return;
    this.#waitingBytes = 0;
    this.#running = this.#sync()
      .catch((error) => void (this.#failure = error))
      .finally(() => this.#running = undefined);
  }

  /** Waits until no sync is running, and fails with what one of them failed with. */
  async finish(): Promise<void> {
    await this.settle();
    this.#throwIfFailed();
  }

  /** Waits until no sync is running, failed or not: only then may what it syncs be closed. */
  async settle(): Promise<void> {
    await this.#running;
  }

  #throwIfFailed(): void {
    if (this.#failure !== undefined) throw this.#failure;
  }
}
