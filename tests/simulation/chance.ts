/** Everything that a simulation leaves to chance, drawn from one seed. */

import { type Randomness, seededRandomness } from "../../base/randomness.ts";

export class Chance {
  readonly randomness: Randomness;

  constructor(seed: number) {
    this.randomness = seededRandomness(seed);
  }

  /** Returns a whole number in [0, end). */
  below(end: number): number {
    return Math.floor(this.randomness.fraction() * end);
  }

  /** Returns a whole number in [from, to]. */
  between(from: number, to: number): number {
    return from + this.below(to - from + 1);
  }

  happens(probability: number): boolean {
    return this.randomness.fraction() < probability;
  }

  oneOf<T>(choices: readonly T[]): T {
    return choices[this.below(choices.length)]!;
  }

  /** Returns one of the names, each as likely as its weight says. */
  weighted<K extends string>(weights: Readonly<Partial<Record<K, number>>>): K {
    const entries = Object.entries(weights) as [K, number][];
    let left = this.randomness.fraction() * entries.reduce((sum, [, weight]) => sum + weight, 0);
    for (const [name, weight] of entries) if ((left -= weight) < 0) return name;
    return entries.at(-1)![0];
  }
}
