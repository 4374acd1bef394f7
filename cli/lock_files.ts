/** Lock files on disk: read whole, written whole or not at all. */

import * as fs from "node:fs";
import { dirname } from "node:path";
import { tryUtf8Text } from "../base/bytes.ts";
import { CodedError } from "../base/errors.ts";
import type { OwnFolders } from "../base/own_folders.ts";
import { localError } from "../base/local_errors.ts";
import { openProcessLock } from "../base/platform.ts";
import { formatLock, type LockedUri, parseLock } from "../catalog/lock_file.ts";
import { flushFolder, temporaryBeside, throughSymlinks } from "./folders/target.ts";
import { addTemporaryFile, forgetTemporaryFile } from "./signals.ts";

const MOST_BYTES = 256 * 1024 * 1024;

/** Reads a lock file. Fails with `file_not_found`, `invalid_lock_file`. */
export function readLock(file: string, { mayBeMissing = false } = {}): readonly LockedUri[] {
  if (mayBeMissing && !fs.existsSync(file)) return [];
  let bytes: Uint8Array;
  try {
    if (fs.statSync(file).size > MOST_BYTES) throw invalid(file, "it is larger than 256 MiB");
    bytes = fs.readFileSync(file);
  } catch (error) {
    throw localError(error, `Cannot read "${file}"`);
  }
  const text = tryUtf8Text(bytes);
  if (text === undefined) throw invalid(file, "it is not UTF-8");
  return parseLock(text, file);
}

/**
 * Notes URIs in a lock file, in place of what it says of them, and keeps the others: those that are there by now, since another
 * command may have noted some meanwhile. Returns what it holds. Fails as {@link readLock} and {@link writeLock} do.
 */
export async function addToLock(
  file: string,
  uris: readonly LockedUri[],
  own: OwnFolders,
): Promise<readonly LockedUri[]> {
  return await holdingFolder(dirname(throughSymlinks(file)), () => {
    const others = readLock(file, { mayBeMissing: true }).filter(({ uri }) =>
      !uris.some((one) => one.uri === uri)
    );
    const all = [...others, ...uris];
    writeLock(file, all, own);
    return all;
  });
}

/** Runs work while no other command changes a lock file in a folder, as far as its disk has locks. */
async function holdingFolder<T>(folder: string, work: () => T): Promise<T> {
  const lock = await openProcessLock(folder, { readOnly: true }).catch(() => undefined);
  try {
    try {
      lock?.lock();
    } catch {
      // Without a lock there are but these few calls in which another's note can be lost.
    }
    return work();
  } finally {
    lock?.close();
  }
}

/** Writes a lock file, which may not lie in a folder of tarn's own; durable when it returns. */
function writeLock(file: string, uris: readonly LockedUri[], own: OwnFolders): void {
  const text = formatLock(uris);
  const path = throughSymlinks(file);
  own.refuse(path, "write");
  const temporary = temporaryBeside(path);
  addTemporaryFile(temporary);
  try {
    const before = fs.statSync(path, { throwIfNoEntry: false });
    const mode = before ? { mode: before.mode & 0o7777 } : {};
    fs.writeFileSync(temporary, text, { flag: "wx", flush: true, ...mode });
    fs.renameSync(temporary, path);
    flushFolder(dirname(path));
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    throw localError(error, `Cannot write "${file}"`);
  } finally {
    forgetTemporaryFile(temporary);
  }
}

function invalid(file: string, why: string): CodedError {
  return new CodedError("invalid", "invalid_lock_file", `Cannot use the lock file "${file}": ${why}`, {
    details: { file },
  });
}
