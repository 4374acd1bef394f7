/** `get`: an object into a file, or all objects under a URI into a folder. */

import * as fs from "node:fs";
import { basename, dirname, join } from "node:path";
import { CodedError } from "../../base/errors.ts";
import type { ObjectStats } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK, EXIT_PARTIAL } from "../exit_codes.ts";
import { type FolderGot, type FolderToGet, getFolder } from "../folders/get_folder.ts";
import { localError } from "../folders/local_files.ts";
import { PlacementCheck } from "../../base/placement.ts";
import { folderPrefix } from "../folders/recursive.ts";
import { flushFolder, makeFolderOf, throughSymlinks, writeFile, writeInPlace } from "../folders/target.ts";
import { keyLocation, type ObjectLocation, objectLocation, type RefLocation, refOf } from "../locations.ts";
import { FileProgress } from "../render/progress.ts";
import { counted, grouped, humanSize } from "../render/sizes.ts";

export async function run(context: Context): Promise<number> {
  const { arguments: given } = context;
  const [uri, path = "."] = given.positionals;
  const key = given.value("key");
  if (given.flag("recursive")) return await getAll(context, path);
  const location = objectLocation(uri!, key);
  return path === "-" ? await getToOutput(context, location) : await getToFile(context, { location, path });
}

/** Writes an object's bytes to standard output. */
export async function getToOutput({ output, session }: Context, location: ObjectLocation): Promise<number> {
  const store = await session.store();
  const { body } = await store.read(location.repository, await refOf(store, location), location.key);
  for await (const piece of body) await output.bytes(piece);
  return EXIT_OK;
}

async function getToFile(
  context: Context,
  what: { location: ObjectLocation; path: string },
): Promise<number> {
  const { stats, path } = await getFile(context, what);
  const { output } = context;
  output.result(
    { path: stats.path, file: path, size_bytes: stats.sizeBytes },
    `${output.shown(path)} (${humanSize(stats.sizeBytes)})`,
  );
  return EXIT_OK;
}

export interface FileGot {
  readonly stats: ObjectStats;
  /** Where it was written, as it was named. */
  readonly path: string;
}

/** Gets one object into a file, or into a folder under its own name; durable when it returns. */
export async function getFile(
  { messages, session }: Context,
  { location, path }: { location: ObjectLocation; path: string },
): Promise<FileGot> {
  const store = await session.store();
  // What ends in a slash may be a folder, of which no name can be made.
  if (location.key.endsWith("/")) {
    await store.stat(location.repository, await refOf(store, location), location.key);
  }
  const target = targetOf(path, location.key);
  if (!target.isSpecial) (await session.ownFolders()).refuse(target.path, "write", target.shown);
  const { stats, body } = await store.read(location.repository, await refOf(store, location), location.key);
  const progress = new FileProgress(messages, "Getting", { files: 1, bytes: stats.sizeBytes });
  const watched = progress.watch(body);
  if (target.isSpecial) await writeInPlace(target.path, watched);
  else {
    makeFolderOf(target.path);
    await writeFile(target.path, watched, { flush: true });
    flushFolder(dirname(target.path));
  }
  return { stats, path: target.shown };
}

interface Target {
  readonly path: string;
  /** The path in the user's words: symlinks are not followed. */
  readonly shown: string;
  /** A FIFO or a device: it is written to, never replaced. */
  readonly isSpecial: boolean;
}

/** A folder, there or to be made, takes the object under its own name; a symlink stands for what it points at. */
function targetOf(path: string, key: string): Target {
  const stat = look(path);
  if (stat?.isDirectory() || (!stat && /[\\/]$/.test(path))) {
    const name = basename(key);
    const why = key.endsWith("/") ? "its key ends with a slash" : new PlacementCheck().refusal(name);
    if (why !== undefined) throw unplaceable(key, why);
    const inside = join(path, name);
    return { path: inside, shown: inside, isSpecial: false };
  }
  if (!stat) return { path: throughSymlinks(path), shown: path, isSpecial: false };
  if (!stat.isFile()) return { path, shown: path, isSpecial: true };
  return { path: fs.realpathSync.native(path), shown: path, isSpecial: false };
}

function look(path: string): fs.Stats | undefined {
  try {
    return fs.statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw localError(error, `Cannot write "${path}"`);
  }
}

function unplaceable(key: string, why: string): CodedError {
  return new CodedError("invalid", "unplaceable_key", `Cannot place "${key}" in a folder: ${why}`, {
    details: { single: true },
  });
}

async function getAll(context: Context, path: string): Promise<number> {
  const { arguments: given, output } = context;
  const location = keyLocation(given.positionals[0]!, given.value("key"));
  const got = await getFolder(context, await folderToGet(context, { location, path }));
  output.result(jsonOf(got), textOf(got));
  return got.failed > 0 ? EXIT_PARTIAL : EXIT_OK;
}

/** Returns what `-r` gets, its options read from the command line. */
export async function folderToGet(
  { arguments: given, session }: Context,
  { location, path }: { location: RefLocation; path: string },
): Promise<FolderToGet> {
  if (path === "-") {
    throw new CodedError(
      "invalid",
      "invalid_argument",
      'Cannot get to "-" with -r: standard output is no folder',
    );
  }
  const store = await session.store();
  return {
    store,
    repository: location.repository,
    ref: await refOf(store, location),
    prefix: folderPrefix(location.key),
    folder: path,
    skipUnplaceable: given.flag("skip-unplaceable"),
    own: await session.ownFolders(),
    uri: location.text,
  };
}

function jsonOf({ got, unchanged, failed, sizeBytes, failures }: FolderGot): Record<string, unknown> {
  return { got, unchanged, failed, size_bytes: sizeBytes, failures };
}

function textOf({ got, unchanged, failed, sizeBytes }: FolderGot): string {
  const parts = [`Got ${counted(got, "file")} (${humanSize(sizeBytes)})`];
  if (unchanged > 0) parts.push(`${grouped(unchanged)} unchanged`);
  if (failed > 0) parts.push(`${grouped(failed)} left out`);
  return parts.join(", ");
}
