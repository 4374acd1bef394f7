/**
 * Snapshots: a read-only copy of what a name stood for, in a folder of its own, which no later fetch rewrites.
 *
 * It is made beside its place and comes there by a rename, whole. `.tarn-snapshot.lock` in it is a lock file of what it holds:
 * the URI, the version it was pinned to, and each file's SHA-256, of the bytes of the copy.
 */

import * as fs from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import process from "node:process";
import { hex } from "../base/bytes.ts";
import { CodedError } from "../base/errors.ts";
import { inOrder } from "../base/in_flight.ts";
import { localError } from "../base/local_errors.ts";
import { systemRandomness } from "../base/randomness.ts";
import { systemFlush } from "../cache/mod.ts";
import type { PlaceSnapshot } from "./calls.ts";
import { hashFile, isFolder } from "./hashing.ts";
import { filesIn, type LocalFile } from "./local_folder.ts";
import { fileLine, type LockedFile, lockHead } from "./lock_file.ts";
import type { Target } from "./targets.ts";

export const MANIFEST = ".tarn-snapshot.lock";

/** Places a snapshot. Fails with `folder_in_the_way` when something is there, `unplaceable_key` for its own manifest's name. */
export const placeSnapshot: PlaceSnapshot = async ({ path, target }, folder) => {
  const place = resolve(folder);
  checkFree(place, folder);
  const unfinished = join(dirname(place), `.${basename(place)}.tarn-${hex(systemRandomness.bytes(8))}.tmp`);
  const remove = () => fs.rmSync(unfinished, { recursive: true, force: true });
  // An interrupt ends us without coming back here.
  process.on("exit", remove);
  try {
    fs.mkdirSync(dirname(place), { recursive: true });
    fs.mkdirSync(unfinished, { mode: 0o700 });
    await fill(unfinished, { path, target });
    await flush(unfinished);
    fs.renameSync(unfinished, place);
    // A folder that may not be written cannot be moved on every system.
    fs.chmodSync(place, 0o555);
    await systemFlush.files(dirname(place), [place]);
  } catch (error) {
    remove();
    throw localError(error, `Cannot place a snapshot in "${folder}"`);
  } finally {
    process.off("exit", remove);
  }
};

function checkFree(place: string, shown: string): void {
  const stat = fs.lstatSync(place, { throwIfNoEntry: false });
  if (!stat || (stat.isDirectory() && fs.readdirSync(place).length === 0)) return;
  throw new CodedError(
    "invalid",
    "folder_in_the_way",
    `Cannot place a snapshot in "${shown}": it is there already`,
    { details: { folder: shown } },
  );
}

async function fill(root: string, { path, target }: { path: string; target: Target }): Promise<void> {
  const isWhole = isFolder(path);
  const files = isWhole ? filesIn(path, "copy")() : [{ path, key: basename(path) }];
  const folders = new Set<string>([root]);
  const manifest = fs.openSync(join(root, MANIFEST), "wx", 0o444);
  try {
    fs.writeSync(manifest, lockHead(target.asked, target.physical));
    for await (const file of inOrder(checked(files), (file) => copy(file, root, folders))) {
      fs.writeSync(manifest, fileLine(isWhole ? file : { ...file, path: "" }));
    }
  } finally {
    fs.closeSync(manifest);
  }
  folders.delete(root);
  for (const folder of [...folders].reverse()) fs.chmodSync(folder, 0o555);
}

function* checked(files: Iterable<LocalFile>): Generator<LocalFile> {
  for (const file of files) {
    if (file.key === MANIFEST) {
      throw new CodedError(
        "invalid",
        "unplaceable_key",
        `Cannot copy "${file.path}": a snapshot keeps its manifest under that name`,
      );
    }
    yield file;
  }
}

/** Copies one file, its blocks shared where the disk can do that, and hashes the copy. */
async function copy({ path, key }: LocalFile, root: string, folders: Set<string>): Promise<LockedFile> {
  const to = join(root, ...key.split("/"));
  for (let at = dirname(to); !folders.has(at); at = dirname(at)) folders.add(at);
  fs.mkdirSync(dirname(to), { recursive: true });
  await fs.promises.copyFile(path, to, fs.constants.COPYFILE_FICLONE | fs.constants.COPYFILE_EXCL);
  const hashed = await hashFile(to);
  fs.chmodSync(to, fs.statSync(to).mode & 0o555);
  return { path: key, ...hashed };
}

/** Makes all of it durable: the whole disk at once, or file by file where that cannot be asked for. */
async function flush(root: string): Promise<void> {
  if (await systemFlush.disk(root)) return;
  const paths = fs.readdirSync(root, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile()
  );
  await systemFlush.files(root, paths.map(({ parentPath, name }) => join(parentPath, name)));
}
