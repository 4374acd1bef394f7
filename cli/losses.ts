/** What a command is about to lose, in numbers, for the question that it asks first. */

import type { Store } from "../drivers/store.ts";
import { counted, grouped } from "./render/sizes.ts";

/** More are not counted: the answer would not be another one. */
const MOST_COUNTED = 10_000;

/** Which staged changes of a branch: all, those under a prefix, or those of a key: an object's, or else a folder's. */
export interface StagedPart {
  readonly repository: string;
  readonly branch: string;
  readonly key?: string;
  readonly isPrefix?: boolean;
}

/** Counts staged changes. */
export async function countStaged(store: Store, part: StagedPart): Promise<number> {
  const { repository, branch, key, isPrefix = false } = part;
  const under = (prefix?: string) =>
    countItems(store.status(repository, branch, prefix === undefined ? {} : { prefix }));
  if (key === undefined || isPrefix || key.endsWith("/")) return await under(key);
  for await (const [first] of store.status(repository, branch, { prefix: key, amount: 1 })) {
    if (first?.path === key) return 1;
  }
  return await under(`${key}/`);
}

/** Returns "3 staged changes", or "more than 10,000 staged changes". */
export function stagedText(count: number): string {
  return text(count, "staged change");
}

/** Returns what moving a branch to a commit takes away from it: "2 commits leave it but stay in the reflog; …". */
export async function lossOfMove(
  store: Store,
  { repository, branch, commitId }: { repository: string; branch: string; commitId: string },
): Promise<string> {
  const left = await countItems(
    store.log(repository, `${branch}@`, { stopAt: commitId }),
    ({ id }) => id !== commitId,
  );
  const staged = await countStaged(store, { repository, branch });
  const parts = [
    ...(left === 0 ? [] : [
      `${text(left, "commit")} ${left === 1 ? "leaves it but stays" : "leave it but stay"} in the reflog`,
    ]),
    ...(staged === 0 ? [] : [`${stagedText(staged)} ${staged === 1 ? "is" : "are"} lost`]),
  ];
  return parts.length === 0 ? "nothing is lost" : parts.join("; ");
}

async function countItems<T>(
  pages: AsyncIterable<readonly T[]>,
  isMeant: (item: T) => boolean = () => true,
): Promise<number> {
  let count = 0;
  for await (const page of pages) {
    for (const item of page) if (isMeant(item)) count++;
    if (count > MOST_COUNTED) break;
  }
  return count;
}

function text(count: number, what: string): string {
  return count > MOST_COUNTED ? `more than ${grouped(MOST_COUNTED)} ${what}s` : counted(count, what);
}
