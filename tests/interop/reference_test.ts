/**
 * Range and metarange IDs held against `tests/reference/reference.py`, which was written apart from this project, for
 * listings from none to a million entries.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { closeSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { test } from "node:test";
import { compareBytes, utf8 } from "../../base/bytes.ts";
import { openMemoryObjectStore } from "../../drivers/memory/mod.ts";
import { Metarange, MetarangeWriter, TableFiles } from "../../engine/committed/mod.ts";
import { entryRecord, entryWeight } from "../../engine/objects/mod.ts";
import { requireTool } from "../support/requires.ts";
import { temporaryFolder } from "../support/temporary.ts";

const REFERENCE = fileURLToPath(new URL("../reference/reference.py", import.meta.url));

interface Listed {
  readonly key: string;
  readonly size: number;
  readonly etag: string;
  readonly metadata: Record<string, string>;
  readonly content_type: string;
}

/** An entry with traps in it: keys around UTF-16's surrogates, sizes beyond 32 bits, metadata out of order. */
function listed(i: number): Listed {
  const letter = ["a", "\u00e9", "\ue000", "\u{10000}", "z"][i % 5]!;
  const metadata: Record<string, string> = i % 4 === 0
    ? { "\u{10000}": "a", "\ue000": "b", n: String(i) }
    : {};
  return {
    key: `${letter}/${(i * 2654435761) % 4294967296}/${i}`,
    size: i % 7 === 0 ? 2 ** 40 + i : i,
    etag: `e${i % 17}`,
    metadata,
    content_type: i % 3 === 0 ? "text/plain" : "",
  };
}

const CASES = [
  { count: 0, options: {} },
  { count: 1, options: {} },
  { count: 20_000, options: { raggedness: 300, min: 2000, max: 60_000 } },
  { count: 1_000_000, options: {} },
];

for (const { count, options } of CASES) {
  test(`ranges and metarange ID of ${count} entries are those of the reference program`, async (t) => {
    if (!requireTool(t, "python3")) return;
    const path = join(temporaryFolder(t), "listing.jsonl");
    writeListing(path, count);
    const flags = Object.entries(options).map(([name, value]) => `--${name}=${value}`);
    const run = spawnSync("python3", [REFERENCE, path, ...flags], { encoding: "utf8", maxBuffer: 1 << 28 });
    assert.equal(run.status, 0, run.stderr);
    const expected: { ranges: { id: string; count: number }[]; metarange_id: string } = JSON.parse(
      run.stdout,
    );

    const files = new TableFiles(openMemoryObjectStore());
    const id = await writeRecords(files, count, {
      minSizeBytes: options.min ?? 0,
      maxSizeBytes: options.max ?? 20 << 20,
      raggedness: options.raggedness ?? 50_000,
    });
    const ranges = await new Metarange(files, id).ranges();
    const shown = ranges.map(({ id, count }) => ({ id, count }));
    assert.deepEqual(shown, expected.ranges.map(({ id, count }) => ({ id, count })));
    assert.equal(id, expected.metarange_id);
  });
}

function writeListing(path: string, count: number): void {
  const file = openSync(path, "w");
  try {
    for (let at = 0; at < count; at += 10_000) {
      const lines = [];
      for (let i = at; i < Math.min(count, at + 10_000); i++) lines.push(JSON.stringify(listed(i)));
      writeSync(file, lines.join("\n") + "\n");
    }
  } finally {
    closeSync(file);
  }
}

async function writeRecords(
  files: TableFiles,
  count: number,
  chunking: { minSizeBytes: number; maxSizeBytes: number; raggedness: number },
): Promise<string> {
  const keys = Array.from({ length: count }, (_, i) => ({ i, key: utf8(listed(i).key) }));
  keys.sort((a, b) => compareBytes(a.key, b.key));
  const writer = new MetarangeWriter(files, { chunking, weigh: entryWeight });
  for (const { i, key } of keys) {
    const { size, etag, metadata, content_type } = listed(i);
    const record = entryRecord(key, {
      address: `data/${i}`,
      addressType: 1,
      lastModified: { seconds: i, nanos: 0 },
      sizeBytes: size,
      etag,
      metadata,
      contentType: content_type,
    });
    if (writer.add(record)) await writer.proceed();
  }
  return (await writer.finish()).id;
}
