/**
 * What a local folder holds, in the byte order of the keys that its files get.
 *
 * Names are bytes: a name that is no UTF-8 is reported, never replaced by another. One folder at a time is in memory.
 */

import * as fs from "node:fs";
import type { Buffer } from "node:buffer";
import { compareBytes, lossyText, tryUtf8Text } from "../../base/bytes.ts";
import { escapeBytes } from "../render/escape.ts";
import { IGNORE_FILE, IgnoreRules } from "./ignore_rules.ts";
import { compareKeys } from "../../base/key_order.ts";
import { localError } from "./local_files.ts";
import { SymlinkTargets } from "./symlinks.ts";

/** What a `get` that was killed leaves behind. */
const UNFINISHED = /^\.tarn-[0-9a-f]{16}\.tmp$/;

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

/** A file or folder that a pattern leaves out; nothing is known of what is in such a folder. */
export interface Ignored {
  readonly kind: "ignored";
  /** Its path below the folder; a folder's ends in a slash. */
  readonly key: string;
}

export type WalkedItem = WalkedFile | LeftOut | Ignored;

export interface WalkOptions {
  /** Patterns that leave out what they match. */
  readonly exclude?: readonly string[];
  /** Whether `.tarnignore` files count. */
  readonly ignoreFiles?: boolean;
  /** Whether symlinks stand for what they point at inside the folder. */
  readonly followSymlinks?: boolean;
  /** Tells folders, and what symlinks led to (`isLed`), that are left out as if a pattern said so. */
  readonly leaveOut?: (path: string, isLed: boolean) => boolean;
}

type EntryKind = "file" | "folder" | "symlink" | "special_file";

interface FolderEntry {
  readonly name: string;
  readonly kind: EntryKind;
  /** What its keys begin with after the folder's: what decides the order. */
  readonly order: string;
  /** Where it is, when a symlink led to it. */
  readonly path?: string;
  /** Why a symlink is left out. */
  readonly why?: string;
}

/** Yields the files of a folder and all below it. Fails when the folder itself cannot be read. */
export function* walkFolder(root: string, options: WalkOptions = {}): Generator<WalkedItem> {
  const bare = root.replace(/(?<=.)\/+$/, "");
  const outer = IgnoreRules.ofPatterns(options.exclude ?? []);
  yield* new Walk(root, options).all(bare === "/" ? "" : bare, outer);
}

/** A folder that was read. */
interface OpenFolder extends FolderContent {
  readonly path: string;
  readonly keyPrefix: string;
  readonly rules: IgnoreRules | undefined;
}

class Walk {
  readonly #options: WalkOptions;
  readonly #targets: SymlinkTargets | undefined;

  constructor(root: string, options: WalkOptions) {
    this.#options = options;
    this.#targets = options.followSymlinks ? new SymlinkTargets(root) : undefined;
  }

  all(root: string, outer: IgnoreRules | undefined): Generator<WalkedItem> {
    return this.#items(this.#open(root, "", outer));
  }

  #open(path: string, keyPrefix: string, outer: IgnoreRules | undefined): OpenFolder {
    const content = readFolder(path, this.#targets);
    const hasRules = this.#options.ignoreFiles &&
      content.entries.some(({ name, kind }) => name === IGNORE_FILE && kind === "file");
    const rules = hasRules
      ? IgnoreRules.within(outer, readIgnoreFile(`${path}/${IGNORE_FILE}`), keyPrefix)
      : outer;
    return { ...content, path, keyPrefix, rules };
  }

