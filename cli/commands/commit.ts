/** `commit`: the staged changes of a branch become its next commit. */

import { commitJson } from "../../drivers/store.ts";
import { systemClock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import { parseTime } from "../../base/time.ts";
import type { Store } from "../../drivers/store.ts";
import type { ParsedArguments } from "../arguments.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { branchOf, objectOrFolder, refLocation, refUri } from "../locations.ts";

export async function run(context: Context): Promise<number> {
  const { arguments: given, catalogs, environment, output, session } = context;
  const catalog = await catalogs.serving(given.positionals[0]!);
  if (catalog) return await (await import("../catalog/commit.ts")).commit(context, catalog);
  refusePartial(given);
  const location = refLocation(given.positionals[0]!);
  const options = {
    message: given.value("message") ?? "",
    committer: environment.who(),
    metadata: given.pairs("meta"),
    date: dateOf(given.value("date")),
    allowEmpty: given.flag("allow-empty"),
    allowEmptyMessage: given.flag("allow-empty-message"),
    ...(given.flag("path") ? { paths: given.values("path").flatMap(objectOrFolder) } : {}),
  };
  const store = await session.store();
  const branch = await branchOf(store, location);
  const paths = given.values("path");
  // Of one path alone the commit itself says that nothing has changed.
  if (paths.length > 1 && !options.allowEmpty) await checkEach(store, { ...location, branch }, paths);
  const commit = await store.commit(location.repository, branch, options);
  output.result(commitJson(commit), refUri(location.repository, commit.id));
  return EXIT_OK;
}

/** A URI of the embedded engine's names a branch, and nothing on it. */
function refusePartial(given: ParsedArguments): void {
  if (!given.flag("partial")) return;
  throw new CodedError(
    "invalid",
    "invalid_argument",
    'Cannot run "commit" with "--partial" here: name what it is to take with --path',
  );
}

/** A path that takes nothing was mistyped: what else was named is no whole commit then. Fails with `nothing_staged`. */
async function checkEach(
  store: Store,
  { repository, branch }: { repository: string; branch: string },
  paths: readonly string[],
): Promise<void> {
  const missing: string[] = [];
  for (const path of paths) {
    if (!(await isAnyStaged(store, { repository, branch }, objectOrFolder(path)))) missing.push(path);
  }
  if (missing.length === 0 || missing.length === paths.length) return;
  const names = missing.map((path) => `"${path}"`).join(", ");
  throw new CodedError("not_found", "nothing_staged", `Cannot commit ${names}: nothing is staged there`, {
    details: { branch, paths: missing },
  });
}

async function isAnyStaged(
  store: Store,
  { repository, branch }: { repository: string; branch: string },
  places: readonly string[],
): Promise<boolean> {
  for (const prefix of places) {
    for await (const [first] of store.status(repository, branch, { prefix, amount: 1 })) {
      if (first && (prefix.endsWith("/") || first.path === prefix)) return true;
      if (first) break;
    }
  }
  return false;
}

/** Returns a TIME in whole seconds since the epoch: a commit's ID is made from those. */
function dateOf(text: string | undefined): number | undefined {
  return text === undefined ? undefined : Math.floor(parseTime(text, systemClock.now()) / 1000);
}
