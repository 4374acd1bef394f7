/** `put`: a file, standard input or a folder onto a branch. */

import { checkObjectText, objectJson } from "../../drivers/store.ts";
import * as fs from "node:fs";
import { CodedError } from "../../base/errors.ts";
import type { PutObjectOptions } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK, EXIT_PARTIAL } from "../exit_codes.ts";
import { localError } from "../folders/local_files.ts";
import { ownLeftOut } from "../folders/own_left_out.ts";
import { showPut } from "../folders/dry_run.ts";
import { type FolderPut, putFolder } from "../folders/put_folder.ts";
import { putFile, putInput } from "../folders/put_file.ts";
import type { FolderToPut } from "../folders/put_plan.ts";
import { checkNotRecursive, folderPrefix } from "../folders/recursive.ts";
import { branchOf, keyLocation, type RefLocation } from "../locations.ts";
import { counted, grouped, humanSize } from "../render/sizes.ts";

export async function run(context: Context): Promise<number> {
  const { arguments: given, catalogs } = context;
  const path = givenPath(context);
  const catalog = await catalogs.serving(given.positionals[0]!);
  if (catalog) {
    if (given.flag("recursive")) checkFolder(path);
    return await (await import("../catalog/put.ts")).put(context, catalog, path);
  }
  const location = keyLocation(given.positionals[0]!, given.value("key"));
  const options = { contentType: given.value("content-type"), metadata: metadataOf(context) };
  checkObjectText(options);
  if (given.flag("recursive")) return await putAll(context, { location, path, options });
  checkNotRecursive(given);
  const { object, uri } = path === "-"
    ? await putInput(context, { location, options })
    : await putFile(context, { location, path, options, isExact: given.value("key") !== undefined });
  context.output.result(objectJson(object), context.output.shown(uri));
  return EXIT_OK;
}

/** PATH comes second; lakectl gives it by `-s`. */
function givenPath({ arguments: given, verb }: Context): string {
  const [, second] = given.positionals;
  const source = given.value("source");
  const path = second ?? source;
  if (path !== undefined && (second === undefined || source === undefined)) return path;
  const problem = path === undefined ? "an argument is missing" : "PATH is given twice";
  throw new CodedError(
    "invalid",
    "invalid_argument",
    `Cannot run "put": ${problem}; write tarn ${verb.usage[0]}`,
  );
}

function metadataOf({ arguments: given }: Context): Record<string, string> | undefined {
  const pairs = given.pairs("meta");
  return Object.keys(pairs).length > 0 ? pairs : undefined;
}

/** Puts a folder as the options of the command line say, and shows what was done. */
async function putAll(
  context: Context,
  { location, path, options }: { location: RefLocation; path: string; options: PutObjectOptions },
): Promise<number> {
  const what = await folderToPut(context, { location, path, options });
  if (context.arguments.flag("dry-run")) return await showPut(context, what);
  const done = await putFolder(context, what);
  context.output.result(jsonOf(done), putText("Put", done));
  return done.failed > 0 ? EXIT_PARTIAL : EXIT_OK;
}

/** Returns what `-r` puts, its options read from the command line. */
export async function folderToPut(
  { arguments: given, messages, session }: Context,
  { location, path, options, isMoved = false }: {
    location: RefLocation;
    path: string;
    options: PutObjectOptions;
    isMoved?: boolean;
  },
): Promise<FolderToPut> {
  checkFolder(path);
  const store = await session.store();
  const own = await session.ownFolders();
  // A copy of another home that is named is data like any other, as long as it stays where it is.
  (isMoved ? own : own.onlyNamed).refuse(path, isMoved ? "move" : "put");
  return {
    store,
    repository: location.repository,
    branch: await branchOf(store, location),
    prefix: folderPrefix(location.key),
    folder: path,
    options,
    walk: {
      exclude: given.values("exclude"),
      ignoreFiles: true,
      followSymlinks: given.flag("follow-symlinks"),
      leaveOut: ownLeftOut(own, messages),
    },
    reread: given.flag("reread"),
  };
}

/** Fails unless PATH is a folder. */
function checkFolder(path: string): void {
  if (path === "-") {
    throw new CodedError(
      "invalid",
      "invalid_argument",
      `Cannot put "-" with -r: standard input is no folder`,
    );
  }
  let stat: fs.Stats;
  try {
    stat = fs.statSync(path);
  } catch (error) {
    throw localError(error, `Cannot read "${path}"`);
  }
  if (!stat.isDirectory()) {
    throw new CodedError("invalid", "file_in_the_way", `Cannot put "${path}" with -r: it is no folder`, {
      details: { recursive: false },
    });
  }
}

function jsonOf(done: FolderPut): Record<string, unknown> {
  const { put, unchanged, ignored, failed, sizeBytes, failures } = done;
  return { put, unchanged, ignored, failed, size_bytes: sizeBytes, failures };
}

/** Returns "Put 3 files (1.2 kB), 2 unchanged, 1 ignored, 1 left out". */
export function putText(verb: string, { put, unchanged, ignored, failed, sizeBytes }: FolderPut): string {
  const parts = [`${verb} ${counted(put, "file")} (${humanSize(sizeBytes)})`];
  if (unchanged > 0) parts.push(`${grouped(unchanged)} unchanged`);
  if (ignored > 0) parts.push(`${grouped(ignored)} ignored`);
  if (failed > 0) parts.push(`${grouped(failed)} left out`);
  return parts.join(", ");
}
