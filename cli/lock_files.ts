/** Lock files on disk: read whole, written whole or not at all. */

import * as fs from "node:fs";
import { dirname } from "node:path";
import { concatBytes, tryUtf8Text } from "../base/bytes.ts";
import { CodedError } from "../base/errors.ts";
import type { OwnFolders } from "../base/own_folders.ts";
import { localError } from "../base/local_errors.ts";
import { openProcessLock, type ProcessLock } from "../base/platform.ts";
import { formatLock, type LockedUri, parseLock } from "../catalog/lock_file.ts";
import { openNamed } from "./folders/local_files.ts";
import { flushFolder, temporaryBeside, throughSymlinks } from "./folders/target.ts";
import { addTemporaryFile, forgetTemporaryFile } from "./signals.ts";
import { readDescriptor } from "./streams.ts";

const MOST_BYTES = 256 * 1024 * 1024;

/** How long it is waited for who holds a folder. */
const MOST_WAIT_MS = 10_000;
const TRY_AGAIN_MS = 20;

/** Reads a lock file, or the FIFO that a shell makes of `<(…)`. Fails with `file_not_found`, `invalid_lock_file`. */
export async function readLock(file: string): Promise<readonly LockedUri[]> {
  const pieces: Uint8Array[] = [];
  try {
    const { descriptor, stat } = await openNamed(file);
    try {
      refuseLarge(file, stat.size);
      let length = 0;
      for await (const piece of readDescriptor(descriptor)) {
        refuseLarge(file, length += piece.length);
        pieces.push(piece);
      }
    } finally {
      fs.closeSync(descriptor);
    }
  } catch (error) {
    throw localError(error, `Cannot read "${file}"`);
  }
  return parsed(file, concatBytes(...pieces));
}

/** Reads a lock file that is to be written. Fails as {@link readLock} does, also for what is no file. */
export function readLockToWrite(file: string, { mayBeMissing = false } = {}): readonly LockedUri[] {
  if (mayBeMissing && !fs.existsSync(file)) return [];
  let bytes: Uint8Array;
  try {
    const stat = fs.statSync(file);
    // A FIFO may never end, and a device would be replaced.
    if (!stat.isFile() && !stat.isDirectory()) throw invalid(file, "it is a device, FIFO or socket");
    refuseLarge(file, stat.size);
    bytes = fs.readFileSync(file);
  } catch (error) {
    throw localError(error, `Cannot read "${file}"`);
  }
  return parsed(file, bytes);
}

function refuseLarge(file: string, sizeBytes: number): void {
  if (sizeBytes > MOST_BYTES) throw invalid(file, "it is larger than 256 MiB");
}

function parsed(file: string, bytes: Uint8Array): readonly LockedUri[] {
  const text = tryUtf8Text(bytes);
  if (text === undefined) throw invalid(file, "it is not UTF-8");
  return parseLock(text, file);
}

/**
 * Notes URIs in a lock file, in place of what it says of them, and keeps the others: those that are there by now, since another
 * command may have noted some meanwhile. Returns what it holds. Fails as {@link readLockToWrite} and {@link writeLock} do.
 */
export async function addToLock(
  file: string,
  uris: readonly LockedUri[],
  own: OwnFolders,
): Promise<readonly LockedUri[]> {
  return await holdingFolder(dirname(throughSymlinks(file)), () => {
    const others = readLockToWrite(file, { mayBeMissing: true }).filter(({ uri }) =>
      !uris.some((one) => one.uri === uri)
    );
    const all = [...others, ...uris];
    writeLock(file, all, own);
    return all;
  });
}

/**
 * Runs work while no other command changes a lock file in a folder, as far as its disk has locks. Who holds the folder for longer
 * may be who waits for us: without a lock there are but the few calls of the work in which another's note can be lost.
 */
async function holdingFolder<T>(folder: string, work: () => T): Promise<T> {
  const lock = await openProcessLock(folder, { readOnly: true }).catch(() => undefined);
  try {
    const until = performance.now() + MOST_WAIT_MS;
    while (lock && !isTaken(lock) && performance.now() < until) {
      await new Promise((resolve) => setTimeout(resolve, TRY_AGAIN_MS));
    }
    return work();
  } finally {
    lock?.close();
  }
}

function isTaken(lock: ProcessLock): boolean {
  try {
    return lock.tryLock();
  } catch {
    return true; // On a disk that has no locks there is nobody to wait for.
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
