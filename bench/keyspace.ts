/** Made-up entries for the engine's figures: keys of about 60 bytes, values of about 150, a thousand to a folder. */

import { utf8 } from "../base/bytes.ts";
import type { Change, ValueRecord } from "../engine/committed/mod.ts";
import { type Entry, entryRecord } from "../engine/objects/mod.ts";

const BLOCK = 1000;

/** Returns the path of an entry; in their order they are in the order of bytes. */
export function pathAt(i: number): string {
  const folder = String(Math.floor(i / 1000)).padStart(6, "0");
  return `datasets/collection-${folder}/year=2024/part-${String(i).padStart(8, "0")}.parquet`;
}

/** Returns an entry; another `version` is other content. */
export function entryAt(i: number, version = 0): Entry {
  const noise = noiseOf(i, version);
  let etag = "";
  for (let at = 0; at < 16; at++) etag += (noise[at]! + 256).toString(16).slice(1);
  return {
    address: `data/${noise[16]! % 16}/${noise[17]! % 16}/p${noise[18]! % 8}/${etag.slice(0, 26)}`,
    addressType: 1,
    lastModified: { seconds: 1_700_000_000 + i % 86_400, nanos: 0 },
    sizeBytes: 1000 + i % 1_000_000,
    etag,
    metadata: {},
    contentType: "application/octet-stream",
    sha256: noise,
  };
}

export function recordAt(i: number, version = 0): ValueRecord {
  return entryRecord(utf8(pathAt(i)), entryAt(i, version));
}

/** Yields entries `from` to `to`-1 as additions. */
export async function* additions(from: number, to: number): AsyncGenerator<readonly Change[]> {
  for (let start = from; start < to; start += BLOCK) {
    const length = Math.min(BLOCK, to - start);
    yield Array.from({ length }, (_, at) => {
      const record = recordAt(start + at);
      return { key: record.key, record };
    });
  }
}

/** What a hash would give: 32 bytes that do not pack. */
function noiseOf(i: number, version: number): Uint8Array {
  const out = new Uint8Array(32);
  let state = (Math.imul(i + 1, 0x9e3779b1) ^ Math.imul(version + 1, 0x85ebca6b)) | 1;
  for (let at = 0; at < 32; at++) {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    out[at] = state >>> 11;
  }
  return out;
}
