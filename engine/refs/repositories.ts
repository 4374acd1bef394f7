/**
 * Repository records: `repos/<name>` in the partition `tarn`, written last on creation and first marked on deletion.
 *
 * What belongs to a repository lies in a partition named by its name and instance, so a repository that was half made, or
 * deleted, shows nowhere and leaves its name free. A deleted one is remembered under `deleted/<instance>` for GC.
 */

import { equalBytes, utf8 } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import type { KvStore, KvValue } from "../../kv/store.ts";
import { decodeRepository, encodeRepository, type RepositoryRecord } from "./records.ts";

const PARTITION = utf8("tarn");
const PREFIX = "repos/";
const DELETED_PREFIX = "deleted/";
const MAX_REMEMBERED = 64;

/** Returns the partition of what belongs to a repository. */
export function repositoryPartition(record: RepositoryRecord): string {
  return `${record.id}-${record.instanceUid}`;
}

export class Repositories {
  readonly #kv: KvStore;
  /** What was made of a record the last time, by name: each call asks for the same few. */
  readonly #lastRead = new Map<string, { readonly value: Uint8Array; readonly record: RepositoryRecord }>();

  constructor(kv: KvStore) {
    this.#kv = kv;
  }

  /** Returns a live repository. Fails with `repository_not_found`. */
  async get(name: string): Promise<RepositoryRecord> {
    const found = await this.#seen(name);
    if (found && !found.record.isDeleted) return found.record;
    throw notFound(name);
  }

  /** Yields live repositories in name order, those whose name is after `after`. */
  async *list(
    options: { prefix?: string; after?: string } = {},
  ): AsyncGenerator<readonly RepositoryRecord[]> {
    const start = options.after === undefined ? undefined : utf8(`${PREFIX}${options.after}\0`);
    const prefix = utf8(PREFIX + (options.prefix ?? ""));
    for await (const page of this.#kv.scan(PARTITION, { prefix, ...(start ? { start } : {}) })) {
      yield page.map(({ value }) => decodeRepository(value)).filter((record) => !record.isDeleted);
    }
  }

  /** Refuses a name that is taken. Fails with `repository_exists`. */
  async checkFree(name: string): Promise<void> {
    const found = await this.#seen(name);
    if (found && !found.record.isDeleted) throw exists(name);
  }

  /** Fails with `repository_not_found` unless this very instance is still there. */
  async checkLive(record: RepositoryRecord): Promise<void> {
    const found = await this.#seen(record.id);
    const isLive = found && !found.record.isDeleted && found.record.instanceUid === record.instanceUid;
    if (!isLive) throw notFound(record.id);
  }

  /** Makes the repository visible: the last step of its creation. Fails with `repository_exists`. */
  async publish(record: RepositoryRecord): Promise<void> {
    const found = await this.#seen(record.id);
    if (found && !found.record.isDeleted) throw exists(record.id);
    try {
      await this.#kv.setIf(PARTITION, utf8(PREFIX + record.id), encodeRepository(record), found?.predicate);
    } catch (error) {
      if (error instanceof CodedError && error.code === "predicate_failed") throw exists(record.id);
      throw error;
    }
  }

  /**
   * Marks a repository as deleted: it is gone and its name free at once. With an instance only that one. Fails with
   * `repository_not_found`.
   */
  async remove(name: string, instanceUid?: string): Promise<void> {
    const found = await this.#seen(name);
    const isIt = found && (instanceUid ?? found.record.instanceUid) === found.record.instanceUid;
    if (!isIt || found.record.isDeleted) throw notFound(name);
    const marked = encodeRepository({ ...found.record, isDeleted: true });
    await this.#kv.set(PARTITION, utf8(DELETED_PREFIX + found.record.instanceUid), marked);
    try {
      await this.#kv.setIf(PARTITION, utf8(PREFIX + name), marked, found.predicate);
    } catch (error) {
      // Somebody else deleted it, and may have made a new one since: that one is not ours to delete.
      if (error instanceof CodedError && error.code === "predicate_failed") throw notFound(name);
      throw error;
    }
  }

  /** Takes a removal back. Fails with `repository_exists` when the name has been taken meanwhile. */
  async putBack(record: RepositoryRecord): Promise<void> {
    await this.publish(record);
    await this.#kv.delete(PARTITION, utf8(DELETED_PREFIX + record.instanceUid));
  }

  async #seen(
    name: string,
  ): Promise<{ record: RepositoryRecord; predicate: KvValue["predicate"] } | undefined> {
    const found = await this.#kv.get(PARTITION, utf8(PREFIX + name));
    if (!found) return undefined;
    const { predicate, value } = found;
    const last = this.#lastRead.get(name);
    if (last && equalBytes(last.value, value)) return { record: last.record, predicate };
    const record = decodeRepository(value);
    if (this.#lastRead.size >= MAX_REMEMBERED) this.#lastRead.clear();
    this.#lastRead.set(name, { value, record });
    return { record, predicate };
  }
}

function notFound(name: string): CodedError {
  return new CodedError(
    "not_found",
    "repository_not_found",
    `Cannot find repository "${name}": there is none of that name`,
    {
      details: { repository: name },
    },
  );
}

function exists(name: string): CodedError {
  return new CodedError("exists", "repository_exists", `Cannot create repository "${name}": it exists`, {
    details: { repository: name },
  });
}
