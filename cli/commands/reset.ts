/** `reset`: drops staged changes, or moves a branch to a commit. */

import { commitJson } from "../../drivers/store.ts";
import { CodedError } from "../../base/errors.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { branchOf, keyLocation, otherRef, type RefLocation, refOf, refUri } from "../locations.ts";
import { countStaged, lossOfMove, stagedText } from "../losses.ts";
import { counted } from "../render/sizes.ts";

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
  { arguments: given, environment, messages, output, session }: Context,
  { location, isPrefix }: { location: RefLocation; isPrefix: boolean },
): Promise<number> {
  const { repository, key } = location;
  const store = await session.store();
  const branch = await branchOf(store, location);
  await store.getBranch(repository, branch);
  const what = key === undefined ? `branch "${branch}"` : `"${key}" on branch "${branch}"`;
  const isSure = given.flag("yes");
  const staged = isSure ? undefined : await countStaged(store, { repository, branch, key, isPrefix });
  if (staged) await messages.confirm(`drop ${stagedText(staged)} of ${what}`);
  const who = environment.who();
  const reset = (part: { prefix?: string; path?: string }) => store.reset(repository, branch, part, who);
  // What comes after it was found that there is nothing has not been asked about.
  const dropped = staged === 0
    ? 0
    : key === undefined
    ? await reset({})
    : isPrefix || key.endsWith("/")
    ? await reset({ prefix: key })
    // A name without a slash is an object's, or a folder's.
    : await reset({ path: key }) || await reset({ prefix: `${key}/` });
  if (dropped === 0 && key !== undefined) {
    throw new CodedError("not_found", "nothing_staged", `Cannot reset ${what}: nothing is staged there`);
  }
  output.result(
    { branch, ...(key === undefined ? {} : { path: key }), dropped },
    `Dropped ${counted(dropped, "staged change")} of ${output.shown(what)}`,
  );
  return EXIT_OK;
}

async function moveBranch(
  { arguments: given, environment, messages, output, session }: Context,
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
  if (!given.flag("yes")) {
    const loss = await lossOfMove(store, { repository, branch, commitId });
    await messages.confirm(`move branch "${branch}" to commit ${commitId.slice(0, 12)} (${loss})`);
  }
  const commit = await store.hardReset(repository, branch, commitId, environment.who());
  output.result(commitJson(commit), refUri(repository, commit.id));
  return EXIT_OK;
}
