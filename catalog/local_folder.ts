/**
 * The files of a local folder, hidden ones included, in the byte order of their keys.
 *
 * Names are bytes: one that is no UTF-8 is refused, never replaced by another. What is neither a file nor a folder is refused,
 * too: it would be missing without a word.
 */

import * as fs from "node:fs";
import type { Buffer } from "node:buffer";
import { tryUtf8Text, utf8 } from "../base/bytes.ts";
import { CodedError } from "../base/errors.ts";
import { compareKeys } from "../base/key_order.ts";
import { localError } from "../base/local_errors.ts";
import { PlacementCheck } from "../base/placement.ts";

/** A file of a folder; `key` is its path in the folder, with slashes. */
export interface LocalFile {
  readonly path: string;
  readonly key: string;
}

/** The files of a folder. They are gone through twice: once to check all names, and once to put them. */
export type LocalFiles = () => Iterable<LocalFile>;

/** Of the key of an object, in bytes of UTF-8. */
const MOST_KEY_BYTES = 1024;

/** What a write that was killed leaves behind. */
const UNFINISHED = /^\.tarn-[0-9a-f]{16}\.tmp$/;

/**
 * Returns the files of a folder; `action` is what is to be done with them, such as `put`. Going through them fails with
 * `file_unusable`, and as reading folders does.
 */
export function filesIn(folder: string, action = "put"): LocalFiles {
  return () => new Walk(action).files(folder.replace(/(?<=.)\/+$/, ""), "");
}

interface LocalEntry {
  readonly name: string;
  readonly isFolder: boolean;
}

class Walk {
  readonly #action: string;

  constructor(action: string) {
    this.#action = action;
  }

  *files(folder: string, prefix: string): Generator<LocalFile> {
    for (const { name, isFolder } of this.#entries(folder)) {
      const path = below(folder, name);
      if (isFolder) yield* this.files(path, `${prefix}${name}/`);
      else yield { path, key: `${prefix}${name}` };
    }
  }

  #entries(folder: string): LocalEntry[] {
    let names: Buffer[];
    try {
      names = fs.readdirSync(folder, { encoding: "buffer" }) as unknown as Buffer[];
    } catch (error) {
      throw localError(error, `Cannot read "${folder}"`);
    }
    const entries = names.flatMap((bytes) => this.#entry(folder, bytes));
    const order = ({ name, isFolder }: LocalEntry) => isFolder ? `${name}/` : name;
    return entries.sort((a, b) => compareKeys(order(a), order(b)));
  }

  #entry(folder: string, bytes: Buffer): LocalEntry[] {
    const name = tryUtf8Text(bytes);
    if (name === undefined) this.#refuse(below(folder, bytes.toString("latin1")), "its name is not UTF-8");
    const stat = fs.lstatSync(below(folder, name!), { throwIfNoEntry: false });
    if (stat?.isDirectory()) return [{ name: name!, isFolder: true }];
    if (!stat?.isFile()) this.#refuse(below(folder, name!), "it is neither a file nor a folder");
    return UNFINISHED.test(name!) ? [] : [{ name: name!, isFolder: false }];
  }

  #refuse(path: string, why: string): never {
    throw new CodedError("invalid", "file_unusable", `Cannot ${this.#action} "${path}": ${why}`);
  }
}

function below(folder: string, name: string): string {
  return folder === "/" ? `/${name}` : `${folder}/${name}`;
}

/**
 * Yields files whose names have been checked. `before` is what stands before them in the keys of the store.
 *
 * Fails with `unplaceable_key` for names that one disk would merge, or none takes: the folder could never be fetched.
 */
export function* checkedFiles(files: LocalFiles, before: string): Generator<LocalFile> {
  const check = new PlacementCheck();
  for (const file of files()) {
    const { path, key } = file;
    const why = utf8(before + key).length > MOST_KEY_BYTES
      ? `its key would be longer than ${MOST_KEY_BYTES} bytes`
      : check.refusal(key);
    if (why !== undefined) {
      throw new CodedError("invalid", "unplaceable_key", `Cannot put "${path}": ${why}`, {
        details: { path },
      });
    }
    yield file;
  }
}
