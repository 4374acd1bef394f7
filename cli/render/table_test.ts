import assert from "node:assert/strict";
import { it } from "node:test";
import { type Column, Table } from "./table.ts";
import { displayWidth } from "./width.ts";

interface Row {
  readonly size: string;
  readonly time: string;
  readonly name: string;
}

const COLUMNS: readonly Column<Row>[] = [
  { forms: [({ size }) => size], fill: "start" },
  { forms: [({ time }) => time, ({ time }) => time.slice(0, 10), () => ""] },
  { forms: [({ name }) => name], color: () => "cyan" },
];
const ROWS: readonly Row[] = [
  { size: "9 B", time: "2026-03-31 12:00", name: "漢字.txt" },
  { size: "100.1 kB", time: "2026-03-31 12:00", name: "b" },
  { size: "", time: "", name: "folder/" },
];

function shown(width: number, rows = ROWS): string[] {
  const table = new Table(COLUMNS, { width, paint: (_, text) => `<${text}>` });
  table.fit(rows);
  return rows.map((row) => table.row(row));
}

it("Table lines columns up by what they take on a terminal", () => {
  assert.deepEqual(shown(80), [
    "     9 B  2026-03-31 12:00  <漢字.txt>",
    "100.1 kB  2026-03-31 12:00  <b>",
    "                            <folder/>",
  ]);
});

it("Table shows shorter forms, then leaves columns out, where it is narrow", () => {
  assert.equal(shown(36)[0], "     9 B  2026-03-31 12:00  <漢字.txt>");
  assert.equal(shown(35)[0], "     9 B  2026-03-31  <漢字.txt>");
  assert.equal(shown(29)[0], "     9 B  <漢字.txt>");
  for (const width of [18, 30, 36]) {
    for (const line of shown(width)) assert.ok(displayWidth(line.replace(/[<>]/g, "")) <= width, line);
  }
});

it("Table never cuts a name, and never makes a line of nothing but names fail", () => {
  assert.equal(shown(5)[1], "100.1 kB  <b>");
  assert.deepEqual(shown(80, [{ size: "", time: "", name: "only" }]), ["<only>"]);
});

it("Table lets one long name wrap rather than take the other columns away", () => {
  const columns = [...COLUMNS.slice(0, 2), { ...COLUMNS[2]!, mayWrap: true }];
  const table = new Table(columns, { width: 60, paint: (_, text) => text });
  const long = { ...ROWS[0]!, name: "x".repeat(100) };
  table.fit([long, ROWS[1]!]);
  assert.equal(table.row(ROWS[1]!), "100.1 kB  2026-03-31 12:00  b");
  assert.equal(table.row(long), `     9 B  2026-03-31 12:00  ${"x".repeat(100)}`);
});
