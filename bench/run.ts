/** Measures tarn beside its peers and prints a table: `bench/run.sh`. What is measured: docs/performance.md. */

import { accessSync, mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { measureCommands } from "./commands.ts";
import { measureEngine, measureScale } from "./engine.ts";
import { measureFolders } from "./folders.ts";
import { flushSeconds, writeRate } from "./machine.ts";
import { type Bench, canTellMemory } from "./measuring.ts";
import { duration, type Row, type Skipped, tableOf } from "./table.ts";
import { measureServe } from "./serve.ts";
import { measureTables } from "./tables.ts";

const PARTS: Readonly<Record<string, (bench: Bench) => (Row | Skipped)[] | Promise<(Row | Skipped)[]>>> = {
  tables: measureTables,
  commands: measureCommands,
  folders: measureFolders,
};

/** Parts with tables of their own form; the last one makes ten times the entries, and runs only when it is asked for. */
const TABLES: Readonly<Record<string, (bench: Bench) => string[] | Promise<string[]>>> = {
  engine: measureEngine,
  serve: measureServe,
  scale: measureScale,
};
const NAMES = [...Object.keys(PARTS), ...Object.keys(TABLES)];

const { values: given } = parseArgs({
  options: {
    files: { type: "string", default: "100000" },
    entries: { type: "string", default: "1000000" },
    records: { type: "string", default: "1000000" },
    rounds: { type: "string", default: "3" },
    only: { type: "string", multiple: true, default: NAMES.slice(0, -1) },
    folder: { type: "string", default: tmpdir() },
    tarn: { type: "string", default: fileURLToPath(new URL("../dist/tarn", import.meta.url)) },
  },
});

function numberOf(name: "files" | "entries" | "records" | "rounds"): number {
  const number = Number(given[name]);
  if (Number.isInteger(number) && number > 0) return number;
  throw new Error(`--${name} must be a whole number above 0`);
}

async function main(): Promise<void> {
  const unknown = given.only.find((name) => !NAMES.includes(name));
  if (unknown !== undefined) {
    throw new Error(`--only takes ${NAMES.join(", ")}; not "${unknown}"`);
  }
  accessSync(given.tarn);
  const folder = mkdtempSync(join(given.folder, "tarn-bench-"));
  try {
    const yardstick = { flushSeconds: flushSeconds(folder), writeRate: writeRate(folder) };
    console.log(`${cpus().length} processors (${cpus()[0]?.model ?? "unknown"}), medians, A B A B`);
    console.log(`fdatasync after 4 KiB: ${duration(yardstick.flushSeconds)}`);
    console.log(`writing and flushing 64 MiB: ${Math.round(yardstick.writeRate / 1e6)} MB/s`);
    if (!canTellMemory) console.log("peak memory: skipped, /usr/bin/time is not installed");
    let folders = 0;
    const bench: Bench = {
      ...yardstick,
      folder,
      tarn: given.tarn,
      rounds: numberOf("rounds"),
      files: numberOf("files"),
      entries: numberOf("entries"),
      records: numberOf("records"),
      fresh(name) {
        const path = join(folder, `${++folders}-${name}`);
        mkdirSync(path);
        return path;
      },
    };
    const rows: (Row | Skipped)[] = [];
    const lines: string[] = [];
    for (const name of given.only) {
      if (name in PARTS) rows.push(...await PARTS[name]!(bench));
      else lines.push(...await TABLES[name]!(bench));
    }
    if (rows.length > 0) console.log(`\n${tableOf(rows).join("\n")}`);
    console.log(lines.join("\n"));
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

try {
  await main();
} catch (error) {
  console.error(`bench: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
