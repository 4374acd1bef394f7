/** Reading an object: its bytes as a stream, or the local file that they lie in. */

import type { ReadOptions, ReadResult } from "../../drivers/store.ts";
import type { ByteStream } from "../../drivers/object_store.ts";
import type { ValueRecord } from "../committed/mod.ts";
import { decodeEntry, downloadObject } from "../objects/mod.ts";
import type { Repository } from "../repository.ts";
import { statsOfRecord } from "./stats.ts";
import { checkRange } from "./view.ts";

/** Opens the object of a record. Fails with `invalid_range`, `checksum_mismatch`. */
export async function readObject(
  repository: Repository,
  record: ValueRecord,
  { path, fileBytes = Infinity, ...options }: ReadOptions & { readonly path: string },
): Promise<ReadResult> {
  const entry = decodeEntry(record.data);
  if (options.range) checkRange(path, options.range, entry.sizeBytes);
  const stats = statsOfRecord(repository, record);
  const open = () => downloadObject(repository.objects, entry, { ...options, path });
  const file = entry.sizeBytes >= fileBytes
    ? await repository.checkedFiles.find(entry, { ...options, path })
    : undefined;
  if (file && file.length >= fileBytes) return { stats, body: openedLate(open), file };
  return { stats, body: await open() };
}

async function* openedLate(open: () => Promise<ByteStream>): ByteStream {
  yield* await open();
}
