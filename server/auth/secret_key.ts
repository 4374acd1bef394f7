/**
 * The key under which secrets lie sealed: 32 bytes, as hex, in a file that only its owner may read. What is sealed and what
 * is signed use keys derived from it, one for each purpose.
 */

import {
  closeSync,
  fsyncSync,
  linkSync,
  openSync,
  readFileSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { hkdfSync } from "node:crypto";
import { dirname } from "node:path";
import process from "node:process";
import { fromHex, hex } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import type { Randomness } from "../../base/randomness.ts";

const KEY_BYTES = 32;

/** Returns the key of a purpose. */
export function derivedKey(secretKey: Uint8Array, purpose: string): Uint8Array {
  return new Uint8Array(hkdfSync("sha256", secretKey, new Uint8Array(0), `tarn ${purpose}`, KEY_BYTES));
}

/** Reads the key. Fails with `secret_key_missing`, `secret_key_exposed`, `secret_key_invalid`. */
export function readSecretKey(path: string): Uint8Array {
  let text: string;
  try {
    const { mode } = statSync(path);
    if (process.platform !== "win32" && (mode & 0o077) !== 0) {
      throw new CodedError(
        "forbidden",
        "secret_key_exposed",
        `Cannot use the key of the sealed secrets: others than its owner may use the file "${path}"`,
      );
    }
    text = readFileSync(path, "utf8");
  } catch (error) {
    if (error instanceof CodedError) throw error;
    throw new CodedError(
      "unavailable",
      "secret_key_missing",
      `Cannot open the sealed secrets: the key file "${path}" cannot be read`,
      { cause: error },
    );
  }
  const key = fromHex(text.trim());
  if (key?.length === KEY_BYTES) return key;
  throw new CodedError(
    "invalid",
    "secret_key_invalid",
    `Cannot use the key of the sealed secrets: the file "${path}" does not hold 64 hexadecimal digits`,
  );
}

/** Fails as {@link readSecretKey} does for a file that cannot be used, or has no folder to be made in. */
export function checkSecretKey(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })) readSecretKey(path);
  else if (!statSync(dirname(path), { throwIfNoEntry: false })?.isDirectory()) throw notMade(path);
}

/** Reads the key; makes the file first if it is not there. Of two that make it at once, both get the same key. */
export function readOrMakeSecretKey(path: string, randomness: Randomness): Uint8Array {
  if (statSync(path, { throwIfNoEntry: false })) return readSecretKey(path);
  const temporary = `${path}.${hex(randomness.bytes(8))}.tmp`;
  const file = create(temporary, path);
  try {
    writeFileSync(file, `${hex(randomness.bytes(KEY_BYTES))}\n`);
    fsyncSync(file);
    linkSync(temporary, path);
    flushFolder(dirname(path));
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") throw error;
  } finally {
    closeSync(file);
    unlinkSync(temporary);
  }
  return readSecretKey(path);
}

function create(temporary: string, path: string): number {
  try {
    return openSync(temporary, "wx", 0o600);
  } catch (error) {
    throw notMade(path, error);
  }
}

function notMade(path: string, cause?: unknown): CodedError {
  return new CodedError(
    "unavailable",
    "secret_key_missing",
    `Cannot seal secrets: the key file "${path}" is not there and cannot be made`,
    { cause },
  );
}

function flushFolder(folder: string): void {
  if (process.platform === "win32") return;
  const handle = openSync(folder, "r");
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
