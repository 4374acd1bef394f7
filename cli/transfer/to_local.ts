/** Objects into local files: `get`, and for a move the objects are deleted after it. */

import * as fs from "node:fs";
import { join } from "node:path";
import { CodedError } from "../../base/errors.ts";
import type { ObjectStats, Store } from "../../drivers/store.ts";
import { folderToGet, getFile, getToOutput } from "../commands/get.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { type PlannedAction, showPlan } from "../folders/dry_run.ts";
import { Failures } from "../folders/failures.ts";
import { type FolderToGet, getFolder } from "../folders/get_folder.ts";
import { branchOf, keyLocation, objectLocation, type RefLocation } from "../locations.ts";
import { nothingThere } from "./between.ts";
import { type BranchPlace, deleteMovedObjects, MovedSources } from "./moved_sources.ts";
import { showMany, showObject, type Transfer, withFailures } from "./transfer.ts";

export async function copyToLocal(context: Context, transfer: Transfer): Promise<number> {
  return transfer.isRecursive ? await folder(context, transfer) : await oneObject(context, transfer);
}

async function oneObject(context: Context, { kind, source, destination }: Transfer): Promise<number> {
  const location = objectLocation(source, undefined);
  if (kind === "copy" && destination === "-") return await getToOutput(context, location);
  const place = kind === "move" ? await sourcePlace(context, location) : undefined;
  if (place) refuseStream(destination);
  const { stats, path } = await getFile(context, { location, path: destination });
  if (place) {
    const failures = new Failures(context.messages, "remove");
    await deleteMovedObjects({ ...place, prefix: stats.path }, [stats], failures);
    if (failures.count > 0) throw sourceChanged(source);
  }
  return showObject(context, stats, path);
}

/** What goes to a stream is nowhere durable afterwards. */
function refuseStream(destination: string): void {
  if (destination !== "-" && !isSpecial(destination)) return;
  const what = destination === "-" ? "standard output" : "a device, FIFO or socket";
  throw new CodedError("invalid", "unmovable_source", `Cannot move to "${destination}": it is ${what}`);
}

function isSpecial(path: string): boolean {
  try {
    const stat = fs.statSync(path, { throwIfNoEntry: false });
    return stat !== undefined && !stat.isFile() && !stat.isDirectory();
  } catch {
    return false; // What is wrong with it shows when it is written.
  }
}

export function sourceChanged(source: string): CodedError {
  return new CodedError(
    "conflict",
    "source_changed",
    `Cannot remove "${source}": it changed while it was moved`,
  );
}

/** Returns where the sources of a move are deleted. Fails with `not_a_branch` where nothing can be. */
export async function sourcePlace(
  { session }: Context,
  location: RefLocation,
): Promise<Omit<BranchPlace, "prefix">> {
  const store = await session.store();
  const branch = await branchOf(store, location);
  await checkBranch(store, location.repository, branch);
  return { store, repository: location.repository, branch };
}

async function checkBranch(store: Store, repository: string, branch: string): Promise<void> {
  await (await store.writer(repository, branch)).close();
}

async function folder(context: Context, { kind, source, destination }: Transfer): Promise<number> {
  const location = keyLocation(source, undefined);
  const what = await folderToGet(context, { location, path: destination });
  const place = kind === "move" ? await sourcePlace(context, location) : undefined;
  if (context.arguments.flag("dry-run")) {
    const count = await showPlan(context, plannedGet(what, kind));
    if (count === 0) throw nothingThere(kind, source);
    return EXIT_OK;
  }
  if (!place) {
    const { got, ...done } = await getFolder(context, what);
    return showMany(context, kind, { ...done, count: got, noun: "object" });
  }
  const failures = new Failures(context.messages, "remove");
  let flush = async () => {}, sizeBytes = 0;
  const sources = new MovedSources<ObjectStats>(
    () => flush(),
    (moved) => deleteMovedObjects({ ...place, prefix: what.prefix }, moved, failures),
  );
  const { got, ...done } = await getFolder(context, what, (stats, target) => {
    flush = () => target.flush();
    sizeBytes += stats.sizeBytes;
    return sources.add(stats);
  });
  await sources.finish();
  // What a move left as it is in the folder is moved like any other.
  const { unchanged, ...rest } = done;
  const count = got + unchanged - failures.count;
  return showMany(context, kind, {
    ...withFailures({ ...rest, count, sizeBytes }, failures),
    noun: "object",
  });
}

async function* plannedGet(
  { store, repository, ref, prefix, folder }: FolderToGet,
  kind: Transfer["kind"],
): AsyncGenerator<readonly PlannedAction[]> {
  for await (const page of store.list(repository, ref, { prefix })) {
    yield page.flatMap((item): PlannedAction[] => {
      if (item.kind !== "object") return [];
      const { path, sizeBytes } = item.stats;
      const to = join(folder, path.slice(prefix.length));
      return [{ action: kind === "copy" ? "get" : kind, path, to, sizeBytes }];
    });
  }
}
