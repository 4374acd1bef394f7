/**
 * A local folder that files are fetched into: by temporary name and rename, never through a symlink that leads out.
 */

import * as fs from "node:fs";
import { dirname, join, relative, resolve, sep } from "node:path";
import process from "node:process";
import { hex } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { OwnFolders, ownStorage, realPath } from "../../base/own_folders.ts";
import { syncFileSystem } from "../../base/platform.ts";
import { systemRandomness } from "../../base/randomness.ts";
import { addTemporaryFile, forgetTemporaryFile } from "../signals.ts";
import { writeSome } from "../streams.ts";
import type { ObjectStats } from "../../drivers/store.ts";
import { localError } from "./local_files.ts";
import { isSameFile } from "./same_file.ts";

/** Up to this many files are flushed one by one, overlapped; above, the whole disk once. */
const MOST_FLUSHED_SINGLY = 300;

/** Writes one file: readers see the old one or the new one whole. It keeps the mode of the file that it replaces. */
export function writeFile(
  path: string,
  body: AsyncIterable<Uint8Array>,
  options: { flush: boolean },
): Promise<number> {
  return replaceFile(path, async (file) => {
    file.descriptor = attempt(path, () => fs.openSync(file.temporary, "wx"));
    return await writeBody(path, file.descriptor, body);
  }, options);
}

/** Writes one file as {@link writeFile} does, with another one's bytes; on a disk that can do that, they share their blocks. */
export function copyFile(path: string, from: string, options: { flush: boolean }): Promise<number> {
  const { COPYFILE_FICLONE, COPYFILE_EXCL } = fs.constants;
  return replaceFile(path, (file) =>
    attemptAsync(path, async () => {
      await fs.promises.copyFile(from, file.temporary, COPYFILE_FICLONE | COPYFILE_EXCL);
      file.descriptor = fs.openSync(file.temporary, "r");
      // The copy came with the mode of what it was made of.
      fs.fchmodSync(file.descriptor, 0o666 & ~process.umask());
      return fs.fstatSync(file.descriptor).size;
    }), options);
}

/** Returns a name in the folder of a path. That is not normalized: a symlink may stand before a `..` in it. */
export function temporaryBeside(path: string): string {
  return `${dirname(path)}${sep}.tarn-${hex(systemRandomness.bytes(8))}.tmp`;
}

/** A new file beside the one that it is to replace; the descriptor is there while it is open. */
interface NewFile {
  readonly temporary: string;
  descriptor?: number;
}

async function replaceFile(
  path: string,
  create: (file: NewFile) => Promise<number>,
  options: { flush: boolean },
): Promise<number> {
  const temporary = temporaryBeside(path);
  const before = attempt(path, () => fs.lstatSync(path, { throwIfNoEntry: false }));
  if (before?.isDirectory()) {
    throw new CodedError("invalid", "folder_in_the_way", `Cannot write "${path}": a folder is in the way`);
  }
  if (before?.isSymbolicLink() && new OwnFolders().isOwn(path)) throw ownStorage(`Cannot write "${path}"`);
  addTemporaryFile(temporary);
  const file: NewFile = { temporary };
  try {
    const size = await create(file);
    const descriptor = file.descriptor!;
    await attemptAsync(path, async () => {
      if (before?.isFile()) fs.fchmodSync(descriptor, before.mode & 0o7777);
      if (options.flush) await flush(descriptor);
      file.descriptor = undefined;
      fs.closeSync(descriptor);
      fs.renameSync(temporary, path);
    });
    return size;
  } catch (error) {
    if (file.descriptor !== undefined) fs.closeSync(file.descriptor);
    fs.rmSync(temporary, { force: true });
    throw error;
  } finally {
    forgetTemporaryFile(temporary);
  }
}

/** Most links that one name may lead through. */
const MOST_LINKS = 40;

