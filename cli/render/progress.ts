/** The progress line of work on many files. */

import type { Messages } from "../messages.ts";
import { counted, grouped, humanSize } from "./sizes.ts";

/** How much there is to do, where that is known. */
export interface Total {
  readonly files: number;
  readonly bytes: number;
}

/** Counts files and bytes as they are done, and shows them with their rate and, of a known total, the time left. */
export class FileProgress {
  readonly #messages: Messages;
  readonly #what: string;
  readonly #total: Total | undefined;
  readonly #startedAt = performance.now();
  #files = 0;
  #bytes = 0;

  constructor(messages: Messages, what: string, total?: Total) {
    this.#messages = messages;
    this.#what = what;
    this.#total = total;
  }

  addBytes(count: number): void {
    this.#bytes += count;
    this.#messages.progress(() => this.#text());
  }

  addFile(): void {
    this.#files++;
    this.#messages.progress(() => this.#text());
  }

  #text(): string {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const rate = seconds > 0 ? this.#bytes / seconds : 0;
    const total = this.#total;
    const files = total
      ? `${grouped(this.#files)} of ${counted(total.files, "file")}`
      : counted(this.#files, "file");
    const size = total ? `${humanSize(this.#bytes)} of ${humanSize(total.bytes)}` : humanSize(this.#bytes);
    const left = total && rate > 0 ? `, ${Math.ceil((total.bytes - this.#bytes) / rate)} s left` : "";
    return `${this.#what}: ${files}, ${size}, ${humanSize(Math.round(rate))}/s${left}`;
  }
}
