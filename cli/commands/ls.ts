/** `ls`: repositories, the refs of one, or objects; what the URI names decides. */

import { compareBytes, utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import type { ListItem, ObjectStats, Store } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { orNotFound } from "../folders/objects_at.ts";
import { keyLocation, parseLocation, type RefLocation, refOf } from "../locations.ts";
import { listingForm } from "../render/objects.ts";
import { type KindOfRef, mixedRefsForm, repositoriesForm } from "../render/refs.ts";

export async function run(context: Context): Promise<number> {
  const { arguments: given, catalogs, output, session } = context;
  const text = given.positionals[0] ?? "lakefs://";
  const catalog = given.positionals.length === 0 ? undefined : await catalogs.serving(text);
  if (catalog) return await (await import("../catalog/ls.ts")).ls(context, catalog);
  const location = parseLocation(text);
  const amount = given.count("amount");
  const store = await session.store();
  if (location.repository === undefined) {
    await output.list(
      store.listRepositories({ after: given.value("after") }),
      repositoriesForm(output),
      { amount },
    );
  } else if (location.ref === undefined && !location.at && given.value("key") === undefined) {
    await output.list(refsOf(store, location.repository), mixedRefsForm(output), { amount });
  } else {
    const at = keyLocation(text, given.value("key"));
    const objects = objectsAt(context, store, at);
    await output.list(mayBeEmpty(context, at) ? objects : orNotFound(objects, at), listingForm(output), {
      amount,
    });
  }
  return EXIT_OK;
}

/** An empty version lists nothing, and so may what is left after a mark. lakectl's scripts take silence for an answer. */
function mayBeEmpty({ arguments: given, words }: Context, { key }: RefLocation): boolean {
  return key === undefined || given.value("after") !== undefined || words === "fs ls";
}

/** All branches, then all tags. */
async function* refsOf(store: Store, repository: string): AsyncGenerator<readonly KindOfRef[]> {
  for await (const page of store.listBranches(repository)) {
    yield page.map((ref) => ({ ...ref, kind: "branch" as const }));
  }
  for await (const page of store.listTags(repository)) {
    yield page.map((ref) => ({ ...ref, kind: "tag" as const }));
  }
}

/** What stands at a key: the object of that name, then what is in the folder of that name. */
async function* objectsAt(
  { arguments: given }: Context,
  store: Store,
  location: RefLocation,
): AsyncGenerator<readonly ListItem[]> {
  const { repository, key } = location;
  const ref = await refOf(store, location);
  const delimiter = given.value("delimiter") ?? (given.flag("recursive") ? undefined : "/");
  const options = { delimiter, after: given.value("after"), amount: given.count("amount") };
  const asPrefix = key === undefined || key.endsWith("/") || (delimiter !== undefined && delimiter !== "/");
  if (asPrefix) {
    yield* store.list(repository, ref, { ...options, prefix: key });
    return;
  }
  const object = isAfter(key, options.after)
    ? await statOrUndefined(store, { repository, ref, key })
    : undefined;
  if (object) yield [{ kind: "object", stats: object }];
  yield* store.list(repository, ref, { ...options, prefix: `${key}/` });
}

function isAfter(key: string, mark: string | undefined): boolean {
  return mark === undefined || compareBytes(utf8(key), utf8(mark)) > 0;
}

async function statOrUndefined(
  store: Store,
  { repository, ref, key }: { repository: string; ref: string; key: string },
): Promise<ObjectStats | undefined> {
  try {
    return await store.stat(repository, ref, key);
  } catch (error) {
    if (isCoded(error, "object_not_found")) return undefined;
    throw error;
  }
}
