/** The memory of the process that serves, looked at once a second; after a kill it is another one. */

import type { SoakServer } from "./server.ts";

const EVERY_MS = 1000;
/** What is compared: the first and the last of these, or of what there is. */
const WINDOW_MS = 60_000;

interface Sample {
  readonly atMs: number;
  readonly resident: number;
  readonly anonymous: number;
}

export class MemoryWatch {
  readonly #server: SoakServer;
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #samples: Sample[] = [];

  constructor(server: SoakServer) {
    this.#server = server;
    this.#timer = setInterval(() => this.#look(), EVERY_MS);
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  /** Returns lines that tell the averages of the first and the last minute, and the most that there was. */
  lines(): string[] {
    if (this.#samples.length < 2) return ["memory of the server: unknown"];
    const [first, last] = [this.#samples[0]!.atMs, this.#samples.at(-1)!.atMs];
    const window = Math.min(WINDOW_MS, (last - first) / 2);
    const early = this.#samples.filter(({ atMs }) => atMs <= first + window);
    const late = this.#samples.filter(({ atMs }) => atMs >= last - window);
    const most = Math.max(...this.#samples.map(({ resident }) => resident));
    const seconds = Math.round(window / 1000);
    return [
      `memory of the server: ${shown(early)} in the first ${seconds} s, ${shown(late)} in the last; ` +
      `at most ${megabytes(most)}`,
      `(each minute: ${this.#eachMinute(first, "resident")}; no file's: ${
        this.#eachMinute(first, "anonymous")
      })`,
    ];
  }

  #eachMinute(first: number, what: "resident" | "anonymous"): string {
    const minutes = Map.groupBy(this.#samples, ({ atMs }) => Math.floor((atMs - first) / 60_000));
    return [...minutes.values()].map((samples) => megabytes(mean(samples, what))).join(", ");
  }

  #look(): void {
    const memory = this.#server.memory();
    if (memory) this.#samples.push({ atMs: performance.now(), ...memory });
  }
}

function shown(samples: readonly Sample[]): string {
  return `${megabytes(mean(samples, "resident"))} (of which ${
    megabytes(mean(samples, "anonymous"))
  } are no file's)`;
}

function mean(samples: readonly Sample[], of: "resident" | "anonymous"): number {
  return samples.reduce((sum, sample) => sum + sample[of], 0) / samples.length;
}

function megabytes(bytes: number): string {
  return `${Math.round(bytes / 1e6)} MB`;
}
