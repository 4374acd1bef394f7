/** Commit records in a repository's partition: `commits/<id>`. Written once, never changed. */

import { ByteLru } from "../../base/byte_lru.ts";
import { lossyText, utf8 } from "../../base/bytes.ts";
import type { Timestamp } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import type { KvEntry, KvStore } from "../../kv/store.ts";
import { commitId } from "./commit_id.ts";
import { type CommitRecord, decodeCommit, encodeCommit } from "./records.ts";

const PREFIX = "commits/";
const MAX_CANDIDATES = 10;
/** Room for about ten thousand commits of short messages. */
const CACHE_BYTES = 8 * 1024 * 1024;

export interface Commit extends CommitRecord {
  readonly id: string;
}

/** Dates beyond this, some hundred thousand years from now, order nothing. */
const LAST_DATE = 2 ** 52;

/**
 * Returns by what commits are walked from the newest to the oldest: the date of a commit to be made, in milliseconds, or, if one
 * of its parents has no lower one, the next number. So it is higher than that of any ancestor, whatever clocks have shown.
 *
 * `undefined` if a parent has none, for it was made before commits had one: a commit that has one has no ancestor without. Of the
 * date only whole seconds count, so that equal commits have an equal one.
 */
export function correctedDate({ seconds }: Timestamp, parents: readonly CommitRecord[]): number | undefined {
  let latest = 0;
  for (const parent of parents) {
    if (parent.correctedDate === undefined) return undefined;
    latest = Math.max(latest, parent.correctedDate);
  }
  return Math.max(latest + 1, Math.min(seconds * 1000, LAST_DATE));
}

/** Returns the commit that a record makes. */
export function commitOf(record: CommitRecord): Commit {
  return { id: commitId(record), ...record };
}

/** Returns a commit as it is stored in the repository's partition. */
export function entryOfCommit({ id, ...record }: Commit): KvEntry {
  return { key: utf8(PREFIX + id), value: encodeCommit(id, record) };
}

export class Commits {
  readonly #kv: KvStore;
  readonly #partition: Uint8Array;
  readonly #cache = new ByteLru<Commit>(CACHE_BYTES);

  constructor(kv: KvStore, partition: Uint8Array) {
    this.#kv = kv;
    this.#partition = partition;
  }

  /** Returns a commit by its full ID if it is in memory. */
  known(id: string): Commit | undefined {
    return this.#cache.get(id);
  }

  /** Returns a commit by its full ID, or `undefined`. */
  async find(id: string): Promise<Commit | undefined> {
    const known = this.#cache.get(id);
    if (known) return known;
    const found = await this.#kv.get(this.#partition, utf8(PREFIX + id));
    return found && this.#remember({ id, ...decodeCommit(found.value) }, found.value.length);
  }

  /** Returns a commit that something refers to. Fails with `missing_commit` (kind `corrupt`). */
  async get(id: string): Promise<Commit> {
    const commit = await this.find(id);
    if (commit) return commit;
    throw new CodedError("corrupt", "missing_commit", `Cannot read commit "${id}": its record is missing`, {
      details: { commit: id },
    });
  }

  /** Yields the IDs of all commits that were ever made. */
  async *ids(): AsyncGenerator<readonly string[]> {
    for await (const page of this.#kv.scan(this.#partition, { prefix: utf8(PREFIX) })) {
      yield page.map(({ key }) => lossyText(key).slice(PREFIX.length));
    }
  }

  /** Stores a commit; durable when it returns. Storing an equal one again changes nothing. */
  async put(record: CommitRecord): Promise<Commit> {
    const commit = commitOf(record);
    const { key, value } = entryOfCommit(commit);
    await this.#kv.set(this.#partition, key, value);
    return this.#remember(commit, value.length);
  }

  /** Returns the commit with a unique ID prefix, or `undefined` when there is none. Fails with `ambiguous_ref`. */
  async findByPrefix(prefix: string): Promise<Commit | undefined> {
    const ids: string[] = [];
    const scan = this.#kv.scan(this.#partition, {
      prefix: utf8(PREFIX + prefix),
      pageSize: MAX_CANDIDATES + 1,
    });
    for await (const page of scan) {
      for (const { key } of page) ids.push(lossyText(key).slice(PREFIX.length));
      if (ids.length > MAX_CANDIDATES) break;
    }
    if (ids.length <= 1) return ids.length === 1 ? await this.get(ids[0]!) : undefined;
    const shown = ids.slice(0, MAX_CANDIDATES).map((id) => id.slice(0, Math.max(12, prefix.length + 4)));
    throw new CodedError(
      "invalid",
      "ambiguous_ref",
      `Cannot resolve "${prefix}": it begins the IDs of several commits: ${shown.join(", ")}` +
        (ids.length > MAX_CANDIDATES ? ", …" : ""),
      { details: { ref: prefix, candidates: ids.slice(0, MAX_CANDIDATES) } },
    );
  }

  #remember(commit: Commit, bytes: number): Commit {
    this.#cache.set(commit.id, commit, bytes);
    return commit;
  }
}
