/**
 * Aligned columns for people. A column says what it shows in several forms, longest first; where the terminal is narrow, the
 * one whose next form saves most gives way, until all fit. What then is too long is wrapped by the terminal, never cut: a
 * name that can be copied is worth more than a straight edge.
 */

import type { Color } from "../output.ts";
import { displayWidth } from "./width.ts";

const GAP = "  ";

export interface Column<T> {
  /** What a cell shows, longest form first; a last form that is always empty lets the column go. */
  readonly forms: readonly ((item: T) => string)[];
  /** Where the spaces are that fill a cell; `start` for numbers. */
  readonly fill?: "start" | "end";
  readonly color?: (item: T) => Color | undefined;
  /** A last column whose longest cells the terminal may wrap: one long name does not take the others' columns away. */
  readonly mayWrap?: boolean;
}

export interface TableOptions {
  /** The cells of a terminal's line. */
  readonly width: number;
  readonly paint: (color: Color, text: string) => string;
}

export class Table<T> {
  readonly #columns: readonly Column<T>[];
  readonly #options: TableOptions;
  /** Which form each column shows. */
  readonly #chosen: number[];
  /** The width of each form of each column, as far as items were seen. */
  readonly #widths: number[][];

  constructor(columns: readonly Column<T>[], options: TableOptions) {
    this.#columns = columns;
    this.#options = options;
    this.#chosen = columns.map(() => 0);
    this.#widths = columns.map(({ forms }) => forms.map(() => 0));
  }

  /** Widens the columns for what these items hold. */
  fit(items: readonly T[]): void {
    for (const [c, { forms }] of this.#columns.entries()) {
      const widths = this.#widths[c]!;
      for (const [f, form] of forms.entries()) {
        for (const item of items) widths[f] = Math.max(widths[f]!, displayWidth(form(item)));
      }
    }
    while (this.#total() > this.#options.width && this.#shorten());
  }

  /** Returns the line of an item, without its end. */
  row(item: T): string {
    const cells: string[] = [];
    for (const [c, column] of this.#columns.entries()) {
      const width = column.mayWrap ? 0 : this.#width(c);
      if (this.#width(c) === 0) continue;
      const text = column.forms[this.#chosen[c]!]!(item);
      const color = column.color?.(item);
      const shown = color === undefined || text === "" ? text : this.#options.paint(color, text);
      const padding = " ".repeat(Math.max(0, width - displayWidth(text)));
      cells.push(column.fill === "start" ? padding + shown : shown + padding);
    }
    return cells.join(GAP).trimEnd();
  }

  #width(column: number): number {
    return this.#widths[column]![this.#chosen[column]!]!;
  }

  #total(): number {
    const half = Math.floor(this.#options.width / 2);
    const counted = ({ mayWrap }: Column<T>, width: number) => mayWrap ? Math.min(width, half) : width;
    const widths = this.#columns.map((column, c) => counted(column, this.#width(c))).filter((width) =>
      width > 0
    );
    return widths.reduce((sum, width) => sum + width, 0) + GAP.length * Math.max(0, widths.length - 1);
  }

  /** Lets the column give way that saves most; returns whether there was one. */
  #shorten(): boolean {
    let best = -1, most = -1;
    for (const [c, widths] of this.#widths.entries()) {
      const next = widths[this.#chosen[c]! + 1];
      if (next === undefined) continue;
      const saved = this.#width(c) - next;
      if (saved > most) [best, most] = [c, saved];
    }
    if (best < 0) return false;
    this.#chosen[best]!++;
    return true;
  }
}
