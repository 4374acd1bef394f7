/** Lists as tables for other programs. */

import { csvTable } from "./csv.ts";
import type { Field, TableFormat, TableWriter, WriteBytes } from "./fields.ts";
import { parquetTable } from "./parquet.ts";

/** Begins a table with these columns, in this order. */
export async function openTable<T>(
  fields: readonly Field<T>[],
  { format, write }: { format: TableFormat; write: WriteBytes },
): Promise<TableWriter<T>> {
  return format === "csv" ? csvTable(fields, write) : await parquetTable(fields, write);
}
