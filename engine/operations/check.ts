/**
 * Looks whether all is there that the refs of a repository lead to: their commits, the metaranges and ranges of those, read whole
 * with every checksum, and the objects, by their sizes.
 *
 * It goes through everything by purpose. What commits share is looked at once, as far as memory for what was seen goes: only
 * so many are remembered, and others are looked at again.
 */

import { lossyText } from "../../base/bytes.ts";
import { CodedError, isCoded } from "../../base/errors.ts";
import type { CheckCounts, CheckOptions, Damage } from "../../drivers/checking.ts";
import { decodeRecord, NO_METARANGE, type ValueRecord } from "../committed/mod.ts";
import { addressKey, decodeEntry } from "../objects/mod.ts";
import { pointsAt, type RefRecord } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import { stagedRecords } from "../staging/mod.ts";
import { tokensOf } from "./view.ts";

/** So many commits, tables and objects each are remembered: some tens of megabytes. */
const MOST_SEEN = 300_000;
/** Looked at side by side. */
const OBJECTS_AT_ONCE = 64;

/** Yields what is not as it should be, each with a ref that leads to it; returns what was looked at. */
export async function* checkRepository(
  repository: Repository,
  options: CheckOptions = {},
): AsyncGenerator<Damage, CheckCounts> {
  const check = new Check(repository, options);
  for (const kind of ["branch", "tag"] as const) {
    for await (const page of repository.refs.list(kind)) {
      for (const ref of page) yield* check.ref(ref);
    }
  }
  if (options.allCommits) {
    for await (const ids of repository.commits.ids()) {
      for (const id of ids) yield* check.commit(id, id);
    }
  }
  return check.counts;
}

class Check {
  readonly counts = { refs: 0, commits: 0, tables: 0, objects: 0 };
  readonly #repository: Repository;
  readonly #options: CheckOptions;
  readonly #commits = new Seen();
  readonly #tables = new Seen();
  readonly #objects = new Seen();

  constructor(repository: Repository, options: CheckOptions) {
    this.#repository = repository;
    this.#options = options;
  }

  async *ref(ref: RefRecord): AsyncGenerator<Damage> {
    this.counts.refs++;
    yield* this.commit(pointsAt(ref), ref.name);
    if (!ref.branch) return;
    for await (const block of stagedRecords(this.#repository.kv, tokensOf(ref.branch))) {
      yield* this.#objectsOf(block.flatMap(({ record }) => record ? [record] : []), ref.name);
    }
  }

  async *commit(id: string, ref: string): AsyncGenerator<Damage> {
    if (!this.#commits.add(id)) return;
    this.counts.commits++;
    let metaRangeId: string;
    try {
      ({ metaRangeId } = await this.#repository.commits.get(id));
    } catch (error) {
      return yield { what: "commit", ref, error: ours(error) };
    }
    if (metaRangeId !== NO_METARANGE && this.#tables.add(metaRangeId)) {
      yield* this.#metarange(metaRangeId, ref);
    }
  }

  async *#metarange(id: string, ref: string): AsyncGenerator<Damage> {
    const metarange = this.#repository.metarange(id);
    this.counts.tables++;
    try {
      await (await this.#repository.files.open(id)).verify();
      await metarange.ranges();
    } catch (error) {
      return yield { what: "table", ref, error: ours(error) };
    }
    for (const range of await metarange.ranges()) {
      if (!this.#tables.add(range.id)) continue;
      this.counts.tables++;
      try {
        const table = await metarange.table(range);
        await table.verify();
        for await (const block of table.blocks()) {
          const records = block.map(({ key, value }) => decodeRecord(key, value, range.id));
          yield* this.#objectsOf(records, ref);
        }
      } catch (error) {
        yield { what: "table", ref, error: ours(error) };
      }
    }
  }

  async *#objectsOf(records: readonly ValueRecord[], ref: string): AsyncGenerator<Damage> {
    for (let at = 0; at < records.length; at += OBJECTS_AT_ONCE) {
      const some = records.slice(at, at + OBJECTS_AT_ONCE);
      const errors = await Promise.all(some.map((record) => this.#problemOf(record)));
      for (const [i, error] of errors.entries()) {
        if (error) yield { what: "object", ref, path: lossyText(some[i]!.key), error };
      }
    }
    this.#options.onProgress?.(this.counts);
  }

  /** Returns what is wrong with the object of a record, if anything is. */
  async #problemOf({ key, data }: ValueRecord): Promise<CodedError | undefined> {
    try {
      const { objects } = this.#repository;
      const entry = decodeEntry(data);
      const address = addressKey(objects, entry);
      if (!this.#objects.add(address)) return undefined;
      this.counts.objects++;
      const found = await objects.head(address);
      if (found?.sizeBytes === entry.sizeBytes) return undefined;
      const path = lossyText(key);
      const why = found
        ? `it has ${found.sizeBytes} bytes instead of ${entry.sizeBytes}`
        : "the file is missing in the storage namespace";
      return new CodedError(
        "corrupt",
        "checksum_mismatch",
        `Cannot read object "${path}" ("${address}"): ${why}`,
        {
          details: { path, address },
        },
      );
    } catch (error) {
      return ours(error);
    }
  }
}

/** What was seen of late. */
class Seen {
  readonly #ids = new Set<string>();

  /** Returns whether it is new. */
  add(id: string): boolean {
    if (this.#ids.has(id)) return false;
    if (this.#ids.size >= MOST_SEEN) this.#ids.clear();
    this.#ids.add(id);
    return true;
  }
}

/** Returns an error that is about what was looked at; any other is thrown. */
function ours(error: unknown): CodedError {
  if (isCoded(error) && error.kind !== "internal" && error.kind !== "canceled") return error;
  throw error;
}
