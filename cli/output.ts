/**
 * Results, on standard output: for people when it is a terminal, stable otherwise, or JSON.
 *
 * Text is gathered and written in large pieces; `drain` waits for the reader, so that a long list takes no memory.
 */

import { utf8 } from "../base/bytes.ts";
import { escapeForTerminal } from "./render/escape.ts";
import type { Sink } from "./streams.ts";

const PIECE_CHARACTERS = 64 * 1024;

const COLORS = { red: 31, green: 32, yellow: 33, cyan: 36, bold: 1, dim: 2 } as const;
export type Color = keyof typeof COLORS;

/** `none` for text, `document` for one JSON document, `lines` for one a line. */
export type JsonMode = "none" | "document" | "lines";

export interface OutputOptions {
  readonly json: JsonMode;
  readonly terminal: boolean;
  readonly color: boolean;
}

/** How one kind of list is shown. */
export interface ListForm<T> {
  json(item: T): unknown;
  /** The line of an item, without its end. */
  line(item: T): string;
}

export class Output {
  readonly json: JsonMode;
  /** Whether a person reads the text. */
  readonly terminal: boolean;
  readonly #color: boolean;
  readonly #sink: Sink;
  #pending: string[] = [];
  #length = 0;

  constructor(sink: Sink, options: OutputOptions) {
    this.#sink = sink;
    this.json = options.json;
    this.terminal = options.terminal && options.json === "none";
    this.#color = options.color && this.terminal;
  }

  /** Adds a line of text. */
  line(text: string): void {
    this.#add(`${text}\n`);
  }

  /** Returns a name or message as it may be shown: escaped on a terminal, exact elsewhere. */
  shown(text: string): string {
    return this.terminal ? escapeForTerminal(text) : text;
  }

  /** Returns text in a colour, where colours are wanted. */
  paint(color: Color, text: string): string {
    return this.#color ? `\x1b[${COLORS[color]}m${text}\x1b[0m` : text;
  }

  /** Adds a JSON document. */
  document(value: unknown): void {
    this.#add(`${JSON.stringify(value, null, this.json === "document" ? 2 : undefined)}\n`);
  }

  /** Writes a result either way. */
  result(value: unknown, text: string): void {
    if (this.json === "none") this.line(text);
    else this.document(value);
  }

  /** Writes a list page by page, at most `amount` items; returns how many there were. */
  async list<T>(
    pages: AsyncIterable<readonly T[]>,
    form: ListForm<T>,
    options: { amount?: number } = {},
  ): Promise<number> {
    const { amount = Infinity } = options;
    let count = 0;
    const array = this.json === "document";
    if (array) this.#add("[");
    if (amount > 0) {
      for await (const page of pages) {
        for (const item of page) {
          this.#addItem(item, form, count === 0);
          if (++count >= amount) break;
        }
        if (this.#length >= PIECE_CHARACTERS) await this.drain();
        if (count >= amount) break;
      }
    }
    if (array) this.#add(count === 0 ? "]\n" : "\n]\n");
    return count;
  }

  /** Writes bytes as they are, after all text before them. */
  async bytes(bytes: Uint8Array): Promise<void> {
    await this.drain();
    await this.#sink.write(bytes);
  }

  /** Writes what is pending, and waits until it is taken. */
  async drain(): Promise<void> {
    if (this.#length === 0) return;
    const text = this.#pending.join("");
    this.#pending = [];
    this.#length = 0;
    await this.#sink.write(utf8(text));
  }

  /** Forgets what is pending: half a JSON document is none. */
  discardJson(): void {
    if (this.json !== "document") return;
    this.#pending = [];
    this.#length = 0;
  }

  #addItem<T>(item: T, form: ListForm<T>, first: boolean): void {
    if (this.json === "none") this.#add(`${form.line(item)}\n`);
    else if (this.json === "lines") this.#add(`${JSON.stringify(form.json(item))}\n`);
    else this.#add(`${first ? "" : ","}\n  ${JSON.stringify(form.json(item))}`);
  }

  #add(text: string): void {
    this.#pending.push(text);
    this.#length += text.length;
  }
}
