/** A commit's listing as a table file, written by the executable and read by another program. */

import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import * as zlib from "node:zlib";
import { parquetReadObjects } from "hyparquet";
import { openHome } from "../support/home.ts";

const NAMES = [
  "plain",
  "=1+1",
  "a,b",
  'q"q',
  "two\nlines",
  "e\u0301",
  "é",
  "😀",
  "\u0001\u202e",
  "d/inner",
  "+-@ x",
];

/** What a table has beside JSON's fields: times to the millisecond. */
interface Listed {
  readonly path: string;
  readonly path_type: string;
  readonly mtime?: number;
  readonly metadata?: Record<string, string>;
  readonly size_bytes?: number;
}

async function readParquet(bytes: Uint8Array): Promise<Record<string, unknown>[]> {
  return await parquetReadObjects({
    file: bytes.slice().buffer,
    compressors: { ZSTD: (input) => new Uint8Array(zlib.zstdDecompressSync(input)) },
  });
}

test("ls, diff and log write Parquet that another program reads, to a file and to a pipe", async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  for (const name of NAMES) {
    await home.ok(["put", "lakefs://repo/main", "--key", name, "-", "--meta", "k=v"], {
      stdin: `of ${name}`,
    });
  }
  await home.ok(["commit", "lakefs://repo/main", "-m", 'first\n"commit"', "--meta", "run=42"]);

  const listed: Listed[] = await home.json(["ls", "-r", "lakefs://repo/main@"]);
  assert.equal(listed.length, NAMES.length);
  const file = join(home.folder, "listing.parquet");
  await home.ok(["ls", "-r", "lakefs://repo/main@", "--format", "parquet", "--output", file]);
  const rows = await readParquet(fs.readFileSync(file));
  assert.deepEqual(
    rows.map(({ mtime, metadata, size_bytes, ...row }) => ({
      ...row,
      size_bytes: Number(size_bytes),
      mtime: Math.floor((mtime as Date).getTime() / 1000),
      metadata: JSON.parse(metadata as string),
    })).map((row) => Object.fromEntries(Object.entries(row).sort())),
    listed.map((row) => Object.fromEntries(Object.entries(row).sort())),
  );

  const { stdout } = await home.ok(["ls", "lakefs://repo/main@", "--format", "parquet"]);
  const folded = await readParquet(stdout);
  const folder = folded.find(({ path }) => path === "d/")!;
  assert.deepEqual([folder.path_type, folder.size_bytes, folder.mtime], ["common_prefix", null, null]);

  const diff = await readParquet(
    (await home.ok(["diff", "lakefs://repo/main~1", "lakefs://repo/main", "--format", "parquet"])).stdout,
  );
  assert.deepEqual(
    diff.map(({ type, path }) => `${type} ${path}`),
    listed.map(({ path }) => `added ${path}`),
  );

  const [commit] = await readParquet(
    (await home.ok(["log", "lakefs://repo/main", "--format", "parquet"])).stdout,
  );
  const [logged] = await home.json(["log", "lakefs://repo/main"]);
  assert.deepEqual([commit!.id, commit!.message], [logged.id, 'first\n"commit"']);
  assert.deepEqual(JSON.parse(commit!.parents as string), logged.parents);
  assert.equal(commit!.metadata, '{"run":"42"}');

  const nothing = await home.ok(["status", "lakefs://repo/main", "--format", "parquet"]);
  assert.deepEqual(await readParquet(nothing.stdout), []);
});

test("CSV has one record an object, whatever is in its name", async (t) => {
  const home = openHome(t);
  await home.ok(["repo", "create", "lakefs://repo"]);
  for (const name of NAMES) await home.ok(["put", "lakefs://repo/main", "--key", name, "-"], { stdin: "x" });
  const csv = await home.text(["ls", "-r", "lakefs://repo/main", "--format", "csv"]);
  const records = csv.split("\r\n").slice(1, -1);
  const paths = records.map((record) => {
    const quoted = /^"((?:[^"]|"")*)"/.exec(record);
    return quoted ? quoted[1]!.replaceAll('""', '"') : record.slice(0, record.indexOf(","));
  });
  const listed: Listed[] = await home.json(["ls", "-r", "lakefs://repo/main"]);
  assert.deepEqual(paths, listed.map(({ path }) => path));
});

test("version --licenses prints the licences of all that is in the executable", async (t) => {
  const home = openHome(t);
  const text = await home.text(["version", "--licenses"]);
  for (const name of ["tarn ", "Bun ", "lmdb ", "LMDB ", "LZ4 ", "hyparquet-writer ", "ordered-binary "]) {
    assert.ok(text.includes(`\n==== ${name}`) || text.startsWith(`==== ${name}`), name);
  }
  assert.match(text, /Apache License[\s\S]*The OpenLDAP Public License/);
  const documents = await home.json(["version", "--licenses"]);
  assert.ok(documents.every((one: { text: string }) => one.text.length > 200));
  assert.ok(!fs.existsSync(home.path));
});
