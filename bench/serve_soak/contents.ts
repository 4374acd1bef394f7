/** What a client puts: each content is put once, and told again by its sum. */

import type { Chance } from "../../tests/simulation/chance.ts";
import { md5 } from "./api.ts";

export interface Content {
  readonly label: string;
  readonly text: string;
  readonly sum: string;
}

export class Contents {
  readonly #chance: Chance;
  /** By sum: what a content is made of. */
  readonly #made = new Map<string, { label: string; line: string; times: number }>();

  constructor(chance: Chance) {
    this.#chance = chance;
  }

  make(label: string): Content {
    const line = `${label} ${this.#chance.below(2 ** 31)}\n`;
    // Most objects are small; some are streamed, up and down.
    const times = this.#chance.happens(0.03)
      ? this.#chance.between(20_000, 100_000)
      : this.#chance.between(1, 150);
    const text = line.repeat(times), sum = md5(text);
    this.#made.set(sum, { label, line, times });
    return { label, text, sum };
  }

  of(sum: string): Content {
    const { label, line, times } = this.#made.get(sum)!;
    return { label, text: line.repeat(times), sum };
  }
}
