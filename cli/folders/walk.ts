/**
 * What a local folder holds, in the byte order of the keys that its files get.
 *
 * Names are bytes: a name that is no UTF-8 is reported, never replaced by another. One folder at a time is in memory.
 */

import * as fs from "node:fs";
import { Buffer } from "node:buffer";
import { compareBytes, tryUtf8Text, utf8 } from "../../base/bytes.ts";
import { escapeBytes } from "../render/escape.ts";
import { localError } from "./local_files.ts";

/** A file that can be stored; `key` is its path below the folder, with `/` on every system. */
export interface WalkedFile {
  readonly kind: "file";
  readonly path: string;
  readonly key: string;
}

/** Something that is left out, and why. */
export interface LeftOut {
  readonly kind: "left_out";
  /** Its path below the folder, shown. */
  readonly shown: string;
  readonly code: "symlink" | "special_file" | "name_not_utf8" | "unreadable_folder";
  readonly why: string;
}

type EntryKind = "file" | "folder" | "symlink" | "special_file";

interface FolderEntry {
  readonly name: string;
  readonly kind: EntryKind;
  /** The bytes that its keys begin with after the folder's: what decides the order. */
  readonly order: Uint8Array;
}

/** Yields the files of a folder and all below it. Fails when the folder itself cannot be read. */
export function* walkFolder(root: string): Generator<WalkedFile | LeftOut> {
  const bare = root.replace(/(?<=.)\/+$/, "");
  yield* walk(bare === "/" ? "" : bare, readFolder(root), "");
}

function* walk(
  path: string,
  { entries, unnameable }: FolderContent,
  keyPrefix: string,
): Generator<WalkedFile | LeftOut> {
  for (const name of unnameable) {
    const shown = `${keyPrefix}${escapeBytes(name)}`;
    yield { kind: "left_out", shown, code: "name_not_utf8", why: "its name is not UTF-8" };
  }
  for (const { name, kind } of entries) {
    const inner = `${path}/${name}`;
    const key = `${keyPrefix}${name}`;
    if (kind === "file") yield { kind: "file", path: inner, key };
    else if (kind === "folder") yield* walkInner(inner, key);
    else if (kind === "symlink") yield { kind: "left_out", shown: key, code: kind, why: "it is a symlink" };
    else yield { kind: "left_out", shown: key, code: kind, why: "it is a device, FIFO or socket" };
  }
}

function* walkInner(path: string, key: string): Generator<WalkedFile | LeftOut> {
  let content: FolderContent;
  try {
    content = readFolder(path);
  } catch (error) {
    const failure = localError(error, "");
    const why = failure instanceof Error ? failure.message.replace(/^: /, "") : String(failure);
    yield { kind: "left_out", shown: `${key}/`, code: "unreadable_folder", why };
    return;
  }
  yield* walk(path, content, `${key}/`);
}

interface FolderContent {
  readonly entries: readonly FolderEntry[];
  /** Names that are no UTF-8. */
  readonly unnameable: readonly Buffer[];
}

function readFolder(path: string): FolderContent {
  const entries: FolderEntry[] = [];
  let isDoubtful = false;
  for (const entry of fs.readdirSync(path, { withFileTypes: true })) {
    // Decoding puts U+FFFD where bytes are no UTF-8: only then are the bytes themselves looked at.
    if (entry.name.includes("\ufffd")) isDoubtful = true;
    else entries.push(folderEntry(entry.name, knownKind(entry, `${path}/${entry.name}`)));
  }
  const unnameable: Buffer[] = [];
  if (isDoubtful) {
    for (const bytes of fs.readdirSync(path, { encoding: "buffer" }) as unknown as Buffer[]) {
      const name = tryUtf8Text(bytes);
      if (name !== undefined && !name.includes("\ufffd")) continue;
      // A runtime that decodes names itself finds no file under what it made of them.
      const stat = name === undefined
        ? undefined
        : fs.lstatSync(`${path}/${name}`, { throwIfNoEntry: false });
      if (name === undefined || !stat) unnameable.push(bytes);
      else entries.push(folderEntry(name, kindOf(stat)));
    }
  }
  entries.sort((a, b) => compareBytes(a.order, b.order));
  unnameable.sort(compareBytes);
  return { entries, unnameable };
}

/** Some file systems do not say what an entry is; one that is gone meanwhile is no file. */
function knownKind(entry: fs.Dirent, path: string): EntryKind {
  const kind = kindOf(entry);
  if (kind !== "special_file") return kind;
  const stat = fs.lstatSync(path, { throwIfNoEntry: false });
  return stat ? kindOf(stat) : kind;
}

function folderEntry(name: string, kind: EntryKind): FolderEntry {
  return { name, kind, order: utf8(kind === "folder" ? `${name}/` : name) };
}

function kindOf(entry: Pick<fs.Stats, "isFile" | "isDirectory" | "isSymbolicLink">): EntryKind {
  if (entry.isSymbolicLink()) return "symlink";
  if (entry.isFile()) return "file";
  return entry.isDirectory() ? "folder" : "special_file";
}
