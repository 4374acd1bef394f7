/** Objects to other paths, branches or repositories. Inside one repository no bytes move; between two they are streamed. */

import { CodedError } from "../../base/errors.ts";
import type { BranchWriter, ObjectStats, Store } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { type PlannedAction, showPlan } from "../folders/dry_run.ts";
import { Failures } from "../folders/failures.ts";
import { runInFlight } from "../../base/in_flight.ts";
import { folderPrefix } from "../folders/recursive.ts";
import { branchOf, keyLocation, objectLocation, objectUri, type RefLocation, refOf } from "../locations.ts";
import { FileProgress } from "../render/progress.ts";
import { deleteMovedObjects, MovedSources } from "./moved_sources.ts";
import { sourceChanged, sourcePlace } from "./to_local.ts";
import { type BranchToWrite, withWriter } from "../writing.ts";
import { showMany, showObject, type Transfer, withFailures } from "./transfer.ts";

interface Side {
  readonly repository: string;
  readonly ref: string;
  /** A key, or with -r what all keys begin with. */
  readonly key: string;
}

interface Sides {
  readonly store: Store;
  readonly from: Side;
  /** Its ref is a branch. */
  readonly to: Side;
}

export async function copyBetween(context: Context, transfer: Transfer): Promise<number> {
  const { source, destination, isRecursive, kind } = transfer;
  const from = isRecursive ? keyLocation(source, undefined) : objectLocation(source, undefined);
  const to = keyLocation(destination, undefined);
  const store = await context.session.store();
  const ref = kind === "move" ? (await sourcePlace(context, from)).branch : await refOf(store, from);
  const places = {
    store,
    from: { repository: from.repository, ref, key: isRecursive ? folderPrefix(from.key) : from.key! },
    to: { repository: to.repository, ref: await branchOf(store, to), key: targetKey(from, to, isRecursive) },
  };
  await checkApart(places, transfer);
  return isRecursive ? await many(context, places, transfer) : await one(context, places, transfer);
}

/** A destination that ends in a slash takes an object under its own name. */
function targetKey(from: RefLocation, to: RefLocation, isRecursive: boolean): string {
  if (isRecursive) return folderPrefix(to.key);
  const key = to.key ?? "";
  if (key !== "" && !key.endsWith("/")) return key;
  return key + /[^/]*\/*$/.exec(from.key!)![0];
}

/** Refuses what would write over sources that are still to be read, or never end. */
async function checkApart({ store, from, to }: Sides, transfer: Transfer): Promise<void> {
  if (from.repository !== to.repository || from.ref.replace(/\$$/, "") !== to.ref) return;
  if (from.key === to.key) throw ontoItself(transfer, "they are the same");
  if (!transfer.isRecursive) return;
  if (to.key.startsWith(from.key)) throw ontoItself(transfer, "it would go into itself");
  if (!from.key.startsWith(to.key)) return;
  // A folder goes upward: what lies in it under the same names again would land among the sources.
  const prefix = from.key + from.key.slice(to.key.length);
  for await (const page of store.list(from.repository, from.ref, { prefix, amount: 1 })) {
    if (page.length > 0) throw ontoItself(transfer, `"${prefix}" in it would be written over`);
  }
}

function ontoItself({ kind, source, destination }: Transfer, why: string): CodedError {
  return new CodedError("invalid", "onto_itself", `Cannot ${kind} "${source}" to "${destination}": ${why}`);
}

export function nothingThere(kind: Transfer["kind"], source: string): CodedError {
  return new CodedError("not_found", "object_not_found", `Cannot ${kind} "${source}": nothing is there`);
}

async function one(context: Context, sides: Sides, { kind, source }: Transfer): Promise<number> {
  const { store, from, to } = sides;
  const { stats, copied } = await withWriter(target(sides), async (writer) => {
    const stats = await store.stat(from.repository, from.ref, from.key);
    return { stats, copied: await copyOne(writer, sides, { from: from.key, to: to.key }) };
  });
  if (kind === "move") {
    const failures = new Failures(context.messages, "remove");
    const place = { store, repository: from.repository, branch: from.ref, prefix: from.key };
    await deleteMovedObjects(place, [stats], failures);
    if (failures.count > 0) throw sourceChanged(source);
  }
  return showObject(context, copied, objectUri(to.repository, to.ref, to.key));
}

function target({ store, to }: Sides): BranchToWrite {
  return { store, repository: to.repository, branch: to.ref };
}

async function copyOne(
  writer: BranchWriter,
  { store, from, to }: Sides,
  keys: { from: string; to: string },
): Promise<ObjectStats> {
  if (from.repository === to.repository) {
    return await writer.copy(keys.to, { ref: from.ref, path: keys.from });
  }
  const { stats, body } = await store.read(from.repository, from.ref, keys.from);
  const { contentType, metadata } = stats;
  return await writer.put(keys.to, body, { contentType, metadata, isCarriedOver: true });
}

async function many(context: Context, sides: Sides, { kind, source }: Transfer): Promise<number> {
  const { messages } = context;
  const { store, from, to } = sides;
  if (context.arguments.flag("dry-run")) {
    if (await showPlan(context, planned(sides, kind)) === 0) throw nothingThere(kind, source);
    return EXIT_OK;
  }
  const failures = new Failures(messages, kind), removal = new Failures(messages, "remove");
  const progress = new FileProgress(messages, kind === "copy" ? "Copying" : "Moving");
  const place = { store, repository: from.repository, branch: from.ref, prefix: from.key };
  let count = 0, sizeBytes = 0;
  await withWriter(target(sides), async (writer) => {
    const sources = new MovedSources<ObjectStats>(
      () => writer.flush(),
      (moved) => deleteMovedObjects(place, moved, removal),
    );
    await runInFlight(objects(sides), async (stats) => {
      try {
        await copyOne(writer, sides, { from: stats.path, to: to.key + stats.path.slice(from.key.length) });
      } catch (error) {
        return failures.take(stats.path, error);
      }
      count++;
      sizeBytes += stats.sizeBytes;
      progress.addBytes(stats.sizeBytes);
      progress.addFile();
      if (kind === "move") await sources.add(stats);
    });
    if (count === 0 && failures.count === 0) throw nothingThere(kind, source);
    await sources.finish();
  });
  const done = withFailures(
    { count: count - removal.count, sizeBytes, failed: 0, failures: [] },
    failures,
    removal,
  );
  return showMany(context, kind, { ...done, noun: "object" });
}

async function* objects({ store, from }: Sides): AsyncGenerator<ObjectStats> {
  for await (const page of store.list(from.repository, from.ref, { prefix: from.key })) {
    for (const item of page) if (item.kind === "object") yield item.stats;
  }
}

async function* planned(
  { store, from, to }: Sides,
  action: Transfer["kind"],
): AsyncGenerator<readonly PlannedAction[]> {
  for await (const page of store.list(from.repository, from.ref, { prefix: from.key })) {
    yield page.flatMap((item): PlannedAction[] => {
      if (item.kind !== "object") return [];
      const { path, sizeBytes } = item.stats;
      const target = to.key + path.slice(from.key.length);
      return [{ action, path, to: objectUri(to.repository, to.ref, target), sizeBytes }];
    });
  }
}
