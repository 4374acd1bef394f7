/** The columns of a list that is written as a table: what CSV and Parquet have in place of JSON's fields. */

interface FieldOf<Type extends string, Item, Value> {
  /** The name that the field has in JSON. */
  readonly name: string;
  readonly type: Type;
  /** Whether an item may have no value. */
  readonly optional?: boolean;
  readonly of: (item: Item) => Value | undefined;
}

/** A column: text, a whole number, a time in milliseconds since the epoch, or any value, kept as JSON text. */
export type Field<T> =
  | FieldOf<"text", T, string>
  | FieldOf<"integer", T, number>
  | FieldOf<"time", T, number>
  | FieldOf<"json", T, unknown>;

/** A table that is being written. Items are handed over page by page, and nothing of them is kept for long. */
export interface TableWriter<T> {
  add(items: readonly T[]): Promise<void>;
  /** Writes what is pending, and the end. A table of no items is a table too. */
  finish(): Promise<void>;
}

export type TableFormat = "csv" | "parquet";

/** Takes the bytes of a table, which stay as they are afterwards. */
export type WriteBytes = (bytes: Uint8Array) => Promise<void>;

/** Returns a time that tables can hold, in whole milliseconds; entries made elsewhere may hold any number. */
export function wholeTime(milliseconds: number | undefined): number | undefined {
  if (milliseconds === undefined) return undefined;
  const time = new Date(milliseconds).getTime();
  return Number.isNaN(time) ? undefined : time;
}
