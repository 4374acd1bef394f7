/** `rm`: stages the deletion of an object, or of everything in a folder. */

import { CodedError } from "../../base/errors.ts";
import type { BranchWriter, Store } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { runInFlight } from "../folders/in_flight.ts";
import { branchOf, keyLocation, objectLocation, objectUri, type RefLocation } from "../locations.ts";
import { counted } from "../render/sizes.ts";

export async function run(context: Context): Promise<number> {
  return context.arguments.flag("recursive") ? await removeFolder(context) : await removeObject(context);
}

async function removeObject({ arguments: given, output, session }: Context): Promise<number> {
  const location = objectLocation(given.positionals[0]!, given.value("key"));
  const { repository, key } = location;
  const store = await session.store();
  const branch = await branchOf(store, location);
  await withWriter(store, { repository, branch }, async (writer) => {
    // The contract takes the deletion of a missing object for done; a person mistyped it.
    await store.stat(repository, branch, key);
    await writer.delete(key);
  });
  output.result({ path: key, removed: 1 }, `Removed ${objectUri(repository, branch, key)}`);
  return EXIT_OK;
}

async function removeFolder({ arguments: given, messages, output, session }: Context): Promise<number> {
  const location = keyLocation(given.positionals[0]!, given.value("key"));
  const { repository, key } = location;
  const store = await session.store();
  const branch = await branchOf(store, location);
  let removed = 0;
  await withWriter(store, { repository, branch }, async (writer) => {
    await runInFlight(keysAt(store, { ...location, ref: branch }), async (path) => {
      await writer.delete(path);
      removed++;
      messages.progress(() => `Removing: ${counted(removed, "object")}`);
    });
  });
  if (removed === 0) {
    throw new CodedError(
      "not_found",
      "object_not_found",
      `Cannot remove "${location.text}": nothing is there`,
    );
  }
  output.result({ path: key ?? "", removed }, `Removed ${counted(removed, "object")}`);
  return EXIT_OK;
}

/** The keys of the object of that name and of what is in the folder of that name. */
async function* keysAt(store: Store, { repository, ref, key }: RefLocation): AsyncGenerator<string> {
  const isFolder = key === undefined || key.endsWith("/");
  if (!isFolder) {
    for await (const page of store.list(repository, ref!, { prefix: key, amount: 1 })) {
      for (const item of page) if (item.kind === "object" && item.stats.path === key) yield key;
    }
  }
  for await (const page of store.list(repository, ref!, { prefix: isFolder ? key : `${key}/` })) {
    for (const item of page) if (item.kind === "object") yield item.stats.path;
  }
}

async function withWriter(
  store: Store,
  { repository, branch }: { repository: string; branch: string },
  work: (writer: BranchWriter) => Promise<void>,
): Promise<void> {
  const writer = await store.writer(repository, branch);
  await work(writer);
  await writer.close();
}
