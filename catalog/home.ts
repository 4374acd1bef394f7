/**
 * The home: the folder that holds everything of the embedded engine.
 *
 * ```
 * tarn-home.json   {"format":2,…}: written last, by temporary name and rename; without it there is no home
 * kv/              the key-value store
 * storage/         the default storage namespaces
 * native/          native parts that the executable unpacks
 * secret.key       the key under which the server's secrets lie sealed; made with its first user
 * config.yaml      the user's settings, if there are any (home_config.ts)
 * index/           what was read of folders that were put; made when first needed, and may be deleted at any time
 * ```
 *
 * A folder that holds only empty folders of these names is a home that a killed process was making: it counts as none,
 * and the next command that makes a home finishes it. So two first commands at a time both succeed.
 */

import * as fs from "node:fs";
import { dirname, join, resolve } from "node:path";
import process from "node:process";
import { hex } from "../base/bytes.ts";
import { CodedError, type ErrorDetails } from "../base/errors.ts";
import { HOME_MARKER as MARKER, OwnFolders } from "../base/own_folders.ts";
import { type Randomness, systemRandomness } from "../base/randomness.ts";

/**
 * 1: values in LMDB are as they are. 2: they bear seals (`kv/lmdb/format.ts`). A home of an older format is read as it is; the
 * first write to its LMDB store puts it into the newest one.
 */
const FORMAT = 2;
const FOLDERS = ["kv", "storage", "native"];

/** Where a home may be, best first: the chosen one, a `.tarn` upward from the working folder, the user's own. */
export interface HomePlaces {
  /** Named by the user; `by` says with what. */
  readonly chosen?: { readonly path: string; readonly by: string };
  readonly workingFolder: string;
  readonly userDataFolder: string;
  /** Absent where the system has no user ids: then nothing is checked. */
  readonly userId?: number;
  readonly userName: (id: number) => string;
}

export interface FoundHome {
  readonly folder: string;
  /** Whether the home is there; otherwise it can be made. */
  readonly ready: boolean;
  /** Whether it was chosen, or is the user's own, and was not met on the way up from the working folder. */
  readonly isTrusted: boolean;
  /** What has named it, if something has. */
  readonly chosenBy?: string;
}

/** The folders inside a home. */
export interface HomeFolders {
  readonly kv: string;
  readonly storage: string;
  readonly native: string;
  /** What can be made again from elsewhere; a folder a repository's instance. */
  readonly cache: string;
}

export function foldersOf(home: string): HomeFolders {
  return {
    kv: join(home, "kv"),
    storage: join(home, "storage"),
    native: join(home, "native"),
    cache: join(home, "cache"),
  };
}

/**
 * Returns the home that commands use, whether it is there or not.
 *
 * Fails with `not_a_home`, `home_too_new`, `home_of_another_user`, `home_forbidden`.
 */
export function findHome(places: HomePlaces): FoundHome {
  if (places.chosen) {
    const folder = resolve(places.workingFolder, places.chosen.path);
    return { folder, ready: inspectHome(folder, places), isTrusted: true, chosenBy: places.chosen.by };
  }
  const found = upwardHome(places);
  if (found !== undefined) {
    checkOwner(fs.lstatSync(found), found, places);
    checkHolder(dirname(found), places);
    return { folder: found, ready: inspectHome(found, places), isTrusted: false };
  }
  const { userDataFolder } = places;
  return { folder: userDataFolder, ready: inspectHome(userDataFolder, places), isTrusted: true };
}

/** Returns the folder that `init` makes a home of. */
export function homeToInit(folder: string | undefined, places: HomePlaces): string {
  if (folder !== undefined) return join(resolve(places.workingFolder, folder), ".tarn");
  if (places.chosen) return resolve(places.workingFolder, places.chosen.path);
  return join(places.workingFolder, ".tarn");
}

/** Makes a home that must not be there yet. Fails with `home_exists`, and in a folder of tarn's own with `own_storage`. */
export function initHome(folder: string, places: HomePlaces, own = new OwnFolders()): void {
  if (inspectHome(folder, places)) {
    throw new CodedError("exists", "home_exists", `Cannot make a home in "${folder}": there is one already`);
  }
  const holder = dirname(folder);
  own.refuse(holder, "make a home in");
  if (statOrUndefined(holder)) checkHolder(holder, places);
  makeHome(folder);
}

