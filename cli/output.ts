/**
 * Results, on standard output: for people when it is a terminal, stable otherwise, or JSON.
 *
 * Text is gathered and written in large pieces; `drain` waits for the reader, so that a long list takes no memory.
 */

import { utf8 } from "../base/bytes.ts";
import { CodedError } from "../base/errors.ts";
import { escapeForTerminal } from "./render/escape.ts";
import { type Column, Table } from "./render/table.ts";
import type { Sink } from "./streams.ts";
import type { Field, TableFormat } from "./tables/fields.ts";

const PIECE_CHARACTERS = 64 * 1024;
const USUAL_COLUMNS = 80;
/** How many items are looked at before the first is shown in columns. */
const ITEMS_TO_FIT = 200;

const COLORS = { red: 31, green: 32, yellow: 33, cyan: 36, bold: 1, dim: 2 } as const;
export type Color = keyof typeof COLORS;

/** `none` for text, `document` for one JSON document, `lines` for one a line; `table` for no JSON, but a table file. */
export type JsonMode = "none" | "document" | "lines" | "table";

export interface OutputOptions {
  readonly json: JsonMode;
  /** The format of the table, where that is the form of results. */
  readonly table?: TableFormat;
  readonly terminal: boolean;
  readonly color: boolean;
  /** The cells of the terminal's line. */
  readonly columns?: () => number;
}

/** How one kind of list is shown. */
export interface ListForm<T> {
  json(item: T): unknown;
  /** The line of an item, without its end. */
  line(item: T): string;
  /** The columns that a person is shown in place of the line. */
  readonly table?: readonly Column<T>[];
  /** The columns of a table file: all that JSON has, in its order. A list without them can be no table. */
  readonly fields?: readonly Field<T>[];
}

export class Output {
  readonly json: JsonMode;
  /** Whether a person reads the text. */
  readonly terminal: boolean;
  readonly #table: TableFormat | undefined;
  readonly #color: boolean;
  readonly #columns: (() => number) | undefined;
  readonly #sink: Sink;
  #pending: string[] = [];
  #length = 0;

  constructor(sink: Sink, options: OutputOptions) {
    this.#sink = sink;
    this.json = options.json;
    this.#table = options.table;
    this.terminal = options.terminal && options.json === "none";
    this.#color = options.color && this.terminal;
    this.#columns = options.columns;
  }

  /** The cells of the terminal's line. */
  get columns(): number {
    return (this.terminal ? this.#columns?.() : undefined) ?? USUAL_COLUMNS;
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
    if (this.json === "table") throw noTable();
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
    if (this.json === "table") return await this.#writeTable(firstOf(pages, amount), form.fields);
    if (form.table && this.terminal) return await this.#showTable(firstOf(pages, amount), form.table);
    let count = 0;
    const array = this.json === "document";
    if (array) this.#add("[");
    for await (const page of firstOf(pages, amount)) {
      for (const item of page) this.#addItem(item, form, count++ === 0);
      await this.makeRoom();
    }
    if (array) this.#add(count === 0 ? "]\n" : "\n]\n");
    return count;
  }

  async #writeTable<T>(
    pages: AsyncIterable<readonly T[]>,
    fields: readonly Field<T>[] | undefined,
  ): Promise<number> {
    if (!fields || !this.#table) throw noTable();
    const { openTable } = await import("./tables/mod.ts");
    const table = await openTable(fields, {
      format: this.#table,
      write: (bytes) => this.bytes(bytes),
    });
    let count = 0;
    for await (const page of pages) {
      await table.add(page);
      count += page.length;
    }
    await table.finish();
    return count;
  }

  /** The columns are as wide as the first items need, and grow when later ones need more. */
  async #showTable<T>(pages: AsyncIterable<readonly T[]>, columns: readonly Column<T>[]): Promise<number> {
    const table = new Table(columns, {
      width: this.columns,
      paint: (color, text) => this.paint(color, text),
    });
    let waiting: T[] = [];
    let count = 0;
    const show = () => {
      table.fit(waiting);
      for (const item of waiting) this.line(table.row(item));
      count += waiting.length;
      waiting = [];
    };
    for await (const page of pages) {
      for (const item of page) waiting.push(item);
      if (waiting.length >= ITEMS_TO_FIT) show();
      await this.makeRoom();
    }
    show();
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

  /** Drains what is pending once it is much, for those who write line by line: a little can still be taken back. */
  async makeRoom(): Promise<void> {
    if (this.#length >= PIECE_CHARACTERS) await this.drain();
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

function noTable(): CodedError {
  return new CodedError(
    "invalid",
    "invalid_argument",
    'Cannot write this as a table: "--format" is for lists',
  );
}

/** Yields pages up to an amount of items, and asks for none beyond. */
async function* firstOf<T>(pages: AsyncIterable<readonly T[]>, amount: number): AsyncGenerator<readonly T[]> {
  if (amount <= 0) return;
  let left = amount;
  for await (const page of pages) {
    yield page.length > left ? page.slice(0, left) : page;
    left -= page.length;
    if (left <= 0) return;
  }
}
