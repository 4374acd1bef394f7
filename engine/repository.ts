/** An open repository: its record and the parts of it that operations work on. */

import { utf8 } from "../base/bytes.ts";
import type { DiskCache } from "../cache/mod.ts";
import type { Clock } from "../base/clock.ts";
import type { Randomness } from "../base/randomness.ts";
import type { ObjectStore } from "../drivers/object_store.ts";
import type { KvStore } from "../kv/store.ts";
import { type ApplyOptions, Metarange, SharedTableCaches, TableFiles } from "./committed/mod.ts";
import {
  CheckedFiles,
  entryWeight,
  flushNamed,
  LateFlush,
  newId,
  ReadyAddresses,
  sameContent,
} from "./objects/mod.ts";
import { Commits, Refs, Repositories, repositoryPartition, type RepositoryRecord } from "./refs/mod.ts";

/** What the engine stands on. Time and chance come in here and nowhere else. */
export interface EngineContext {
  readonly kv: KvStore;
  /** Opens the object store of a storage namespace. */
  readonly openObjects: (storageNamespace: string) => Promise<ObjectStore>;
  /** The one form of a storage namespace that stands for all its spellings. Fails with `invalid_storage_namespace`. */
  readonly canonicalNamespace: (storageNamespace: string) => string;
  /** The storage namespace of a repository that was created without naming one. */
  readonly defaultNamespace: (repository: string, instanceUid: string) => string;
  /** What decoded blocks may take in memory, those of all repositories together. */
  readonly cacheBytes?: number;
  /** Shared by repositories that are opened with it; the store makes them. */
  readonly tableCaches?: SharedTableCaches;
  /** Opens the cache of a repository's instance on local disk. */
  readonly openCache?: (instanceUid: string) => DiskCache;
  readonly clock: Clock;
  readonly randomness: Randomness;
}

const MAX_OPEN_METARANGES = 32;

export class Repository {
  readonly record: RepositoryRecord;
  readonly partition: Uint8Array;
  readonly kv: KvStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  readonly objects: ObjectStore;
  /** What stands before the address of an object in its physical address. */
  readonly addressBase: string;
  readonly files: TableFiles;
  readonly commits: Commits;
  readonly refs: Refs;
  readonly lateFlush: LateFlush;
  readonly addresses: ReadyAddresses;
  readonly checkedFiles: CheckedFiles;
  readonly #repositories: Repositories;
  readonly #metaranges = new Map<string, Metarange>();

  constructor(context: EngineContext, record: RepositoryRecord, objects: ObjectStore) {
    this.record = record;
    this.partition = utf8(repositoryPartition(record));
    this.kv = context.kv;
    this.clock = context.clock;
    this.randomness = context.randomness;
    this.objects = objects;
    this.addressBase = objects.locate("data").slice(0, -"data".length);
    const disk = context.openCache?.(this.record.instanceUid);
    this.files = new TableFiles(objects, {
      caches: (context.tableCaches ?? new SharedTableCaches(context.cacheBytes)).of(this.record.instanceUid),
      ...(disk && objects.isFar ? { tables: disk } : {}),
      vouch: (range) => flushNamed(objects, range),
      sides: { chunking: record.chunking, weigh: entryWeight, ...(disk ? { disk } : {}) },
    });
    this.#repositories = new Repositories(context.kv);
    this.commits = new Commits(context.kv, this.partition);
    this.refs = new Refs(context.kv, this.partition, context);
    this.checkedFiles = new CheckedFiles(objects);
    this.addresses = new ReadyAddresses(this);
    this.lateFlush = new LateFlush(objects, context.clock);
  }

  get name(): string {
    return this.record.id;
  }

  /** Returns a metarange by its ID; read lazily, kept open. */
  metarange(id: string): Metarange {
    const known = this.#metaranges.get(id);
    if (known) return known;
    if (this.#metaranges.size >= MAX_OPEN_METARANGES) {
      this.#metaranges.delete(this.#metaranges.keys().next().value!);
    }
    const metarange = new Metarange(this.files, id);
    this.#metaranges.set(id, metarange);
    return metarange;
  }

  /** How changes are applied to metaranges of this repository. */
  get applyOptions(): ApplyOptions {
    return { chunking: this.record.chunking, weigh: entryWeight, same: sameContent };
  }

  /** Fails when the repository was deleted meanwhile: nothing may be acknowledged into what nobody can read any more. */
  async checkLive(): Promise<void> {
    await this.#repositories.checkLive(this.record);
  }

  /** Returns a fresh staging token: the name of a KV partition that nobody has used. */
  newToken(): string {
    return newToken(this.record, this);
  }
}

/** Returns a fresh staging token for a repository. */
export function newToken(
  record: RepositoryRecord,
  seams: { readonly clock: Clock; readonly randomness: Randomness },
): string {
  return `${repositoryPartition(record)}/${newId(seams.clock, seams.randomness)}`;
}
