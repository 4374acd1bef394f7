import assert from "node:assert/strict";
import { describe, it } from "node:test";
import * as zlib from "node:zlib";
import { parquetMetadata, parquetReadObjects, toJson } from "hyparquet";
import { concatBytes, lossyText } from "../../base/bytes.ts";
import type { Field, TableFormat } from "./fields.ts";
import { openTable } from "./mod.ts";

interface Row {
  readonly name: string;
  readonly note?: string;
  readonly size?: number;
  readonly time?: number;
  readonly more?: unknown;
}

const FIELDS: readonly Field<Row>[] = [
  { name: "name", type: "text", of: ({ name }) => name },
  { name: "note", type: "text", optional: true, of: ({ note }) => note },
  { name: "size", type: "integer", optional: true, of: ({ size }) => size },
  { name: "time", type: "time", optional: true, of: ({ time }) => time },
  { name: "more", type: "json", optional: true, of: ({ more }) => more },
];

async function written(format: TableFormat, ...pages: Row[][]) {
  const pieces: Uint8Array[] = [];
  const table = await openTable(FIELDS, { format, write: async (bytes) => void pieces.push(bytes) });
  for (const page of pages) await table.add(page);
  await table.finish();
  return { pieces, bytes: concatBytes(...pieces) };
}

/** The whole file as another program's reader sees it. */
async function readBack(bytes: Uint8Array) {
  const file = bytes.slice().buffer;
  const compressors = { ZSTD: (input: Uint8Array) => new Uint8Array(zlib.zstdDecompressSync(input)) };
  return {
    rows: await parquetReadObjects({ file, compressors }),
    metadata: parquetMetadata(file),
  };
}

describe("a CSV table", () => {
  const csv = async (...rows: Row[]) => lossyText((await written("csv", rows)).bytes);

  it("has a header, lines that end in CR LF, and quotes where they are needed", async () => {
    const text = await csv(
      { name: "plain", note: "", size: 5, time: 1_700_000_000_123, more: { k: "v" } },
      { name: 'comma, "quote"', note: "two\nlines\r" },
      { name: "=1+1", note: "-x", more: [] },
      { name: "😀 é", note: " space " },
    );
    assert.deepEqual(text.split("\r\n"), [
      "name,note,size,time,more",
      'plain,"",5,2023-11-14T22:13:20.123Z,"{""k"":""v""}"',
      '"comma, ""quote""","two\nlines\r",,,',
      "=1+1,-x,,,[]",
      "😀 é, space ,,,",
      "",
    ]);
  });

  it("of no rows is its header", async () => {
    assert.equal(await csv(), "name,note,size,time,more\r\n");
  });

  it("goes out in pieces", async () => {
    const page = Array.from({ length: 20_000 }, (_, i) => ({ name: `name ${i}` }));
    const { pieces, bytes } = await written("csv", page, page);
    assert.ok(pieces.length > 5);
    assert.equal(lossyText(bytes).split("\r\n").length, 40_002);
  });

  it("leaves a time that no calendar has empty", async () => {
    assert.match(await csv({ name: "a", time: 1e300 }), /\r\na,,,,\r\n$/);
  });
});

describe("a Parquet table", () => {
  it("is read by another program as it was, with types", async () => {
    const given: Row[] = [
      { name: "a", note: "", size: 2 ** 53 - 1, time: 1_700_000_000_123, more: { k: "v", é: '"' } },
      { name: "\u0001\u001b[31m\r\n\t", size: 0 },
      { name: "e\u0301 é 漢 \u202e" },
    ];
    const { rows, metadata } = await readBack((await written("parquet", given)).bytes);
    assert.deepEqual(rows, [
      {
        name: "a",
        note: "",
        size: 9007199254740991n,
        time: new Date(1_700_000_000_123),
        more: '{"k":"v","é":"\\""}',
      },
      { name: given[1]!.name, note: null, size: 0n, time: null, more: null },
      { name: given[2]!.name, note: null, size: null, time: null, more: null },
    ]);
    assert.deepEqual(
      metadata.schema.slice(1).map(({ name, type, converted_type, repetition_type }) =>
        [name, type, converted_type, repetition_type].join(" ").replace(/\s+/g, " ")
      ),
      [
        "name BYTE_ARRAY UTF8 REQUIRED",
        "note BYTE_ARRAY UTF8 OPTIONAL",
        "size INT64 OPTIONAL",
        "time INT64 TIMESTAMP_MILLIS OPTIONAL",
        "more BYTE_ARRAY UTF8 OPTIONAL",
      ],
    );
    assert.deepEqual(toJson(metadata.schema[4]!.logical_type), {
      type: "TIMESTAMP",
      isAdjustedToUTC: true,
      unit: "MILLIS",
    });
  });

  it("of no rows is a table with its columns", async () => {
    const { rows, metadata } = await readBack((await written("parquet")).bytes);
    assert.deepEqual([rows, metadata.num_rows], [[], 0n]);
    assert.equal(metadata.schema.length, 1 + FIELDS.length);
  });

  it("goes out by row groups, which long texts end early", async () => {
    const page = (from: number) => Array.from({ length: 15_000 }, (_, i) => ({ name: `name ${from + i}` }));
    const { pieces, bytes } = await written("parquet", page(0), page(15_000), page(30_000));
    const { rows, metadata } = await readBack(bytes);
    assert.deepEqual(
      rows.map(({ name }) => name),
      [...page(0), ...page(15_000), ...page(30_000)].map(({ name }) => name),
    );
    assert.deepEqual(metadata.row_groups.map(({ num_rows }) => Number(num_rows)), [20_000, 20_000, 5_000]);
    assert.equal(pieces.length, 4);

    const long = Array.from({ length: 40 }, (_, i) => ({ name: `${i}`, note: "x".repeat(1_000_000) }));
    const early = await readBack((await written("parquet", long)).bytes);
    assert.deepEqual(early.metadata.row_groups.map(({ num_rows }) => Number(num_rows)), [17, 17, 6]);
  });

  it("notes the least and the greatest text by the order of their bytes, where JavaScript's is another", async () => {
    const statistics = async (...names: string[]) => {
      const { metadata } = await readBack((await written("parquet", names.map((name) => ({ name })))).bytes);
      const { min_value, max_value } = metadata.row_groups[0]!.columns[0]!.meta_data!.statistics!;
      return [min_value, max_value];
    };
    // U+FFEE sorts before U+1F600 in UTF-8, and after its surrogates in UTF-16.
    assert.deepEqual(await statistics("\uffee", "😀"), ["\uffee", "😀"]);
  });
});
