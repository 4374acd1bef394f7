/**
 * Which keys a local folder can hold, checked before the first byte is written.
 *
 * Refused are names that mean another place (`..`, absolute, drive letters), that no disk takes, and those that some
 * disk would merge: the default disks of macOS and Windows store `Guide.md` and `guide.md`, or one name in two Unicode
 * forms, as one file. They are compared at every level of a path, on every system, so that a folder can move.
 *
 * Keys come in byte order, so all that is in one folder comes together: what is remembered are the names in the folders
 * on the current path, not the whole listing.
 */

import process from "node:process";
import { utf8 } from "./bytes.ts";

const MOST_NAME_BYTES = 255;
const ASCII = /^[\x00-\x7f]*$/;
const WINDOWS_NAMES = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(\..*)?$/i;
const WINDOWS_CHARACTERS = /[<>:"|?*\\\u0000-\u001f]/;

/** One name in a folder: what it was seen as. */
interface SeenName {
  readonly name: string;
  readonly isFolder: boolean;
}

/** A name that some disk takes for another one in the same folder. */
export interface AlikeNames {
  readonly name: string;
  readonly earlier: string;
}

/** The names in the folders of one listing, whose keys come in byte order. */
export class FolderNames {
  /** The folders on the path of the last key, the outermost first, with the names in each by their folded form. */
  readonly #open: { readonly name: string; readonly names: Map<string, SeenName> }[] = [
    { name: "", names: new Map() },
  ];

  /** The folder of the last key, with its slash. */
  #folder = "";

  /**
   * Looks every part of a key up in its folder, and remembers them when all of them can stand there. Else it returns the
   * names that are alike, or that an object stands where a folder is needed.
   */
  take(key: string): AlikeNames | "no_folder" | undefined {
    const start = key.lastIndexOf("/") + 1;
    // Most keys lie in the folder of the one before.
    if (start === this.#folder.length && key.startsWith(this.#folder)) {
      return this.#takeIn([key.slice(start)]);
    }
    const parts = key.split("/");
    let depth = 0;
    while (depth < parts.length - 1 && this.#open[depth + 1]?.name === parts[depth]) depth++;
    this.#open.length = depth + 1;
    this.#folder = depth === 0 ? "" : `${parts.slice(0, depth).join("/")}/`;
    return this.#takeIn(parts.slice(depth));
  }

  /** Takes what stands in the innermost open folder; its own folders are not open yet, and hold nothing to clash with. */
  #takeIn(parts: readonly string[]): AlikeNames | "no_folder" | undefined {
    const { names } = this.#open.at(-1)!;
    const name = parts[0]!;
    const folded = foldName(name);
    const isFolder = parts.length > 1;
    const seen = names.get(folded);
    if (!seen) names.set(folded, { name, isFolder });
    else if (seen.name !== name) return { name, earlier: seen.name };
    else if (!seen.isFolder || !isFolder) return "no_folder";
    if (!isFolder) return undefined;
    this.#open.push({ name, names: new Map() });
    this.#folder += `${name}/`;
    return this.#takeIn(parts.slice(1));
  }
}

/** Returns both names, quoted, and with their Unicode forms where they would look the same. */
export function toldApart({ name, earlier }: AlikeNames): readonly [name: string, earlier: string] {
  const looksSame = name.normalize("NFC") === earlier.normalize("NFC");
  const told = (text: string) => looksSame ? `"${text}" in ${unicodeForm(text)}` : `"${text}"`;
  return [told(name), told(earlier)];
}

function unicodeForm(text: string): string {
  if (text === text.normalize("NFC")) return "NFC";
  return text === text.normalize("NFD") ? "NFD" : "neither NFC nor NFD";
}

/** Checks the keys of one listing, in byte order. */
export class PlacementCheck {
  readonly #isWindows: boolean;
  readonly #names = new FolderNames();

  constructor(platform: string = process.platform) {
    this.#isWindows = platform === "win32";
  }

  /** Returns why a key cannot be placed, or `undefined`. What was refused takes no name from later keys. */
  refusal(key: string): string | undefined {
    const parts = key.split("/");
    for (const [i, part] of parts.entries()) {
      const why = this.#refusedName(part, { isFirst: i === 0, isLast: i === parts.length - 1 });
      if (why !== undefined) return why;
    }
    const clash = this.#names.take(key);
    if (clash === undefined) return undefined;
    if (clash === "no_folder") return "an object stands where a folder is needed";
    const [name, earlier] = toldApart(clash);
    const own = name === `"${clash.name}"` ? "it" : name;
    return `some disks take ${own} for the same name as ${earlier}`;
  }

  #refusedName(name: string, { isFirst, isLast }: { isFirst: boolean; isLast: boolean }): string | undefined {
    if (name === "") {
      if (isFirst) return "it begins with a slash";
      return isLast ? "it ends with a slash" : "it has two slashes in a row";
    }
    if (isFirst && /^[A-Za-z]:/.test(name)) return "it begins with a drive letter";
    return nameRefusal(name, this.#isWindows);
  }
}

/** Returns why one part of a path is no name that a disk can hold, or `undefined`; an empty one counts as none. */
export function nameRefusal(name: string, isWindows = process.platform === "win32"): string | undefined {
  if (name === "") return "a part of it is empty";
  if (name === "." || name === "..") return `"${name}" names another folder`;
  if (name.includes("\0")) return "it contains a NUL character";
  // A UTF-16 unit is one to three bytes.
  if (name.length * 3 > MOST_NAME_BYTES && utf8(name).length > MOST_NAME_BYTES) {
    return `a part of it is longer than ${MOST_NAME_BYTES} bytes`;
  }
  if (!isWindows) return undefined;
  if (WINDOWS_CHARACTERS.test(name)) {
    return `Windows takes no "${WINDOWS_CHARACTERS.exec(name)![0]}" in a name`;
  }
  if (/[. ]$/.test(name)) return "Windows takes no dot or space at the end of a name";
  return WINDOWS_NAMES.test(name) ? "Windows keeps that name for itself" : undefined;
}

/**
 * Returns a form that is equal for names that some disk takes for one: `straße` and `strasse` too.
 *
 * It tells names apart exactly as Unicode's full case folding does: lower case first, since only that takes the capital sharp s
 * to the small one, which has upper case. The dotless i alone stands apart: its upper case is I, and folding keeps it.
 */
export function foldName(name: string): string {
  if (ASCII.test(name)) return name.toLowerCase();
  return name.normalize("NFD").split("\u0131").map(foldPart).join("\u0131").normalize("NFC");
}

function foldPart(part: string): string {
  return part.toLowerCase().toUpperCase().toLowerCase();
}