/** Returns what a name stands for: where symlinks lead from it, also when nothing is there yet. */
export function throughSymlinks(path: string): string {
  let target = path;
  for (let links = 0; links < MOST_LINKS; links++) {
    const stat = attempt(path, () => fs.lstatSync(target, { throwIfNoEntry: false }));
    if (!stat?.isSymbolicLink()) return target;
    target = attempt(path, () => resolve(fs.realpathSync.native(dirname(target)), fs.readlinkSync(target)));
  }
  throw new CodedError("invalid", "file_unusable", `Cannot write "${path}": it is a loop of symlinks`);
}

/**
 * Writes into something that is no regular file, such as a FIFO or a device, which must stay what it is. It waits for a reader in
 * another thread, so that the program hears signals meanwhile.
 */
export async function writeInPlace(path: string, body: AsyncIterable<Uint8Array>): Promise<number> {
  const descriptor = await attemptAsync(path, () =>
    new Promise<number>((resolve, reject) => {
      fs.open(path, fs.constants.O_WRONLY, (error, opened) => error ? reject(error) : resolve(opened));
    }));
  try {
    let size = 0;
    for await (const piece of body) {
      for (let at = 0; at < piece.length;) {
        at += await attemptAsync(path, () => writeSome(descriptor, piece, at));
      }
      size += piece.length;
    }
    return size;
  } finally {
    fs.closeSync(descriptor);
  }
}

async function writeBody(path: string, descriptor: number, body: AsyncIterable<Uint8Array>): Promise<number> {
  let size = 0;
  for await (const piece of body) {
    for (let at = 0; at < piece.length;) {
      at += attempt(path, () => fs.writeSync(descriptor, piece, at, piece.length - at));
    }
    size += piece.length;
  }
  return size;
}

/** A folder that a whole listing goes into. */
export class TargetFolder {
  readonly #root: string;
  /** Where symlinks met in the folder lead. */
  readonly #aliases = new Set<string>();
  /** The folder with all symlinks resolved. */
  readonly #realRoot: string;
  /** Folders that are known to be there and inside. */
  readonly #known = new Set<string>([""]);
  #written = 0;
  readonly #own: OwnFolders;

  /** Opens the folder, made if it is not there. Fails with `own_storage` if it lies in a folder of tarn's own. */
  constructor(root: string, own = new OwnFolders()) {
    own.refuse(root, "write into");
    this.#own = own;
    attempt(root, () => fs.mkdirSync(root, { recursive: true }));
    this.#realRoot = attempt(root, () => fs.realpathSync.native(root));
    // Joined paths lose a `..` that stands behind a symlink, and would lead elsewhere.
    this.#root = realPath(resolve(root)) === this.#realRoot ? root : this.#realRoot;
  }

