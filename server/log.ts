/** The log: one JSON object a line. Never a header, a query or a body, so that no secret can be in it. */

import type { Clock } from "../base/clock.ts";

export const LOG_LEVELS = ["error", "warn", "info"] as const;
export type LogLevel = typeof LOG_LEVELS[number];

export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>;

export interface LogOptions {
  readonly clock: Clock;
  readonly level: LogLevel;
  readonly write: (text: string) => void;
  /** Folders of this machine that no line may name, longest first. */
  readonly hide?: readonly string[];
}

export class Log {
  readonly #options: LogOptions;
  #pending = "";

  constructor(options: LogOptions) {
    this.#options = options;
  }

  /** Whether lines of a level are written. */
  writes(level: LogLevel): boolean {
    return LOG_LEVELS.indexOf(level) <= LOG_LEVELS.indexOf(this.#options.level);
  }

  error(message: string, fields: LogFields = {}): void {
    this.#add("error", message, fields);
  }

  warn(message: string, fields: LogFields = {}): void {
    this.#add("warn", message, fields);
  }

  info(message: string, fields: LogFields = {}): void {
    this.#add("info", message, fields);
  }

  /** Writes what is held: lines of one turn go out together. */
  flush(): void {
    const text = this.#pending;
    this.#pending = "";
    if (text !== "") this.#options.write(text);
  }

  #add(level: LogLevel, message: string, fields: LogFields): void {
    if (!this.writes(level)) return;
    const time = new Date(this.#options.clock.now()).toISOString();
    let line = JSON.stringify({ time, level, message, ...fields });
    for (const folder of this.#options.hide ?? []) {
      if (line.includes(folder)) line = line.replaceAll(folder, "(hidden)");
    }
    if (this.#pending === "") setImmediate(() => this.flush());
    this.#pending += `${line}\n`;
  }
}
