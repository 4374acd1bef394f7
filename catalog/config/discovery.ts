/** Which configuration counts: the chosen one, the nearest `tarn.yaml` upward from the working folder, the user's own, none. */

import * as fs from "node:fs";
import { dirname, join, resolve } from "node:path";
import { CodedError } from "../../base/errors.ts";

export const CONFIG_FILE = "tarn.yaml";

/** Where a configuration may be, best first. */
export interface ConfigPlaces {
  /** A file, or the address of an etcd, named by the user; `by` says with what. */
  readonly chosen?: { readonly address: string; readonly by: string };
  readonly workingFolder: string;
  readonly userConfigFolder: string;
  /** Absent where the system has no user ids: then nothing is checked. */
  readonly userId?: number;
  readonly userName: (id: number) => string;
}

export type FoundConfig =
  | {
    readonly kind: "file";
    readonly path: string;
    /** Whether it was met on the way up, and must belong to the user, and be trusted for what could do harm. */
    readonly isMet: boolean;
  }
  | { readonly kind: "etcd"; readonly address: string }
  | { readonly kind: "none" };

/** Returns where the configuration is. Fails with `config_not_found` when the chosen one is not there. */
export function findConfig(places: ConfigPlaces): FoundConfig {
  const { chosen, workingFolder, userConfigFolder } = places;
  if (chosen) return chosenConfig(chosen, workingFolder);
  const own = join(userConfigFolder, CONFIG_FILE);
  const met = nearestUpward(workingFolder);
  if (met !== undefined && !isSameFile(met, own)) return { kind: "file", path: met, isMet: true };
  return fs.existsSync(own) ? { kind: "file", path: own, isMet: false } : { kind: "none" };
}

/** Returns whether what stands for a configuration is the address of an etcd, and not a file. */
export function isEtcdAddress(text: string): boolean {
  return /^etcd\+https?:/.test(text);
}

function chosenConfig({ address, by }: { address: string; by: string }, workingFolder: string): FoundConfig {
  if (isEtcdAddress(address)) return { kind: "etcd", address };
  const path = resolve(workingFolder, address);
  if (fs.existsSync(path)) return { kind: "file", path, isMet: false };
  throw configurationNotFound(address, `${by} names it, and it is not there`);
}

export function configurationNotFound(shown: string, why: string): CodedError {
  return new CodedError(
    "not_found",
    "config_not_found",
    `Cannot find the configuration "${shown}": ${why}`,
    { details: { file: shown } },
  );
}

function nearestUpward(from: string): string | undefined {
  for (let folder = from;; folder = dirname(folder)) {
    const candidate = join(folder, CONFIG_FILE);
    if (fs.lstatSync(candidate, { throwIfNoEntry: false })) return candidate;
    if (dirname(folder) === folder) return undefined;
  }
}

function isSameFile(a: string, b: string): boolean {
  try {
    return fs.realpathSync(a) === fs.realpathSync(b);
  } catch {
    return false;
  }
}

/**
 * Checks that a file that was met on the way up is the user's, and the folders that it and what it links to lie in; the
 * system's own folders are trusted. `opened` is the stat of the open file, so that no other one can take its place meanwhile.
 *
 * Fails with `config_of_another_user`.
 */
export function checkOwner(path: string, opened: fs.Stats, places: ConfigPlaces): void {
  const { userId, userName } = places;
  if (userId === undefined) return;
  const check = (uid: number, shown: string) => {
    if (uid === userId) return;
    throw new CodedError(
      "forbidden",
      "config_of_another_user",
      `Cannot use "${path}": ${shown} belongs to "${userName(uid)}"`,
      { details: { file: path, owner: userName(uid) } },
    );
  };
  check(opened.uid, "it");
  check(fs.lstatSync(path).uid, "it");
  for (const folder of new Set([dirname(path), dirname(fs.realpathSync(path))])) {
    const { uid } = fs.statSync(folder);
    if (uid !== 0) check(uid, `its folder "${folder}"`);
  }
}
