/**
 * Addresses whose files are made ahead.
 *
 * Making a file is a fifth of what the upload of a small object costs. So while uploads come one after the other, the next one's
 * file is made when the last one has been answered, as the client prepares its request.
 */

import { setImmediate } from "node:timers";
import type { Clock } from "../../base/clock.ts";
import type { Randomness } from "../../base/randomness.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { newAddress } from "./address.ts";

/** Of a larger object the file's making is a small part. */
const MOST_BYTES = 64 * 1024;
/** Uploads that come after a longer pause gain nothing. */
const PAUSE_MS = 100;

export interface AddressPlace {
  readonly objects: Pick<ObjectStore, "makeReady">;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

export class ReadyAddresses {
  readonly #place: AddressPlace;
  #ready: string | undefined;
  #isComing = false;
  #lastMs = -Infinity;

  constructor(place: AddressPlace) {
    this.#place = place;
  }

  /** Returns a fresh address for an object of so many bytes. */
  next(sizeBytes: number): string {
    const { objects, clock, randomness } = this.#place;
    if (!objects.makeReady || sizeBytes > MOST_BYTES) return newAddress(clock, randomness);
    const now = clock.now(), isOften = now - this.#lastMs < PAUSE_MS, ready = this.#ready;
    this.#lastMs = now;
    this.#ready = undefined;
    if (!isOften) return newAddress(clock, randomness);
    if (!this.#isComing) {
      this.#isComing = true;
      // The staging of this one is a round of its own, and ends with the answer.
      setImmediate(() => setImmediate(() => this.#makeReady()));
    }
    return ready ?? newAddress(clock, randomness);
  }

  #makeReady(): void {
    const { objects, clock, randomness } = this.#place;
    this.#isComing = false;
    const address = newAddress(clock, randomness);
    if (objects.makeReady!(address)) this.#ready = address;
  }
}
