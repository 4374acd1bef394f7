/**
 * A slow, plain model of committed data: a sorted list of records, chunked from the start, hashed from the start.
 * What the engine writes is held against it.
 */

import { createHash } from "node:crypto";
import { compareBytes, concatBytes, utf8 } from "../../base/bytes.ts";
import type { Chunking, RecordWeight, ValueRecord } from "../../engine/committed/mod.ts";

export interface ModelRange {
  readonly id: string;
  readonly count: number;
}

const h = (bytes: Uint8Array): Uint8Array => createHash("sha256").update(bytes).digest();

function fnv1a64(bytes: Uint8Array): bigint {
  let x = 0xcbf29ce484222325n;
  for (const byte of bytes) x = BigInt.asUintN(64, (x ^ BigInt(byte)) * 0x100000001b3n);
  return x;
}

function fileId(records: readonly { key: Uint8Array; identity: Uint8Array }[]): string {
  const ids = records.map(({ key, identity }) => h(concatBytes(h(key), h(identity))));
  return createHash("sha256").update(concatBytes(...ids)).digest("hex");
}

/** Returns the canonical ranges and metarange ID of records in any order. */
export function canonicalModel(
  records: Iterable<ValueRecord>,
  chunking: Chunking,
  weigh: RecordWeight,
): { ranges: ModelRange[]; metarangeId: string } {
  const sorted = [...records].sort((a, b) => compareBytes(a.key, b.key));
  const ranges: ModelRange[] = [];
  const entries: { key: Uint8Array; identity: Uint8Array }[] = [];
  let open: ValueRecord[] = [], size = 0;
  const close = () => {
    const id = fileId(open);
    ranges.push({ id, count: open.length });
    entries.push({ key: open.at(-1)!.key, identity: utf8(id) });
    open = [];
    size = 0;
  };
  for (const record of sorted) {
    open.push(record);
    size += weigh(record);
    const breaks = size >= chunking.minSizeBytes &&
      (size >= chunking.maxSizeBytes || fnv1a64(record.key) % BigInt(chunking.raggedness) === 0n);
    if (breaks) close();
  }
  if (open.length > 0) close();
  return { ranges, metarangeId: fileId(entries) };
}
