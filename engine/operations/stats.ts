/** Turning the engine's records into what the store contract shows. */

import { hex, lossyText } from "../../base/bytes.ts";
import { millisecondsOf } from "../../base/clock.ts";
import type { CommitInfo, ObjectStats, RepositoryInfo } from "../../drivers/store.ts";
import type { ValueRecord } from "../committed/mod.ts";
import { type AddressType, decodeEntry, type Entry, type EntryReader, isOwnAddress } from "../objects/mod.ts";
import type { Commit, RepositoryRecord } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";

/** Returns the stats of an entry. */
export function statsOfEntry(repository: Repository, path: string, entry: Entry): ObjectStats {
  const { address, addressType } = entry;
  return {
    path,
    // Working out the place of a file costs more than all the rest, and a listing rarely shows it.
    get physicalAddress(): string {
      return placeOf(repository, address, addressType);
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

/** Returns the stats of an entry that is being read; what is rarely shown is made when it is asked for. */
export function listedStats(repository: Repository, path: string, entry: EntryReader): ObjectStats {
  return new ListedStats(repository, path, entry);
}

class ListedStats implements ObjectStats {
  readonly path: string;
  readonly checksum: string;
  readonly sizeBytes: number;
  readonly mtimeMs: number;
  readonly metadata: Readonly<Record<string, string>>;
  readonly contentType: string;
  readonly #repository: Repository;
  readonly #address: string;
  readonly #addressType: AddressType;
  readonly #sha256: Uint8Array | undefined;

  constructor(repository: Repository, path: string, entry: EntryReader) {
    this.path = path;
    this.checksum = entry.etag;
    this.sizeBytes = entry.sizeBytes;
    this.mtimeMs = millisecondsOf(entry.lastModified);
    this.metadata = entry.metadata;
    this.contentType = entry.contentType;
    this.#repository = repository;
    this.#address = entry.address;
    this.#addressType = entry.addressType;
    this.#sha256 = entry.sha256;
  }

  get physicalAddress(): string {
    return placeOf(this.#repository, this.#address, this.#addressType);
  }

  get sha256(): string | undefined {
    return this.#sha256 && hex(this.#sha256);
  }
}

function placeOf(repository: Repository, address: string, type: AddressType): string {
  const isFull = type === 2 || (type === 0 && address.includes("://"));
  if (isFull) return address;
  return isOwnAddress(address) ? repository.addressBase + address : repository.objects.locate(address);
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

/** Returns a repository as the contract shows it. */
export function repositoryInfo(record: RepositoryRecord): RepositoryInfo {
  return {
    id: record.id,
    storageNamespace: record.storageNamespace,
    defaultBranch: record.defaultBranch,
    creationDate: Math.floor(millisecondsOf(record.creationDate) / 1000),
  };
}
