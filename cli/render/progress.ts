/** The progress line of work on many files. */

import type { Messages } from "../messages.ts";
import { counted, grouped, humanSize } from "./sizes.ts";

/** How much there is to do, where that is known. */
export interface Total {
  readonly files: number;
  /** Absent where only the files were counted. */
  readonly bytes?: number;
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

  /** Yields a body as it is, and counts its bytes as they are taken. */
  async *watch(body: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const piece of body) {
      yield piece;
      this.addBytes(piece.length);
    }
  }

  addFile(): void {
    this.#files++;
    this.#messages.progress(() => this.#text());
  }

  #text(): string {
    const seconds = (performance.now() - this.#startedAt) / 1000;
    const rate = seconds > 0 ? this.#bytes / seconds : 0;
    const { files, bytes } = this.#total ?? {};
    const done = files === undefined
      ? counted(this.#files, "file")
      : `${grouped(this.#files)} of ${counted(files, "file")}`;
    const size = bytes === undefined
      ? humanSize(this.#bytes)
      : `${humanSize(this.#bytes)} of ${humanSize(bytes)}`;
    // Files that are there already count as files only.
    const part = Math.max(bytes ? this.#bytes / bytes : 0, files ? this.#files / files : 0);
    const left = part > 0 ? `, ${durationText(seconds / part - seconds)} left` : "";
    return `${this.#what}: ${done}, ${size}, ${humanSize(Math.round(rate))}/s${left}`;
  }
}

/** Returns a time to come as `5 s`, `2 min 5 s` or `3 h 20 min`. */
export function durationText(seconds: number): string {
  const whole = Math.max(0, Math.ceil(seconds));
  if (whole < 60) return `${whole} s`;
  const minutes = Math.floor(whole / 60);
  return minutes < 60
    ? `${minutes} min ${whole % 60} s`
    : `${grouped(Math.floor(minutes / 60))} h ${minutes % 60} min`;
}
