/**
 * The driver `csv:COLUMN`: tables whose rows are known by one column.
 *
 * RFC 4180: fields between commas, quoted where they hold commas, quotes or line ends. The columns must be the same on all
 * sides. Rows are merged whole; they keep their text, quoting included, and the destination's order and line ends. Texts are
 * taken byte by byte (as Latin-1), so any encoding that extends ASCII goes through unchanged.
 */

import { Buffer } from "node:buffer";
import { asBuffer, utf8 } from "../../base/bytes.ts";
import { bothSides, DELETED_ON_ONE_SIDE, type DriverResult, type DriverSides } from "./driver.ts";
import { decided, KeyConflict, mergeKeyed } from "./keyed.ts";

const BYTE_ORDER_MARK = "\xef\xbb\xbf";

/** Merges tables by row. */
export function mergeCsv(sides: DriverSides, column: string): DriverResult {
  const both = bothSides(sides);
  if (!both) return DELETED_ON_ONE_SIDE;
  const columnBytes = latin1(utf8(column));
  const read = (bytes: Uint8Array) => readTable(latin1(bytes), columnBytes);
  const source = read(both.source), destination = read(both.destination);
  const base = sides.base ? read(sides.base) : { ...destination, rows: new Map<string, Row>() };
  for (const table of [base, source, destination]) {
    if (table.problem !== undefined) return { conflict: table.problem };
  }
  if (![base, source].every(({ header }) => sameRow(header, destination.header))) {
    return { conflict: "the sides have different columns" };
  }
  const rows = mergeKeyed(
    { base: base.rows, source: source.rows, destination: destination.rows },
    (key, versions) => decided(key, versions, sameRow),
  );
  if (rows instanceof KeyConflict) {
    return { conflict: `both sides changed the row "${asText(rows.key)}"` };
  }
  const lines = [destination.header, ...rows.map(([, row]) => row)].map(({ text }) => text);
  const end = destination.hasLastEnd || lines.length === 1 ? destination.lineEnd : "";
  return Buffer.from(destination.mark + lines.join(destination.lineEnd) + end, "latin1");
}

interface Row {
  /** Without its line end. */
  readonly text: string;
  readonly fields: readonly string[];
}

interface Table {
  readonly header: Row;
  readonly rows: ReadonlyMap<string, Row>;
  readonly lineEnd: string;
  /** Whether the last row has a line end. */
  readonly hasLastEnd: boolean;
  readonly mark: string;
  /** Why it cannot be merged. */
  readonly problem?: string;
}

function sameRow(a: Row, b: Row): boolean {
  return a.text === b.text ||
    (a.fields.length === b.fields.length && a.fields.every((field, i) => field === b.fields[i]));
}

function readTable(whole: string, column: string): Table {
  const mark = whole.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
  const text = whole.slice(mark.length);
  const rows = new Map<string, Row>();
  let header: Row | undefined, lineEnd = "\n", hasLastEnd = true, keyAt = -1;
  const table = (problem?: string): Table => ({
    header: header ?? { text: "", fields: [] },
    rows,
    lineEnd,
    hasLastEnd,
    mark,
    ...(problem === undefined ? {} : { problem }),
  });
  for (let at = 0; at < text.length;) {
    const record = readRecord(text, at);
    if (!record) return table("its quotes do not match");
    const row = { text: text.slice(at, record.end), fields: record.fields };
    at = record.next;
    hasLastEnd = record.next > record.end;
    if (!header) {
      header = row;
      if (hasLastEnd) lineEnd = text.slice(record.end, record.next);
      keyAt = row.fields.indexOf(column);
      if (keyAt < 0 || row.fields.indexOf(column, keyAt + 1) >= 0) {
        return table(`it does not have one column "${asText(column)}"`);
      }
      continue;
    }
    if (row.fields.length !== header.fields.length) {
      return table("a row has more or fewer fields than columns");
    }
    const key = row.fields[keyAt]!;
    if (rows.has(key)) return table(`two rows have the key "${asText(key)}"`);
    rows.set(key, row);
  }
  return header ? table() : table("it is empty");
}

interface RecordRead {
  readonly fields: readonly string[];
  /** Where its text ends, and where the next record begins. */
  readonly end: number;
  readonly next: number;
}

const QUOTED = /"([^"]*(?:""[^"]*)*)"/y;
const PLAIN = /[^",\r\n]*/y;
const LINE_END = /\r?\n/y;

/** Reads one record; `undefined` where its quotes do not match. */
function readRecord(text: string, start: number): RecordRead | undefined {
  const fields: string[] = [];
  for (let at = start;; at++) {
    const isQuoted = text[at] === '"';
    const pattern = isQuoted ? QUOTED : PLAIN;
    pattern.lastIndex = at;
    const match = pattern.exec(text);
    if (!match) return undefined;
    fields.push(isQuoted ? match[1]!.replaceAll('""', '"') : match[0]);
    at += match[0].length;
    if (text[at] === ",") continue;
    if (at === text.length) return { fields, end: at, next: at };
    LINE_END.lastIndex = at;
    const lineEnd = LINE_END.exec(text);
    return lineEnd ? { fields, end: at, next: at + lineEnd[0].length } : undefined;
  }
}

function latin1(bytes: Uint8Array): string {
  return asBuffer(bytes).toString("latin1");
}

/** Returns bytes that were read as Latin-1 as the UTF-8 that they mostly are. */
function asText(bytes: string): string {
  return Buffer.from(bytes, "latin1").toString("utf8");
}
