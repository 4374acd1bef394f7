/**
 * Looking for the first bad commit among those made, along first parents, since a good one.
 *
 *     good   c1  c2  c3  c4  c5  c6  bad        c1 … bad: the candidates, oldest first
 *                     ^ tested: good, so it is one of c4 … bad; bad, so it is one of c1 … c3
 */

import { CodedError } from "../base/errors.ts";
import type { CommitInfo, Store } from "../drivers/store.ts";
import type { ParsedArguments } from "./arguments.ts";
import { otherRef, parseLocation, type RefLocation, refLocation, refOf } from "./locations.ts";

export type Verdict = "good" | "bad" | "skipped";

/** What to search: a repository and two refs in it. */
export interface Bounds {
  readonly repository: string;
  readonly good: RefLocation;
  readonly bad: RefLocation;
}

/** Reads the URI of a repository or of a ref, which then is the bad one, with `--good` and `--bad`. */
export function boundsOf(given: ParsedArguments): Bounds {
  const text = given.positionals[0]!;
  const { repository, ref, at } = parseLocation(text, "lakefs://REPO/REF");
  const isRepository = repository !== undefined && ref === undefined && !at;
  const location: RefLocation = isRepository ? { text, repository } : refLocation(text);
  const good = given.value("good"), bad = given.value("bad");
  if (good === undefined || (bad === undefined) === isRepository) {
    const problem = good === undefined
      ? "it needs a commit without the fault: add --good REF"
      : isRepository
      ? "it needs a commit with the fault: name it in the URI, or add --bad REF"
      : "the bad commit is named twice: by the URI and by --bad";
    throw new CodedError("invalid", "invalid_argument", `Cannot bisect "${text}": ${problem}`);
  }
  return {
    repository: location.repository,
    good: otherRef(good, location),
    bad: bad === undefined ? location : otherRef(bad, location),
  };
}

/** Returns the candidates, oldest first; the last one is the bad commit. Fails when the good one is not behind it. */
export async function candidatesOf(
  store: Store,
  { repository, good, bad }: Bounds,
): Promise<{ good: CommitInfo; candidates: readonly CommitInfo[] }> {
  const goodCommit = await store.getCommit(repository, await refOf(store, good));
  const badCommit = await store.getCommit(repository, await refOf(store, bad));
  const since = async (allParents: boolean) => {
    const commits: CommitInfo[] = [];
    for await (const page of store.log(repository, badCommit.id, { stopAt: goodCommit.id, allParents })) {
      commits.push(...page);
    }
    return commits;
  };
  const isGood = ({ id }: CommitInfo) => id === goodCommit.id;
  const line = await since(false);
  // A good commit on a merged branch is not on the line of first parents, but it is behind the bad one.
  const isBehind = line.some(isGood) || (await since(true)).some(isGood);
  if (!isBehind || goodCommit.id === badCommit.id) {
    const problem = isBehind
      ? "they are the same commit"
      : "the good commit is not in the history of the bad one";
    throw new CodedError(
      "invalid",
      "invalid_argument",
      `Cannot bisect between "${good.text}" and "${bad.text}": ${problem}`,
    );
  }
  return { good: goodCommit, candidates: line.filter((commit) => !isGood(commit)).reverse() };
}

export interface Found {
  /** The first bad commit; several when those between could not be tested. Oldest first. */
  readonly firstBad: readonly CommitInfo[];
}

/** Searches the candidates by testing as few as can be. */
export async function bisect(
  candidates: readonly CommitInfo[],
  test: (commit: CommitInfo, left: number) => Promise<Verdict>,
): Promise<Found> {
  // Candidates from `low` to `high` are in question; the one at `high` is known to be bad.
  let low = 0, high = candidates.length - 1;
  const skipped = new Set<number>();
  for (let at = nextOf(low, high, skipped); at !== undefined; at = nextOf(low, high, skipped)) {
    const verdict = await test(candidates[at]!, high - low + 1);
    if (verdict === "good") low = at + 1;
    else if (verdict === "bad") high = at;
    else skipped.add(at);
  }
  return { firstBad: candidates.slice(low, high + 1) };
}

/** Returns the untested candidate nearest to the middle, `undefined` when there is none between the bounds. */
function nextOf(low: number, high: number, skipped: ReadonlySet<number>): number | undefined {
  const middle = low + Math.floor((high - low - 1) / 2);
  for (let away = 0; away <= high - low; away++) {
    for (const at of [middle + away, middle - away]) {
      if (at >= low && at < high && !skipped.has(at)) return at;
    }
  }
  return undefined;
}