  /** Writes the file of a key, whose placement was checked, and returns its size. */
  async write(key: string, body: AsyncIterable<Uint8Array>): Promise<number> {
    return await writeFile(this.#place(key), body, { flush: this.#written <= MOST_FLUSHED_SINGLY });
  }

  /** Returns whether the file of a key, whose placement was checked, holds an object's bytes already. */
  async holds(key: string, stats: Pick<ObjectStats, "sizeBytes" | "sha256">): Promise<boolean> {
    return await isSameFile(this.#place(key), stats, { flush: this.#written <= MOST_FLUSHED_SINGLY });
  }

  /** Writes the file of a key, whose placement was checked, as a copy of a local one, and returns its size. */
  async copy(key: string, from: string): Promise<number> {
    return await copyFile(this.#place(key), from, { flush: this.#written <= MOST_FLUSHED_SINGLY });
  }

  /** Returns the path of a key's file, whose folder is there. */
  #place(key: string): string {
    const slash = key.lastIndexOf("/");
    if (slash >= 0) this.#ensureFolder(key.slice(0, slash));
    this.#written++;
    return join(this.#root, ...key.split("/"));
  }

  /** Makes what was written survive power loss, as far as this system lets a program ask for it. */
  async flush(): Promise<void> {
    if (this.#written > MOST_FLUSHED_SINGLY) {
      await attemptAsync(this.#root, () => syncFileSystem(this.#realRoot));
    } else {
      for (const folder of this.#known) flushFolder(join(this.#root, ...folder.split("/")));
    }
  }

  #ensureFolder(folder: string): void {
    if (this.#known.has(folder)) return;
    const slash = folder.lastIndexOf("/");
    if (slash >= 0) this.#ensureFolder(folder.slice(0, slash));
    const path = join(this.#root, ...folder.split("/"));
    const isNew = attempt(path, () => makeFolder(path));
    if (!isNew && this.#own.isOwn(path)) throw ownStorage(`Cannot write into "${path}"`);
    const stat = attempt(path, () => fs.lstatSync(path));
    if (stat.isSymbolicLink()) this.#checkInside(path);
    else if (this.#aliases.has(join(this.#realRoot, ...folder.split("/")))) this.#refuseAlias(path);
    else if (!stat.isDirectory()) {
      throw new CodedError("invalid", "file_in_the_way", `Cannot write into "${path}": a file is in the way`);
    }
    // Keys come in byte order: folders of a part that was left are not needed again soon.
    if (this.#known.size > 10_000) this.#known.clear();
    this.#known.add(folder);
  }

  /** Two keys may not come to lie in one file: the second would write over the first. */
  #addAlias(path: string, real: string): void {
    const folder = relative(this.#realRoot, real).split(sep).join("/");
    if (this.#aliases.has(real) || this.#known.has(folder)) this.#refuseAlias(path);
    this.#aliases.add(real);
  }

  #refuseAlias(path: string): never {
    throw new CodedError(
      "invalid",
      "outside_folder",
      `Cannot write into "${path}": a symlink makes two folders one`,
    );
  }

  #checkInside(path: string): void {
    const real = attempt(path, () => fs.realpathSync.native(path));
    if (real === this.#realRoot || real.startsWith(this.#realRoot.replace(/[\\/]$/, "") + sep)) {
      if (attempt(path, () => fs.statSync(path)).isDirectory()) return this.#addAlias(path, real);
    }
    throw new CodedError(
      "invalid",
      "outside_folder",
      `Cannot write into "${path}": a symlink there leads elsewhere`,
    );
  }
}

/** Returns whether the folder was not there before. */
function makeFolder(path: string): boolean {
  try {
    fs.mkdirSync(path);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") throw error;
    return false;
  }
}

function flush(descriptor: number): Promise<void> {
  return new Promise((resolve, reject) => {
    fs.fdatasync(descriptor, (error) => error ? reject(error) : resolve());
  });
}

/** Makes the folder that a file is to lie in, and those above it, where they are not there; durable when it returns. */
export function makeFolderOf(path: string): void {
  const folder = resolve(dirname(path));
  const first = attempt(path, () => fs.mkdirSync(folder, { recursive: true }));
  if (first === undefined) return;
  for (let at = folder; at.length >= first.length && at !== dirname(at);) flushFolder(at = dirname(at));
}

/** Makes a folder's entries survive power loss; a system that cannot open folders does so by itself. */
export function flushFolder(path: string): void {
  try {
    const descriptor = fs.openSync(path, "r");
    try {
      fs.fsyncSync(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
  } catch (error) {
    if (!["EISDIR", "EPERM", "EACCES", "EINVAL"].includes((error as { code?: string }).code ?? "")) {
      throw localError(error, `Cannot flush "${path}"`);
    }
  }
}

function attempt<T>(path: string, call: () => T): T {
  try {
    return call();
  } catch (error) {
    throw localError(error, `Cannot write "${path}"`);
  }
}

async function attemptAsync<T>(path: string, call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    throw localError(error, `Cannot write "${path}"`);
  }
}
