/** Turning the engine's records into what the store contract shows. */

import { hex, lossyText } from "../../base/bytes.ts";
import { millisecondsOf } from "../../base/clock.ts";
import type { CommitInfo, ObjectStats } from "../../drivers/store.ts";
import type { ValueRecord } from "../committed/mod.ts";
import { decodeEntry, type Entry } from "../objects/mod.ts";
import type { Commit } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";

/** Returns the stats of an entry. */
export function statsOfEntry(repository: Repository, path: string, entry: Entry): ObjectStats {
  const { address, addressType } = entry;
  return {
    path,
    // Working out the place of a file costs more than all the rest, and a listing rarely shows it.
    get physicalAddress(): string {
      const isFull = addressType === 2 || (addressType === 0 && address.includes("://"));
      return isFull ? address : repository.objects.locate(address);
    },
    checksum: entry.etag,
    sizeBytes: entry.sizeBytes,
    mtimeMs: millisecondsOf(entry.lastModified),
    metadata: entry.metadata,
    contentType: entry.contentType,
    ...(entry.sha256 ? { sha256: hex(entry.sha256) } : {}),
  };
}

/** Returns the stats of a record. */
export function statsOfRecord(repository: Repository, record: ValueRecord): ObjectStats {
  return statsOfEntry(repository, lossyText(record.key), decodeEntry(record.data));
}

/** Returns a commit as the contract shows it. */
export function commitInfo(commit: Commit): CommitInfo {
  return {
    id: commit.id,
    parents: commit.parents,
    committer: commit.committer,
    message: commit.message,
    creationDate: commit.creationDate.seconds,
    metaRangeId: commit.metaRangeId,
    metadata: commit.metadata,
    generation: commit.generation,
    version: 1,
  };
}