/**
 * Makes a home, or finishes one. Durable when it returns; whoever else makes the same one at the time succeeds too. Fails with
 * `own_storage` in another home, or in a cache.
 */
export function makeHome(folder: string, randomness = systemRandomness): void {
  try {
    new OwnFolders().refuse(dirname(folder), "make a home in");
    refuseDeadLink(folder);
    fs.mkdirSync(folder, { recursive: true, mode: 0o700 });
    fs.chmodSync(folder, 0o700);
    for (const name of FOLDERS) fs.mkdirSync(join(folder, name), { recursive: true, mode: 0o700 });
    writeMarker(folder, randomness);
    flushFolder(folder);
    flushFolder(dirname(folder));
  } catch (error) {
    throw homeError(error, `Cannot make a home in "${folder}"`);
  }
}

/** The system would only say that something is there. */
function refuseDeadLink(folder: string): void {
  const isLink = fs.lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true;
  if (!isLink || statOrUndefined(folder)) return;
  const message = `Cannot make a home in "${folder}": it is a link to what is not there`;
  throw new CodedError("invalid", "not_a_home", message);
}

/**
 * Marks a home as one of the newest format, before anything is written that older versions of tarn would misread. Durable when
 * it returns; of a home that is so already nothing is written.
 */
export function upgradeHome(folder: string, randomness = systemRandomness): void {
  try {
    const marker = readMarker(folder);
    if (marker === undefined || formatOf(marker) === FORMAT) return;
    writeMarker(folder, randomness);
    flushFolder(folder);
  } catch (error) {
    throw homeError(error, `Cannot upgrade the home "${folder}"`);
  }
}

