/**
 * Where a key lies under the root: at the same relative path. The one place that decides which keys this driver can
 * hold; symlinks inside the root are the business of `folders.ts`.
 */

import { isAbsolute } from "node:path";
import process from "node:process";
import { hex } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { systemRandomness } from "../../base/randomness.ts";

/** How names of unfinished puts begin. No key has such a segment, and no listing shows one. */
export const TEMPORARY_PREFIX = ".tarn-tmp-";

const MAX_SEGMENT_BYTES = 255;
/** No system takes a longer path; most take less, and then answer for themselves. */
const MAX_PATH_BYTES = 4095;
const WINDOWS_DEVICE =
  /^(con|prn|aux|nul|com[0-9\u00b9\u00b2\u00b3]|lpt[0-9\u00b9\u00b2\u00b3]|conin\$|conout\$)(\.|$)/i;

/** A key, the folder that holds it (relative to the root, "" for the root itself), and its full path. */
export interface Place {
  readonly key: string;
  readonly folder: string;
  readonly path: string;
}

/** Maps keys to paths under one root. */
export class Placement {
  /** Absolute, without a trailing slash (but "/" itself). */
  readonly root: string;
  readonly #platform: string;

  /** Fails with `invalid_root` unless `root` is absolute. */
  constructor(root: string, platform: string = process.platform) {
    if (!isAbsolute(root) || root.includes("\0")) {
      throw new CodedError("invalid", "invalid_root", `Cannot use folder "${root}": it is no absolute path`);
    }
    this.root = root.length > 1 ? root.replace(/\/+$/, "") || "/" : root;
    this.#platform = platform;
  }

  /** Returns where a key lies. Fails with `unplaceable_key`. */
  place(key: string): Place {
    const why = whyUnplaceable(key, this.#platform);
    if (why) throw unplaceable(key, why);
    return { key, folder: parentOf(key), path: this.pathOf(key) };
  }

  /** Returns whether a key or a folder of keys could lie here. */
  isPlaceable(key: string): boolean {
    return whyUnplaceable(key, this.#platform) === undefined;
  }

  /** Returns the full path of a folder or key that has been checked. */
  pathOf(relative: string): string {
    if (relative === "") return this.root;
    return this.root === "/" ? `/${relative}` : `${this.root}/${relative}`;
  }
}

/** Returns the folder of a relative path, "" for one that lies in the root itself. */
export function parentOf(relative: string): string {
  return relative.slice(0, Math.max(0, relative.lastIndexOf("/")));
}

/** Returns a new name for an unfinished put, relative to the root as a key is. */
export function temporaryIn(folder: string): string {
  const name = TEMPORARY_PREFIX + hex(systemRandomness.bytes(12));
  return folder === "" ? name : `${folder}/${name}`;
}

/** Returns the error for a key that cannot be held. */
export function unplaceable(key: string, why: string, cause?: unknown): CodedError {
  return new CodedError("invalid", "unplaceable_key", `Cannot use key "${key}": ${why}`, {
    details: { key },
    cause,
  });
}

/** Returns why no file can have this key as its relative path, or `undefined`. */
export function whyUnplaceable(key: string, platform: string): string | undefined {
  if (key.length > MAX_PATH_BYTES) return "its path would be too long";
  let start = 0;
  let bytes = 0;
  for (let i = 0; i <= key.length; i++) {
    const unit = i < key.length ? key.charCodeAt(i) : 0x2f;
    if (unit === 0x2f) {
      const why = whyNoSegment(key.slice(start, i), bytes, platform);
      if (why) return why;
      start = i + 1;
      bytes = 0;
    } else if (unit === 0) {
      return "it contains a NUL character";
    } else if (unit < 0x80) {
      bytes += 1;
    } else if (unit < 0x800) {
      bytes += 2;
    } else if (unit < 0xd800 || unit > 0xdfff) {
      bytes += 3;
    } else {
      const next = i + 1 < key.length ? key.charCodeAt(i + 1) : 0;
      if (unit > 0xdbff || next < 0xdc00 || next > 0xdfff) return "it has no UTF-8 form";
      bytes += 4;
      i++;
    }
  }
  return undefined;
}

function whyNoSegment(segment: string, bytes: number, platform: string): string | undefined {
  if (segment === "") return "a part of it is empty";
  if (segment === "." || segment === "..") return `"${segment}" is no name of a file`;
  if (segment.startsWith(TEMPORARY_PREFIX)) return `names that begin with "${TEMPORARY_PREFIX}" are taken`;
  if (platform === "win32") return whyNoWindowsSegment(segment);
  if (bytes > MAX_SEGMENT_BYTES) return `a part of it has more than ${MAX_SEGMENT_BYTES} bytes`;
  return undefined;
}

function whyNoWindowsSegment(segment: string): string | undefined {
  if (segment.length > MAX_SEGMENT_BYTES) return `a part of it has more than ${MAX_SEGMENT_BYTES} characters`;
  if (/[\x00-\x1f<>:"|?*\\]/.test(segment)) return "it contains a character that Windows does not take";
  if (/[. ]$/.test(segment)) return "a part of it ends in a dot or a space";
  if (WINDOWS_DEVICE.test(segment)) return "a part of it is the name of a device";
  return undefined;
}