  *#items({ path, keyPrefix, rules, entries, unnameable }: OpenFolder): Generator<WalkedItem> {
    for (const name of unnameable) {
      const shown = `${keyPrefix}${escapeBytes(name)}`;
      yield { kind: "left_out", shown, code: "name_not_utf8", why: "its name is not UTF-8" };
    }
    for (const { name, kind, path: target, why } of entries) {
      const inner = target ?? `${path}/${name}`;
      const key = `${keyPrefix}${name}`;
      const isFolder = kind === "folder";
      if (
        (!isFolder && UNFINISHED.test(name)) || rules?.ignores(key, isFolder) ||
        ((isFolder || target !== undefined) && this.#options.leaveOut?.(inner, target !== undefined))
      ) {
        yield { kind: "ignored", key: isFolder ? `${key}/` : key };
      } else if (kind === "file") yield { kind, path: inner, key };
      else if (isFolder) yield* this.#inner(inner, key, rules);
      else if (kind === "symlink") {
        yield { kind: "left_out", shown: key, code: kind, why: why ?? "it is a symlink" };
      } else yield { kind: "left_out", shown: key, code: kind, why: "it is a device, FIFO or socket" };
    }
  }

  *#inner(path: string, key: string, outer: IgnoreRules | undefined): Generator<WalkedItem> {
    this.#targets?.enter(path);
    let folder: OpenFolder | undefined;
    try {
      folder = this.#open(path, `${key}/`, outer);
    } catch (error) {
      const failure = localError(error, "");
      const why = failure instanceof Error ? failure.message.replace(/^: /, "") : String(failure);
      yield { kind: "left_out", shown: `${key}/`, code: "unreadable_folder", why };
    }
    if (folder) yield* this.#items(folder);
    this.#targets?.leave();
  }
}

/** Without its rules nobody knows what was not meant to be put: nothing is, then. */
function readIgnoreFile(path: string): string {
  try {
    return lossyText(fs.readFileSync(path));
  } catch (error) {
    throw localError(error, `Cannot read "${path}"`);
  }
}

interface FolderContent {
  readonly entries: readonly FolderEntry[];
  /** Names that are no UTF-8. */
  readonly unnameable: readonly Buffer[];
}

function readFolder(path: string, targets: SymlinkTargets | undefined): FolderContent {
  const shown = path === "" ? "/" : path;
  let entries: FolderEntry[] = [];
  let isDoubtful = false;
  for (const entry of fs.readdirSync(shown, { withFileTypes: true })) {
    // Decoding puts U+FFFD where bytes are no UTF-8: only then are the bytes themselves looked at.
    if (entry.name.includes("\ufffd")) isDoubtful = true;
    else {
      const inner = `${path}/${entry.name}`;
      entries.push(folderEntry(entry.name, knownKind(entry, inner)));
    }
  }
  const unnameable: Buffer[] = [];
  if (isDoubtful) {
    for (const bytes of fs.readdirSync(shown, { encoding: "buffer" }) as unknown as Buffer[]) {
      const name = tryUtf8Text(bytes);
      if (name !== undefined && !name.includes("\ufffd")) continue;
      // A runtime that decodes names itself finds no file under what it made of them.
      const inner = `${path}/${name}`;
      const stat = name === undefined ? undefined : fs.lstatSync(inner, { throwIfNoEntry: false });
      if (name === undefined || !stat) unnameable.push(bytes);
      else entries.push(folderEntry(name, kindOf(stat)));
    }
  }
  if (targets) {
    entries = entries.map((entry) =>
      entry.kind === "symlink" ? followed(entry, `${path}/${entry.name}`, targets) : entry
    );
  }
  entries.sort((a, b) => compareKeys(a.order, b.order));
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
  return { name, kind, order: kind === "folder" ? `${name}/` : name };
}

/** Returns the entry of a symlink as what it leads to, if it is followed. */
function followed(entry: FolderEntry, link: string, targets: SymlinkTargets): FolderEntry {
  const target = targets.resolve(link);
  if (target.kind === "refused") return { ...entry, why: target.why };
  return { ...folderEntry(entry.name, target.kind), path: target.path };
}

function kindOf(entry: Pick<fs.Stats, "isFile" | "isDirectory" | "isSymbolicLink">): EntryKind {
  if (entry.isSymbolicLink()) return "symlink";
  if (entry.isFile()) return "file";
  return entry.isDirectory() ? "folder" : "special_file";
}
