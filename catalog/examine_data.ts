/** What is to be said of the data of a home's repositories: whether all is there that their refs lead to, and sound. */

import { isCoded } from "../base/errors.ts";
import type { CheckCounts, Damage } from "../drivers/checking.ts";
import type { Store } from "../drivers/store.ts";
import type { Finding } from "./examine.ts";

export interface DataOptions {
  readonly allCommits?: boolean;
  readonly onProgress?: (repository: string, counts: CheckCounts) => void;
}

const MOST_NAMED = 3;
const MOST_KEPT = 100;

/** Yields one finding of each repository that is damaged, and one of what was looked at. */
export async function* dataFindings(
  store: Store,
  repositories: readonly string[],
  options: DataOptions,
): AsyncGenerator<Finding> {
  const total = { refs: 0, commits: 0, tables: 0, objects: 0 };
  let damaged = 0;
  for (const repository of repositories) {
    const found = new FoundDamage(repository);
    const counts = await found.gather(store, options);
    for (const name of Object.keys(total) as (keyof CheckCounts)[]) total[name] += counts[name];
    const finding = found.finding(counts);
    if (!finding) continue;
    damaged++;
    yield finding;
  }
  if (damaged > 0 || repositories.length === 0) return;
  const whose = options.allCommits ? "of all commits" : "of branches' and tags' heads, and of what is staged";
  yield {
    name: "data",
    state: "ok",
    text: `${whose}, all there: ${countsText(total)}`,
    details: { ...total, all_commits: options.allCommits === true },
  };
}

class FoundDamage {
  readonly #repository: string;
  readonly #kept: Damage[] = [];
  readonly #counts = { record: 0, commit: 0, table: 0, object: 0 };

  constructor(repository: string) {
    this.#repository = repository;
  }

  async gather(store: Store, { allCommits = false, onProgress }: DataOptions): Promise<CheckCounts> {
    let counts: CheckCounts = { refs: 0, commits: 0, tables: 0, objects: 0 };
    const check = store.check!(this.#repository, {
      allCommits,
      onProgress: (now) => {
        counts = now;
        onProgress?.(this.#repository, now);
      },
    });
    try {
      while (true) {
        const { done, value } = await check.next();
        if (done) return value;
        this.#add(value);
      }
    } catch (error) {
      // A record that cannot be read ends the check of its repository, not that of the others.
      if (!isCoded(error)) throw error;
      this.#add({ what: "record", error });
      return counts;
    }
  }

  #add(damage: Damage): void {
    this.#counts[damage.what]++;
    if (this.#kept.length < MOST_KEPT) this.#kept.push(damage);
  }

  finding(counts: CheckCounts): Finding | undefined {
    const { record, commit, table, object } = this.#counts;
    const all = record + commit + table + object;
    if (all === 0) return undefined;
    const parts = [
      ...(record > 0 ? [counted(record, "record")] : []),
      ...(commit > 0 ? [`${commit} of ${counted(counts.commits, "commit")}`] : []),
      ...(table > 0 ? [`${table} of ${counted(counts.tables, "range and metarange file")}`] : []),
      ...(object > 0 ? [`${object} of ${counted(counts.objects, "object")}`] : []),
    ];
    const named = this.#kept.slice(0, MOST_NAMED).map(({ ref, error }) =>
      ref === undefined ? error.message : `on "${ref}": ${error.message}`
    );
    const more = all - named.length;
    return {
      name: "data",
      state: "problem",
      text: `of "${this.#repository}", missing, damaged or forbidden: ${parts.join(", ")}; ${
        named.join("; ")
      }${more > 0 ? `; and ${more} more` : ""}`,
      details: {
        repository: this.#repository,
        ...counts,
        damaged_records: record,
        damaged_commits: commit,
        damaged_tables: table,
        damaged_objects: object,
        damage: this.#kept.map(({ what, ref, path, error }) => ({
          what,
          ...(ref === undefined ? {} : { ref }),
          ...(path === undefined ? {} : { path }),
          code: error.code,
          message: error.message,
        })),
      },
    };
  }
}

function countsText({ refs, commits, tables, objects }: CheckCounts): string {
  return [
    counted(refs, "ref"),
    counted(commits, "commit"),
    counted(tables, "range and metarange file"),
    counted(objects, "object"),
  ].join(", ");
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}
