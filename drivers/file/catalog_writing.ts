/** Writing files of the catalog's file store: by way of a temporary file in the same folder, durable when it returns. */

import * as fs from "node:fs";
import { mkdir } from "node:fs/promises";
import { dirname, join } from "node:path";
import { hex } from "../../base/bytes.ts";
import { systemRandomness } from "../../base/randomness.ts";
import type { Uri } from "../../base/uri.ts";
import { abortable } from "../byte_streams.ts";
import type { PutSource } from "../catalog_store.ts";
import { sourceBytes } from "../put_source.ts";
import { inTheWay } from "./catalog_failures.ts";
import { errnoOf } from "./failures.ts";
import { unlinkQuietly, writeAll } from "./file_calls.ts";
import { systemSync } from "./syncing.ts";

/** Makes folders, and those entries durable that lead to them. */
export async function makeFolders(uri: Uri, folder: string): Promise<void> {
  let first: string | undefined;
  try {
    first = await mkdir(folder, { recursive: true });
  } catch (error) {
    const errno = errnoOf(error);
    if (errno !== "EEXIST" && errno !== "ENOTDIR") throw error;
    throw inTheWay(uri, "file_in_the_way", "a file is where it needs a folder", error);
  }
  if (first === undefined) return;
  for (let at = dirname(folder); at.length >= dirname(first).length; at = dirname(at)) {
    await systemSync.folder(at);
    if (at === dirname(at)) return;
  }
}

/** Writes one file whole or not at all; it keeps the mode of the file that it replaces. */
export async function writeFile(
  uri: Uri,
  path: string,
  { source, signal }: { source: PutSource; signal?: AbortSignal },
): Promise<void> {
  const before = fs.lstatSync(path, { throwIfNoEntry: false });
  if (before?.isDirectory()) throw inTheWay(uri, "folder_in_the_way", "a folder has its name");
  const temporary = join(dirname(path), `.tarn-${hex(systemRandomness.bytes(8))}.tmp`);
  let fd: number | undefined = fs.openSync(temporary, "wx");
  try {
    for await (const piece of abortable(sourceBytes(source), signal)) await writeAll(fd, piece);
    if (before?.isFile()) fs.fchmodSync(fd, before.mode & 0o7777);
    fs.closeSync(fd);
    fd = undefined;
    await systemSync.file(temporary);
    fs.renameSync(temporary, path);
  } catch (error) {
    if (fd !== undefined) fs.closeSync(fd);
    unlinkQuietly(temporary);
    throw error;
  }
  await systemSync.folder(dirname(path));
}
