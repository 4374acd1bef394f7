/** `fetch`: what a URI stands for, on this machine; or exactly what a lock file says. */

import * as fs from "node:fs";
import { basename, join } from "node:path";
import { CodedError } from "../../base/errors.ts";
import type { OwnFolders } from "../../base/own_folders.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import { isFolder } from "../../catalog/hashing.ts";
import { filesIn } from "../../catalog/local_folder.ts";
import { fetchLocked } from "../../catalog/locked.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { readLock } from "../lock_files.ts";
import { TargetFolder } from "../folders/target.ts";
import { FileProgress } from "../render/progress.ts";

export async function run(context: Context): Promise<number> {
  const { arguments: given, catalogs } = context;
  const locked = given.value("locked");
  const [uri, folder] = given.positionals;
  if ((uri === undefined) === (locked === undefined)) {
    throw new CodedError(
      "invalid",
      "invalid_argument",
      `Cannot run "fetch": it takes a URI or "--locked FILE"; write tarn fetch URI [DIR] | tarn fetch --locked FILE`,
    );
  }
  const catalog = await catalogs.open();
  if (locked !== undefined) return await fetchLock(context, catalog, locked);
  const path = folder === undefined
    ? await catalog.fetch(uri!)
    : await fetchInto(context, catalog, { uri: uri!, folder });
  context.output.result({ uri, path }, context.output.shown(path));
  return EXIT_OK;
}

interface FetchedUri {
  readonly uri: string;
  readonly pinned: string;
  readonly path: string;
}

/** Fetches all that is locked before it says where any of it is. */
async function fetchLock({ messages, output }: Context, catalog: Catalog, file: string): Promise<number> {
  const fetched: FetchedUri[] = [];
  for (const locked of await readLock(file)) {
    const { uri, pinned } = locked;
    messages.progress(() => `Fetching: ${uri}`);
    fetched.push({ uri, pinned, path: await fetchLocked(catalog, locked) });
  }
  await output.list(onePage(fetched), {
    json: (item) => item,
    line: ({ uri, path }) => `${output.shown(uri)}\t${output.shown(path)}`,
  });
  return EXIT_OK;
}

async function* onePage<T>(items: readonly T[]): AsyncGenerator<readonly T[]> {
  yield items;
}

/** Places a copy in a folder; returns its path: of a folder the folder's, of a file its own in it. */
async function fetchInto(
  { messages, session }: Context,
  catalog: Catalog,
  { uri, folder }: { uri: string; folder: string },
): Promise<string> {
  const own = await session.ownFolders();
  own.refuse(folder, "write into");
  const target = await catalog.calls.target(uri);
  return await catalog.fetchAnd(target, async (path) => {
    const isWhole = isFolder(path);
    if (isWhole) refuseOwnBelow(own, { from: path, to: folder });
    const into = new TargetFolder(folder, own);
    const progress = new FileProgress(messages, "Placing");
    const place = async (from: string, key: string) => {
      progress.addBytes(await into.copy(key, from));
      progress.addFile();
    };
    if (isWhole) { for (const { path: from, key } of filesIn(path, "place")()) await place(from, key); }
    else await place(path, basename(path));
    await into.flush();
    return isWhole ? folder : `${folder.replace(/(?<=.)\/+$/, "")}/${basename(path)}`;
  });
}

/** Fails with `own_storage`, before anything is written, if a folder would be placed over one of tarn's own. */
function refuseOwnBelow(own: OwnFolders, { from, to }: { from: string; to: string }): void {
  if (!fs.existsSync(to)) return;
  own.refuse(to, "write into");
  for (const entry of fs.readdirSync(from, { withFileTypes: true })) {
    if (entry.isDirectory()) refuseOwnBelow(own, { from: join(from, entry.name), to: join(to, entry.name) });
  }
}
