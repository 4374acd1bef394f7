/**
 * Puts LMDB's native part where the system can load it.
 *
 * A native part has to be a file. The executable carries its bytes, and here they are written to a folder that is ours
 * alone, held to the hash of the embedded bytes at every start (a file that somebody else may have put there is never loaded), and
 * loaded once per process. Bun's own way is not used: it trusts a name in the shared temporary folder, and fails where that
 * folder cannot be written or executed from.
 *
 * Folders are tried in order: those that the caller names, where the file stays for the next start; then a fresh
 * folder inside a temporary one, removed again once the file is loaded. A folder that is read-only, on a file system
 * without execution, or not ours alone is passed over.
 */

import {
  closeSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { hex } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { type FolderWithin, makeFolderWithin } from "../../base/folders.ts";
import { runningHash } from "../../base/hashes.ts";
import { type EmbeddedNative, embeddedNative } from "./embedded.ts";

export interface NativeFolders {
  /** Private folders in which the file may stay, best first; made if missing. */
  readonly lasting?: readonly (string | FolderWithin)[];
  /** Folders in which a private one may be made; by default those that the system always has. */
  readonly temporary?: readonly string[];
}

const PIECE_BYTES = 64 * 1024;
const SYSTEM_TEMPORARY = ["/tmp", "/var/tmp", "/dev/shm"];

/** What is to be loaded, and how; tests bring their own. */
export interface NativeSource {
  readonly name: string;
  /** Of what {@link read} returns, in lower-case hex: so that this need not be read where it is on disk already. */
  readonly sha256: string;
  read(): Uint8Array;
  load(path: string): unknown;
}

let loaded: unknown;

/** Loads the embedded native part if there is one and it is not loaded yet. Fails with `native_unavailable`. */
export function prepareNative(folders: NativeFolders = {}): void {
  if (!embeddedNative || loaded !== undefined) return;
  const { path, name, sha256 } = embeddedNative as EmbeddedNative;
  loaded = placeAndLoad({ name, sha256, read: () => readFileSync(path), load: loadAddon }, folders);
}

/** Returns the loaded native part. The build makes lmdb-js ask for it here. */
export function loadedNative(): unknown {
  return loaded;
}

/** Writes and loads a native part in the first folder that allows it. Fails with `native_unavailable`. */
export function placeAndLoad(source: NativeSource, folders: NativeFolders): unknown {
  const failures: unknown[] = [];
  const attempts = [
    ...(folders.lasting ?? []).map((place) => () => loadFromLasting(source, place)),
    ...(folders.temporary ?? SYSTEM_TEMPORARY).map((folder) => () => loadFromTemporary(source, folder)),
  ];
  for (const attempt of attempts) {
    try {
      return attempt();
    } catch (error) {
      failures.push(error);
    }
  }
  const last = failures.at(-1);
  throw new CodedError(
    "unavailable",
    "native_unavailable",
    "Cannot load the database library: no folder was found to which it may be written and from which it may be " +
      "loaded (tried the home's, the user's cache folder and the temporary folders); the last attempt ended with: " +
      (last instanceof Error ? last.message : String(last)),
    { cause: last },
  );
}

function loadFromLasting(source: NativeSource, place: string | FolderWithin): unknown {
  const folder = typeof place === "string" ? place : place.folder;
  if (typeof place === "string") mkdirSync(folder, { recursive: true, mode: 0o700 });
  else makeFolderWithin(place);
  requirePrivate(folder);
  const path = join(folder, source.name);
  if (!holds(path, source.sha256)) replaceFile(path, source.read());
  return source.load(path);
}

function loadFromTemporary(source: NativeSource, folder: string): unknown {
  const fresh = mkdtempSync(join(folder, "tarn-"));
  try {
    requirePrivate(fresh);
    const path = join(fresh, source.name);
    writeNew(path, source.read());
    return source.load(path);
  } finally {
    removeQuietly(fresh);
  }
}

/** Throws unless nobody but this user (and the system's own) can change what is in the folder. */
function requirePrivate(folder: string): void {
  const stat = lstatSync(folder);
  if (!stat.isDirectory()) throw new Error("not a folder");
  if (process.platform === "win32") return;
  if (stat.uid !== process.getuid?.()) throw new Error("the folder is another user's");
  if ((stat.mode & 0o022) !== 0) throw new Error("others may write to the folder");
}

function holds(path: string, sha256: string): boolean {
  try {
    return lstatSync(path).isFile() && hashOf(path) === sha256;
  } catch {
    return false;
  }
}

/** Reads a piece at a time: memory for all of it would be memory that the process has not used before. */
function hashOf(path: string): string {
  const file = openSync(path, "r");
  try {
    const hash = runningHash("sha256"), piece = new Uint8Array(PIECE_BYTES);
    for (let at = 0, bytes: number; (bytes = readSync(file, piece, 0, piece.length, at)) > 0; at += bytes) {
      hash.update(piece.subarray(0, bytes));
    }
    return hex(hash.digest());
  } finally {
    closeSync(file);
  }
}

/** Puts a file in place whole: other processes may be reading, or writing the same, at this moment. */
function replaceFile(path: string, content: Uint8Array): void {
  const unfinished = `${path}.${process.pid}.${process.hrtime.bigint().toString(36)}`;
  try {
    writeNew(unfinished, content);
    renameSync(unfinished, path);
  } catch (error) {
    removeQuietly(unfinished);
    throw error;
  }
}

function writeNew(path: string, content: Uint8Array): void {
  const file = openSync(path, "wx", 0o600);
  try {
    writeFileSync(file, content);
  } finally {
    closeSync(file);
  }
}

/** A file left behind does no harm; on Windows one that is loaded cannot be removed. */
function removeQuietly(path: string): void {
  try {
    rmSync(path, { recursive: true, force: true });
  } catch {
    // Nothing depends on it.
  }
}

function loadAddon(path: string): unknown {
  const module = { exports: {} as unknown };
  process.dlopen(module, path);
  return module.exports;
}
