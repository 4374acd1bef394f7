/** `log`: the commits of a ref, newest first. */

import { systemClock } from "../../base/clock.ts";
import { parseTime } from "../../base/time.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { refLocation, refOf } from "../locations.ts";
import { logForm } from "../render/commits.ts";

export async function run({ arguments: given, output, session }: Context): Promise<number> {
  const location = refLocation(given.positionals[0]!, { key: "allowed" });
  const since = given.value("since");
  const amount = given.count("amount");
  const options = {
    amount,
    allParents: given.flag("all-parents"),
    since: since === undefined ? undefined : parseTime(since, systemClock.now()) / 1000,
    paths: pathsOf(location.key),
  };
  const store = await session.store();
  const commits = store.log(location.repository, await refOf(store, location), options);
  await output.list(commits, logForm(output), { amount });
  return EXIT_OK;
}

/** A key without a slash at its end may be an object or a folder. */
function pathsOf(key: string | undefined): readonly string[] | undefined {
  if (key === undefined) return undefined;
  return key.endsWith("/") ? [key] : [key, `${key}/`];
}
