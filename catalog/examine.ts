/**
 * What is to be said of a home and of where it lies, for a person who wonders whether all is well. Whatever is wrong is a
 * finding, never a failure: this has to run where nothing else does.
 */

import * as fs from "node:fs";
import { join } from "node:path";
import { hex } from "../base/bytes.ts";
import { systemClock } from "../base/clock.ts";
import { CodedError } from "../base/errors.ts";
import { type FileSystem, type FileSystemCalls, fileSystemOf } from "../base/file_system.ts";
import { systemRandomness } from "../base/randomness.ts";
import { storageFindings } from "./examine_storage.ts";
import type { DataOptions } from "./examine_data.ts";
import { foldersOf, homeFormat } from "./home.ts";
import { shownKvAddress } from "./kv_address.ts";
import {
  checkKv,
  hasStorage,
  type HomeStoreOptions,
  kvAddressOf,
  type KvCheck,
  openKvOf,
} from "./registry.ts";

export type FindingState = "ok" | "warning" | "problem";

export interface Finding {
  readonly name:
    | "home"
    | "file system"
    | "writing"
    | "key-value store"
    | "storage"
    | "files at work"
    | "unfinished files"
    | "data";
  readonly state: FindingState;
  readonly text: string;
  /** The same as facts, named as in JSON. */
  readonly details: Readonly<Record<string, unknown>>;
  /** What the finding is about, if it is an error of ours. */
  readonly error?: CodedError;
}

/** A home's folder, and whether the home is there. */
export interface ExaminedHome {
  readonly folder: string;
  readonly ready: boolean;
  readonly fileSystemCalls?: FileSystemCalls;
}

/** Less room than this is told of. */
const LITTLE_ROOM_BYTES = 64 * 1024 * 1024;

/** Yields what is found of a home's folder. */
export function* examineFolder(home: ExaminedHome): Generator<Finding> {
  yield homeFinding(home);
  yield fileSystemFinding(home);
  if (home.ready) yield writingFinding(home);
}

/** Yields what is found of a home's key-value store, of its storage, and of what its repositories hold. */
export async function* examineStores(
  { folder, ready }: ExaminedHome,
  options: HomeStoreOptions,
  data: DataOptions = {},
): AsyncGenerator<Finding> {
  const home = ready ? folder : undefined;
  const kv = await orProblem("key-value store", () => kvFinding(home, options));
  if (!kv) return;
  yield kv;
  if (kv.state === "problem") return;
  try {
    yield* storageFindings(folder, { ...options, ready, data });
  } catch (error) {
    yield problemOf("storage", error);
  }
}

function homeFinding({ folder, ready }: ExaminedHome): Finding {
  const format = ready ? homeFormat(folder) : undefined;
  return {
    name: "home",
    state: "ok",
    text: ready
      ? `"${folder}", of format ${format}`
      : `"${folder}" is not made yet: the first command that writes makes it`,
    details: { folder, ready, ...(format === undefined ? {} : { format }) },
  };
}

const ABOUT_KIND: Readonly<Record<FileSystem["kind"], string>> = {
  local: "",
  network: ", a network file system: LMDB's locks and mapped memory do not hold between machines",
  layered: ", of a container or from outside of this machine: use the home from one container alone",
  memory: ", in memory: all is gone when the machine starts again",
};

function fileSystemFinding({ folder, fileSystemCalls }: ExaminedHome): Finding {
  const found = fileSystemOf(folder, fileSystemCalls);
  if (!found) return { name: "file system", state: "ok", text: "not told by this system", details: {} };
  const { name, kind, freeBytes, sizeBytes } = found;
  const isTight = sizeBytes > 0 && freeBytes < LITTLE_ROOM_BYTES;
  return {
    name: "file system",
    state: kind === "local" && !isTight ? "ok" : "warning",
    text: `${name}${ABOUT_KIND[kind]}; ${Math.floor(freeBytes / 1e6)} MB free${
      isTight ? ", which is little" : ""
    }`,
    details: { type: name, kind, free_bytes: freeBytes, size_bytes: sizeBytes },
  };
}

/** Writes and flushes a small file as a commit would, and takes it away. */
function writingFinding({ folder }: ExaminedHome): Finding {
  const path = join(folder, `doctor-${hex(systemRandomness.bytes(8))}.tmp`);
  try {
    const file = fs.openSync(path, "wx", 0o600);
    try {
      fs.writeSync(file, new Uint8Array(4096));
      const start = systemClock.now();
      fs.fsyncSync(file);
      const flushMs = Math.round((systemClock.now() - start) * 100) / 100;
      return {
        name: "writing",
        state: "ok",
        text: `works; a flush takes ${flushMs} ms`,
        details: { flush_ms: flushMs },
      };
    } finally {
      fs.closeSync(file);
      fs.rmSync(path, { force: true });
    }
  } catch (error) {
    const code = (error as { code?: string }).code ?? String(error);
    const isReadOnly = code === "EROFS" || code === "EACCES" || code === "EPERM";
    return {
      name: "writing",
      state: isReadOnly ? "warning" : "problem",
      text: isReadOnly ? "is not allowed here: reading works, and writes are refused" : `fails: ${code}`,
      details: { errno: code },
    };
  }
}

/** Returns nothing where there is no home yet that has a store. */
async function kvFinding(home: string | undefined, options: HomeStoreOptions): Promise<Finding | undefined> {
  const address = await kvAddressOf(home, options);
  if (!address && home === undefined) return undefined;
  const shown = address ? shownKvAddress(address) : `LMDB in "${foldersOf(home!).kv}"`;
  const finding = (text: string, { facts, warning }: KvCheck = { facts: {} }): Finding => ({
    name: "key-value store",
    state: warning === undefined ? "ok" : "warning",
    text: [`${shown}${text}`, ...(warning === undefined ? [] : [warning])].join("; "),
    details: { address: shown, ...facts },
  });
  if (!address && isUnused(home!)) return finding(", not made yet");
  const store = await openKvOf(home, { ...options, kv: address, makesKv: false });
  try {
    const own = await store.facts?.();
    const check = await checkKv(address ?? { driver: "lmdb", folder: foldersOf(home!).kv });
    const facts: Readonly<Record<string, number>> = { ...own, ...check.facts };
    const { size_bytes: size, entries, journal_entries: newer } = facts;
    if (size === undefined) return finding("", { facts });
    const used = `${Math.ceil(size / 1e3)} kB used`;
    const more = newer ? `, and ${newer} in the journal` : "";
    return finding(`; ${used}; all ${entries} records and their pages are sound${more}`, { ...check, facts });
  } finally {
    await store.close();
  }
}

function isUnused(home: string): boolean {
  const { kv } = foldersOf(home);
  return !fs.existsSync(join(kv, "data.mdb")) && isReadableFolder(kv) && !hasStorage(home);
}

/** What may not be looked into could hold anything. */
function isReadableFolder(path: string): boolean {
  try {
    return !fs.existsSync(path) || fs.readdirSync(path) !== undefined;
  } catch {
    return false;
  }
}

async function orProblem(
  name: Finding["name"],
  look: () => Promise<Finding | undefined>,
): Promise<Finding | undefined> {
  try {
    return await look();
  } catch (error) {
    return problemOf(name, error);
  }
}

/** Returns an error as a finding. */
export function problemOf(name: Finding["name"], error: unknown): Finding {
  const ours = error instanceof CodedError ? error : undefined;
  const text = error instanceof Error ? error.message : String(error);
  return {
    name,
    state: "problem",
    text,
    details: { code: ours?.code ?? "internal" },
    ...(ours ? { error: ours } : {}),
  };
}
