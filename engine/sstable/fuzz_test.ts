import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { compareBytes } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import { type Randomness, seededRandomness } from "../../base/randomness.ts";
import { draw, numberedRecords, openBytes, scanAll, writeTable } from "../../tests/support/tables.ts";
import { memorySource } from "./byte_source.ts";
import { maskedCrc32c } from "./crc32c.ts";
import { type BlockHandle, decodeHandle, FOOTER_BYTES } from "./footer.ts";
import { RecordDecoder, type TableRecord, tableRecord } from "./records.ts";
import { TableFile } from "./table_file.ts";

/** Each is read in six ways; with six subjects and two kinds of change that makes 4,800 damaged files. */
const RUNS = 400;
const PATIENT = { timeout: 120_000 };

const subjects: { name: string; bytes: Uint8Array }[] = [
  { name: "written here", bytes: writeTable(numberedRecords(0, 150)) },
  ...["plain", "zstd", "two_level", "filter", "all"].map((name) => ({
    name: `${name}.sst`,
    bytes: foreignTable(name),
  })),
];

function foreignTable(name: string): Uint8Array {
  return new Uint8Array(readFileSync(new URL(`testdata/${name}.sst`, import.meta.url)));
}

/** Reads a table in every way; returns its records, or nothing when it said `corrupt`. Any other failure is a bug. */
async function readings(
  bytes: Uint8Array,
  probes: readonly Uint8Array[],
): Promise<TableRecord[] | undefined> {
  let records: TableRecord[] | undefined;
  const readers: (() => Promise<unknown>)[] = [
    async () => records = await scanAll(await openBytes(bytes)),
    async () => (await openBytes(bytes)).verify(),
    ...probes.flatMap((probe) => [
      async () => (await openBytes(bytes)).get(probe),
      async () => (await openBytes(bytes)).seek(probe),
    ]),
  ];
  for (const read of readers) {
    try {
      await read();
    } catch (error) {
      if (!isCoded(error, "corrupt_file")) throw error;
    }
  }
  return records;
}

/** Changes a few bytes of a span, in the ways that bytes go wrong or are made to. */
function mutate(bytes: Uint8Array, random: Randomness): void {
  for (let changes = 1 + draw(random, 3); changes > 0; changes--) {
    const at = draw(random, bytes.length);
    const kind = draw(random, 4);
    if (kind === 0) bytes[at]! ^= 1 << draw(random, 8);
    else if (kind === 1) bytes[at] = draw(random, 256);
    else if (kind === 2) bytes[at] = [0, 0x7f, 0x80, 0xff][draw(random, 4)]!;
    else bytes.copyWithin(at, draw(random, bytes.length), bytes.length - draw(random, 8));
  }
}

/** Finds the blocks of a table that is sound. */
async function blocksOf(bytes: Uint8Array): Promise<BlockHandle[]> {
  const file = await TableFile.open(memorySource("sound.sst", bytes));
  const { index, metaindex } = file.footer();
  const named = new RecordDecoder(await file.loadBlock(metaindex, "plain"), { make: tableRecord }).next(
    Infinity,
  );
  const indexed = new RecordDecoder(await file.loadBlock(index, "separator"), { make: tableRecord }).next(
    Infinity,
  );
  return [index, metaindex, ...[...named, ...indexed].map(({ value }) => decodeHandle(value))];
}

function isAscending(records: readonly TableRecord[]): boolean {
  return records.every(({ key }, i) => i === 0 || compareBytes(records[i - 1]!.key, key) < 0);
}

for (const { name, bytes } of subjects) {
  test(`changed bytes of a table (${name}) are corrupt or change nothing`, PATIENT, async () => {
    const sound = await scanAll(await openBytes(bytes));
    const probes = [sound[0]!.key, sound[70]!.key];
    for (let seed = 0; seed < RUNS; seed++) {
      const random = seededRandomness(seed);
      const changed = bytes.slice();
      mutate(random.fraction() < 0.3 ? changed.subarray(-FOOTER_BYTES) : changed, random);
      const length = random.fraction() < 0.2 ? draw(random, changed.length) : changed.length;
      const records = await readings(changed.subarray(0, length), probes);
      if (records) assert.deepEqual(records, sound, `seed ${seed}`);
    }
  });

  test(
    `changed blocks of a table (${name}) with right checksums are corrupt or a table`,
    PATIENT,
    async () => {
      const sound = await scanAll(await openBytes(bytes));
      const probes = [sound[0]!.key, sound[70]!.key];
      const blocks = await blocksOf(bytes);
      for (let seed = 0; seed < RUNS; seed++) {
        const random = seededRandomness(seed);
        const changed = bytes.slice();
        // Index, metaindex and properties as often as all data blocks together.
        const { offset, length } = blocks[draw(random, random.fraction() < 0.5 ? 3 : blocks.length)]!;
        mutate(changed.subarray(offset, offset + length + (random.fraction() < 0.1 ? 1 : 0)), random);
        const sum = maskedCrc32c(changed.subarray(offset, offset + length + 1));
        new DataView(changed.buffer).setUint32(offset + length + 1, sum, true);
        const records = await readings(changed, probes);
        if (records) assert.ok(isAscending(records), `seed ${seed}`);
      }
    },
  );
}
