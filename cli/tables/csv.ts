/**
 * CSV after RFC 4180: UTF-8, a header, lines that end in CR LF, and quotes around what needs them.
 *
 * A missing value is an empty cell, an empty text is `""`. Times are RFC 3339 in UTC with milliseconds. A text is written as
 * it is, also where a spreadsheet would take it for a formula: a listing that changes names is none.
 */

import { utf8 } from "../../base/bytes.ts";
import { type Field, type TableWriter, wholeTime, type WriteBytes } from "./fields.ts";

const PIECE_CHARACTERS = 64 * 1024;
const LINE_END = "\r\n";

/** Begins a table. Nothing is written before the first item or the end. */
export function csvTable<T>(fields: readonly Field<T>[], write: WriteBytes): TableWriter<T> {
  let pending = fields.map(({ name }) => quoted(name)).join(",") + LINE_END;
  const flush = async () => {
    const text = pending;
    pending = "";
    await write(utf8(text));
  };
  return {
    async add(items) {
      for (const item of items) {
        pending += rowOf(fields, item);
        if (pending.length >= PIECE_CHARACTERS) await flush();
      }
    },
    finish: flush,
  };
}

function rowOf<T>(fields: readonly Field<T>[], item: T): string {
  let row = "";
  for (const [at, field] of fields.entries()) row += (at === 0 ? "" : ",") + cellOf(field, item);
  return row + LINE_END;
}

function cellOf<T>(field: Field<T>, item: T): string {
  if (field.type === "time") {
    const time = wholeTime(field.of(item));
    return time === undefined ? "" : new Date(time).toISOString();
  }
  const value = field.of(item);
  if (value === undefined) return "";
  if (field.type === "integer") return String(value);
  return quoted(field.type === "json" ? JSON.stringify(value) : value as string);
}

function quoted(text: string): string {
  return text === "" || /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
