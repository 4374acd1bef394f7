/** `reset`: drops staged changes, or moves a branch to a commit. */

import { CodedError } from "../../base/errors.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { branchOf, keyLocation, otherRef, type RefLocation, refOf, refUri } from "../locations.ts";
import { commitJson } from "../render/commits.ts";

export async function run(context: Context): Promise<number> {
  const { arguments: given } = context;
  const prefix = given.value("prefix");
  const key = given.value("key") ?? given.value("object") ?? prefix;
  const location = keyLocation(given.positionals[0]!, key);
  const to = given.value("to");
  return to === undefined
    ? await dropStaged(context, { location, isPrefix: prefix !== undefined })
    : await moveBranch(context, { location, to });
}

async function dropStaged(
  { environment, messages, output, session }: Context,
  { location, isPrefix }: { location: RefLocation; isPrefix: boolean },
): Promise<number> {
  const { repository, key } = location;
  const store = await session.store();
  const branch = await branchOf(store, location);
  await store.getBranch(repository, branch);
  const what = key === undefined ? `branch "${branch}"` : `"${key}" on branch "${branch}"`;
  await messages.confirm(`drop the staged changes of ${what}`);
  const part = key === undefined ? {} : isPrefix || key.endsWith("/") ? { prefix: key } : { path: key };
  await store.reset(repository, branch, part, environment.who());
  output.result({ branch, ...part, reset: true }, `Dropped the staged changes of ${output.shown(what)}`);
  return EXIT_OK;
}

async function moveBranch(
  { environment, messages, output, session }: Context,
  { location, to }: { location: RefLocation; to: string },
): Promise<number> {
  if (location.key !== undefined) {
    throw new CodedError(
      "invalid",
      "invalid_argument",
      `Cannot use "--to ${to}" with "${location.text}": a branch moves as a whole`,
    );
  }
  const target = otherRef(to, location);
  const store = await session.store();
  const { repository } = location;
  const branch = await branchOf(store, location);
  await store.getBranch(repository, branch);
  const commitId = await store.resolve(repository, await refOf(store, target));
  await messages.confirm(
    `move branch "${branch}" to commit ${commitId.slice(0, 12)} and drop its staged changes`,
  );
  const commit = await store.hardReset(repository, branch, commitId, environment.who());
  output.result(commitJson(commit), refUri(repository, commit.id));
  return EXIT_OK;
}
