/**
 * Lock files: exactly what names stood for, as text that reads well in a review.
 *
 * ```
 * # Made by "tarn pin --write"; "tarn fetch --locked" fetches exactly this.
 * tarn-lock 1
 *
 * uri data://acme/sales/tables
 * pin lakefs://acme-sales/4f0c…/tables
 * file 9f86d081… 1204 part-0.csv
 * file 60303ae2… 88 sub/part-1.csv
 * ```
 *
 * One block a URI, sorted by it; the files of a folder sorted by path, both in byte order. Paths are percent-encoded, so a
 * line is a line. A URI that is a file itself has one `file` line without a path. Same content, same bytes: no time, no user.
 */

import { CodedError } from "../base/errors.ts";
import { compareKeys } from "../base/key_order.ts";
import { encodePath, formatUri, parseUri } from "../base/uri.ts";

export interface LockedFile {
  /** In the folder; empty for a URI that is a file. */
  readonly path: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

export interface LockedUri {
  /** As it was asked for. */
  readonly uri: string;
  /** The physical URI with a fixed version. */
  readonly pinned: string;
  readonly files: readonly LockedFile[];
}

const HEADER = `# Made by "tarn pin --write"; "tarn fetch --locked" fetches exactly this.\ntarn-lock 1\n`;

/** Returns the text of a lock file. */
export function formatLock(uris: readonly LockedUri[]): string {
  const blocks = [...uris].sort((a, b) => compareKeys(a.uri, b.uri)).map(formatBlock);
  return HEADER + blocks.join("");
}

function formatBlock({ uri, pinned, files }: LockedUri): string {
  const lines = [...files].sort((a, b) => compareKeys(a.path, b.path)).map(fileLine);
  return `\nuri ${uri}\npin ${pinned}\n${lines.join("")}`;
}

/** Returns the beginning of a lock file of one URI; the lines of its files follow, sorted. */
export function lockHead(uri: string, pinned: string): string {
  return `${HEADER}\nuri ${uri}\npin ${pinned}\n`;
}

/** Returns the line of a file. */
export function fileLine({ path, sha256, sizeBytes }: LockedFile): string {
  return `file ${sha256} ${sizeBytes}${path === "" ? "" : ` ${encodePath(path)}`}\n`;
}

/** Parses a lock file; `shown` is its name. Fails with `invalid_lock_file`, naming the line. */
export function parseLock(text: string, shown: string): readonly LockedUri[] {
  const parsing = new Parsing(shown);
  for (const [index, line] of text.split("\n").entries()) parsing.take(line.replace(/\r$/, ""), index + 1);
  return parsing.end();
}

interface Block {
  readonly uri: string;
  pinned?: string;
  readonly files: LockedFile[];
}

class Parsing {
  readonly #shown: string;
  readonly #blocks: Block[] = [];
  readonly #seen = new Set<string>();
  #hasHead = false;

  constructor(shown: string) {
    this.#shown = shown;
  }

  take(line: string, number: number): void {
    if (line === "" || line.startsWith("#")) return;
    const space = line.indexOf(" ");
    const word = space < 0 ? line : line.slice(0, space), rest = space < 0 ? "" : line.slice(space + 1);
    const refuse = (why: string): never => this.#refuse(number, why);
    if (!this.#hasHead) {
      if (line !== "tarn-lock 1") refuse('it does not begin with "tarn-lock 1"');
      this.#hasHead = true;
    } else if (word === "uri") this.#takeUri(canonical(rest, refuse), refuse);
    else if (word === "pin") this.#takePin(canonical(rest, refuse), refuse);
    else if (word === "file") this.#takeFile(rest, refuse);
    else refuse(`"${word}" is not known; known are uri, pin and file`);
  }

  end(): readonly LockedUri[] {
    if (!this.#hasHead) this.#refuse(1, "it is empty");
    return this.#blocks.map(({ uri, pinned, files }) => {
      if (pinned === undefined) this.#refuse(undefined, `"${uri}" has no pin`);
      return { uri, pinned: pinned!, files };
    });
  }

  #takeUri(uri: string, refuse: (why: string) => never): void {
    if (this.#seen.has(uri)) refuse(`"${uri}" is there twice`);
    this.#seen.add(uri);
    this.#blocks.push({ uri, files: [] });
  }

  #takePin(pinned: string, refuse: (why: string) => never): void {
    const block = this.#blocks.at(-1);
    if (!block) return refuse("a pin stands before the first URI");
    if (block.pinned !== undefined) refuse(`"${block.uri}" has two pins`);
    block.pinned = pinned;
  }

  #takeFile(rest: string, refuse: (why: string) => never): void {
    const block = this.#blocks.at(-1);
    if (!block) return refuse("a file stands before the first URI");
    const match = /^([0-9a-f]{64}) (\d{1,16})(?: (\S+))?$/.exec(rest);
    const sizeBytes = Number(match?.[2]);
    const path = match?.[3] === undefined ? "" : decodedPath(match[3]);
    if (!match || !Number.isSafeInteger(sizeBytes) || path === undefined) {
      return refuse("a file is its SHA-256, its size and its path");
    }
    const before = block.files.at(-1);
    if (before && (before.path === "" || compareKeys(before.path, path) >= 0)) {
      refuse("its files are not sorted by path");
    }
    block.files.push({ path, sha256: match[1]!, sizeBytes });
  }

  #refuse(line: number | undefined, why: string): never {
    const place = line === undefined ? "" : `, line ${line}`;
    throw new CodedError(
      "invalid",
      "invalid_lock_file",
      `Cannot use the lock file "${this.#shown}"${place}: ${why}`,
      { details: { file: this.#shown, ...(line === undefined ? {} : { line }) } },
    );
  }
}

/** Returns the path of a `file` line, or `undefined` when it is none. */
function decodedPath(text: string): string | undefined {
  try {
    const { segments, at } = parseUri(`file:///${text}`);
    return at ? undefined : segments.join("/");
  } catch (error) {
    if (error instanceof CodedError) return undefined;
    throw error;
  }
}

/** A URI in another spelling would be another line for the same thing. */
function canonical(text: string, refuse: (why: string) => never): string {
  try {
    return formatUri(parseUri(text));
  } catch (error) {
    if (error instanceof CodedError) return refuse(error.message);
    throw error;
  }
}