/** Writes the marker whole, or not at all. */
function writeMarker(folder: string, randomness: Randomness): void {
  const temporary = join(folder, `${MARKER}.${hex(randomness.bytes(8))}.tmp`);
  const file = fs.openSync(temporary, "w", 0o600);
  try {
    fs.writeFileSync(file, `${JSON.stringify({ format: FORMAT })}\n`);
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
  fs.renameSync(temporary, join(folder, MARKER));
}

/** Returns whether a folder is a home that can be used; `false` when one can be made there. */
export function inspectHome(folder: string, places: HomePlaces): boolean {
  const stat = statOrUndefined(folder);
  if (!stat) return false;
  if (!stat.isDirectory()) throw notAHome(folder, "it is not a folder");
  checkOwner(stat, folder, places);
  // Whoever makes the same home may have finished it between the first look and the second.
  const marker = readMarker(folder) ?? (isUnfinished(folder) ? undefined : finishedMarker(folder));
  if (marker === undefined) return false;
  checkFormat(folder, marker);
  checkInnerOwners(folder, places);
  return true;
}

/** Returns the format that a home says it has. */
export function homeFormat(folder: string): number | undefined {
  try {
    return (JSON.parse(readMarker(folder) ?? "") as { format?: number }).format;
  } catch {
    return undefined;
  }
}

function upwardHome(places: HomePlaces): string | undefined {
  for (let folder = places.workingFolder;; folder = dirname(folder)) {
    const candidate = join(folder, ".tarn");
    if (fs.lstatSync(candidate, { throwIfNoEntry: false })) return candidate;
    if (dirname(folder) === folder) return undefined;
  }
}

function checkOwner(stat: fs.Stats, path: string, places: HomePlaces): void {
  if (places.userId === undefined || stat.uid === places.userId) return;
  const owner = places.userName(stat.uid);
  throw new CodedError(
    "forbidden",
    "home_of_another_user",
    `Cannot use "${path}": it belongs to "${owner}"`,
    {
      details: { owner },
    },
  );
}

function checkInnerOwners(folder: string, places: HomePlaces): void {
  for (const name of FOLDERS) {
    const inner = statOrUndefined(join(folder, name));
    if (inner) checkOwner(inner, join(folder, name), places);
  }
}

/** Whoever owns the folder around a home can put another in its place; the system's own folders are trusted. */
function checkHolder(folder: string, places: HomePlaces): void {
  const stat = fs.statSync(folder);
  if (stat.uid !== 0) checkOwner(stat, folder, places);
}

function readMarker(folder: string): string | undefined {
  try {
    return fs.readFileSync(join(folder, MARKER), "utf8");
  } catch (error) {
    if ((error as { code?: string }).code === "ENOENT") return undefined;
    throw homeError(error, `Cannot read the home "${folder}"`);
  }
}

function finishedMarker(folder: string): string {
  const marker = readMarker(folder);
  if (marker !== undefined) return marker;
  const why = `it holds other files and no "${MARKER}"`;
  throw notAHome(folder, why, holdsStore(folder) ? { home: folder } : {});
}

/** Whether all is there that makes a folder a home, but for its marker. */
function holdsStore(folder: string): boolean {
  const { kv, storage } = foldersOf(folder);
  const isFolder = (path: string) => statOrUndefined(path)?.isDirectory() === true;
  return isFolder(kv) && isFolder(storage) && (statOrUndefined(join(kv, "data.mdb"))?.size ?? 0) > 0;
}

/** Returns whether a folder of the user's is a home that has lost its marker. Fails with `home_of_another_user`. */
export function hasLostMarker(folder: string, places: HomePlaces): boolean {
  const stat = statOrUndefined(folder);
  if (!stat?.isDirectory() || readMarker(folder) !== undefined || !holdsStore(folder)) return false;
  checkOwner(stat, folder, places);
  checkInnerOwners(folder, places);
  return true;
}

function checkFormat(folder: string, marker: string): void {
  const format = formatOf(marker);
  if (format === undefined) throw notAHome(folder, `its "${MARKER}" is damaged`);
  if (!Number.isSafeInteger(format) || (format as number) < 1) {
    throw notAHome(folder, `its "${MARKER}" names no format`);
  }
  if ((format as number) > FORMAT) {
    throw new CodedError(
      "unsupported",
      "home_too_new",
      `Cannot use the home "${folder}": its format is ${format}, and this version knows ${FORMAT}`,
    );
  }
}

/** Returns what a marker names as the format, whatever that is; `undefined` of one that is damaged. */
function formatOf(marker: string): unknown {
  try {
    return (JSON.parse(marker) as { format?: unknown } | null)?.format ?? null;
  } catch {
    return undefined;
  }
}

/** Whether a folder is empty, or what a killed {@link makeHome} leaves. */
function isUnfinished(folder: string): boolean {
  try {
    return fs.readdirSync(folder).every((name) =>
      FOLDERS.includes(name) ? fs.readdirSync(join(folder, name)).length === 0 : name.startsWith(`${MARKER}.`)
    );
  } catch (error) {
    throw homeError(error, `Cannot read "${folder}"`);
  }
}

function statOrUndefined(path: string): fs.Stats | undefined {
  try {
    return fs.statSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw homeError(error, `Cannot look at "${path}"`);
  }
}

function flushFolder(folder: string): void {
  if (process.platform === "win32") return;
  const handle = fs.openSync(folder, "r");
  try {
    fs.fsyncSync(handle);
  } finally {
    fs.closeSync(handle);
  }
}

function notAHome(folder: string, why: string, details: ErrorDetails = {}): CodedError {
  return new CodedError("invalid", "not_a_home", `Cannot use "${folder}" as a home: ${why}`, { details });
}

function homeError(error: unknown, what: string): CodedError {
  if (error instanceof CodedError) return error;
  const code = (error as { code?: string }).code;
  const options = { cause: error };
  switch (code) {
    case "EACCES":
    case "EPERM":
      return new CodedError("forbidden", "home_forbidden", `${what}: no permission`, options);
    case "EROFS":
      return new CodedError("forbidden", "home_forbidden", `${what}: the disk is read-only`, options);
    case "ENOSPC":
    case "EDQUOT":
    case "EFBIG":
      return new CodedError("unavailable", "disk_full", `${what}: the disk is full`, options);
    case "ENOTDIR":
    case "EEXIST":
      return new CodedError("invalid", "not_a_home", `${what}: a file is in the way`, options);
    default:
      return new CodedError("unavailable", "home_unavailable", `${what}: ${code ?? String(error)}`, options);
  }
}
