/** `rm`: stages the deletion of an object, or of everything in a folder. */

import { CodedError } from "../../base/errors.ts";
import type { ObjectStats } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { type PlannedAction, showPlan } from "../folders/dry_run.ts";
import { runInFlight } from "../../base/in_flight.ts";
import { objectsAt } from "../folders/objects_at.ts";
import { checkNotRecursive } from "../folders/recursive.ts";
import { branchOf, keyLocation, objectLocation, objectUri, type RefLocation } from "../locations.ts";
import { counted } from "../render/sizes.ts";
import { withWriter } from "../writing.ts";

export async function run(context: Context): Promise<number> {
  const catalog = await context.catalogs.serving(context.arguments.positionals[0]!);
  if (catalog) return await (await import("../catalog/rm.ts")).rm(context, catalog);
  if (context.arguments.flag("recursive")) return await removeFolder(context);
  checkNotRecursive(context.arguments);
  return await removeObject(context);
}

async function removeObject({ arguments: given, output, session }: Context): Promise<number> {
  const location = objectLocation(given.positionals[0]!, given.value("key"));
  const { repository, key } = location;
  const store = await session.store();
  const branch = await branchOf(store, location);
  await withWriter({ store, repository, branch }, async (writer) => {
    // The contract takes the deletion of a missing object for done; a person mistyped it.
    await store.stat(repository, branch, key);
    await writer.delete(key);
  });
  output.result({ path: key, removed: 1 }, `Removed ${objectUri(repository, branch, key)}`);
  return EXIT_OK;
}

async function removeFolder(context: Context): Promise<number> {
  const { arguments: given, messages, output, session } = context;
  const location = keyLocation(given.positionals[0]!, given.value("key"));
  const { repository, key } = location;
  const store = await session.store();
  const branch = await branchOf(store, location);
  if (given.flag("dry-run")) {
    const count = await showPlan(context, planned(objectsAt(store, { ...location, ref: branch })));
    if (count === 0) throw nothingThere(location);
    return EXIT_OK;
  }
  let removed = 0;
  await withWriter({ store, repository, branch }, async (writer) => {
    await runInFlight(flat(objectsAt(store, { ...location, ref: branch })), async ({ path }) => {
      await writer.delete(path);
      removed++;
      messages.progress(() => `Removing: ${counted(removed, "object")}`);
    });
  });
  if (removed === 0) throw nothingThere(location);
  output.result({ path: key ?? "", removed }, `Removed ${counted(removed, "object")}`);
  return EXIT_OK;
}

async function* flat<T>(pages: AsyncIterable<readonly T[]>): AsyncGenerator<T> {
  for await (const page of pages) yield* page;
}

function nothingThere({ text }: RefLocation): CodedError {
  return new CodedError("not_found", "object_not_found", `Cannot remove "${text}": nothing is there`);
}

async function* planned(
  objects: AsyncIterable<readonly ObjectStats[]>,
): AsyncGenerator<readonly PlannedAction[]> {
  for await (const page of objects) {
    yield page.map(({ path, sizeBytes }) => ({ action: "remove", path, sizeBytes }));
  }
}
