/** A table of lakes that do not exist: columns like those of lakeFS's own sample, for the queries that its guides show. */

import type { Randomness } from "../../base/randomness.ts";

const ROWS = 100_000;
const FIRST_ID = 1;

/** Countries, each with how many of a thousand lakes lie in it; the rest lie in the first. */
const COUNTRIES: readonly [name: string, share: number][] = [
  ["Canada", 620],
  ["United States of America", 90],
  ["Russian Federation", 80],
  ["Finland", 45],
  ["Sweden", 40],
  ["Norway", 30],
  ["Denmark", 20],
  ["Germany", 20],
  ["China", 15],
  ["Brazil", 10],
  ["Switzerland", 10],
  ["Scotland", 8],
  ["New Zealand", 7],
  ["Israel", 5],
];
const BEGINNINGS = [
  "Al",
  "Bel",
  "Car",
  "Dun",
  "El",
  "Fal",
  "Gor",
  "Hal",
  "In",
  "Kel",
  "Lo",
  "Mor",
  "Nar",
  "Os",
];
const MIDDLES = ["a", "be", "di", "e", "gu", "i", "la", "mo", "ni", "o", "ra", "se", "ta", "u"];
const ENDS = ["bro", "dan", "garth", "ko", "lin", "mere", "nish", "rin", "sen", "vatn", "water", "wick"];

/** Returns the table as a Parquet file. */
export async function lakesParquet(randomness: Randomness): Promise<Uint8Array> {
  const { parquetWriteBuffer } = await import("hyparquet-writer");
  const countries = COUNTRIES.flatMap(([name, share]) => Array<string>(share).fill(name));
  const pick = (names: readonly string[]) => names[Math.floor(randomness.fraction() * names.length)]!;
  const rows = Array.from({ length: ROWS }, (_, at) => at);
  return new Uint8Array(parquetWriteBuffer({
    columnData: [
      { name: "Hylak_id", type: "INT64", data: rows.map((at) => BigInt(FIRST_ID + at)) },
      // Most lakes have no name.
      {
        name: "Lake_name",
        type: "STRING",
        data: rows.map(() =>
          randomness.fraction() < 0.8 ? "" : `${pick(BEGINNINGS)}${pick(MIDDLES)}${pick(ENDS)}`
        ),
      },
      { name: "Country", type: "STRING", data: rows.map(() => pick(countries)) },
      { name: "Depth_m", type: "DOUBLE", data: rows.map(() => depth(randomness)) },
    ],
    createdBy: "tarn",
  }));
}

/** Many shallow lakes and few deep ones, to the decimetre. */
function depth(randomness: Randomness): number {
  return Math.round(10 * (0.5 + 40 * randomness.fraction() ** 4 + 400 * randomness.fraction() ** 40)) / 10;
}
