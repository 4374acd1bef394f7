/**
 * Objects that are flushed a little after they were acknowledged.
 *
 * Their staged records say that they may not be on disk, so that any commit flushes them: what is missed here, because the
 * process was killed or the flush failed, is made good there, or fails there.
 */

import type { Clock } from "../../base/clock.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";

/** Leaves the flush itself the rest of a second. */
const DELAY_MS = 400;

export class LateFlush {
  readonly #objects: Pick<ObjectStore, "flush">;
  readonly #clock: Clock;
  #addresses: string[] = [];
  #running: Promise<void> | undefined;

  constructor(objects: Pick<ObjectStore, "flush">, clock: Clock) {
    this.#objects = objects;
    this.#clock = clock;
  }

  /** Has objects flushed soon. */
  add(addresses: readonly string[]): void {
    this.#addresses.push(...addresses);
    this.#running ??= this.#run().finally(() => this.#running = undefined);
  }

  /** Flushes what waits. */
  async finish(): Promise<void> {
    await this.#flush();
    await this.#running;
  }

  async #run(): Promise<void> {
    while (this.#addresses.length > 0) {
      await this.#clock.sleep(DELAY_MS);
      await this.#flush();
    }
  }

  async #flush(): Promise<void> {
    const addresses = this.#addresses;
    this.#addresses = [];
    if (addresses.length === 0) return;
    try {
      await this.#objects.flush(addresses);
    } catch {
      // A repetition of committed content is deleted at once: then the others are flushed one by one.
      for (const address of addresses) await this.#objects.flush([address]).catch(() => {});
    }
  }
}
