/** Lock files on disk: read whole, written whole or not at all. */

import * as fs from "node:fs";
import { dirname } from "node:path";
import { tryUtf8Text } from "../base/bytes.ts";
import { CodedError } from "../base/errors.ts";
import type { OwnFolders } from "../base/own_folders.ts";
import { localError } from "../base/local_errors.ts";
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

/** Writes a lock file, which may not lie in a folder of tarn's own; durable when it returns. */
export function writeLock(file: string, uris: readonly LockedUri[], own: OwnFolders): void {
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
