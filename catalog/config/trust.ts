/**
 * Which configurations a user has read and trusts, each by its path and the SHA-256 of its bytes: a file that changes, or
 * moves, is not trusted any more. A record is a file of its own in `trusted/` of the user's configuration folder.
 */

import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { hex, utf8 } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { sha256 } from "../../base/hashes.ts";
import { type Randomness, systemRandomness } from "../../base/randomness.ts";

/** Returns whether the user trusts a file with these bytes. */
export function isTrusted(userConfigFolder: string, path: string, bytes: Uint8Array): boolean {
  try {
    const record = JSON.parse(fs.readFileSync(recordOf(userConfigFolder, path), "utf8")) as unknown;
    return (record as { sha256?: unknown } | null)?.sha256 === hex(sha256(bytes));
  } catch {
    // None, or none that can be read: then it is to be said again.
    return false;
  }
}

/** Notes that the user trusts a file with these bytes; returns their SHA-256. Durable. Fails with `file_unavailable`. */
export function trust(
  userConfigFolder: string,
  path: string,
  bytes: Uint8Array,
  randomness: Randomness = systemRandomness,
): string {
  const digest = hex(sha256(bytes));
  const record = recordOf(userConfigFolder, path);
  const temporary = `${record}.${hex(randomness.bytes(8))}.tmp`;
  try {
    fs.mkdirSync(join(userConfigFolder, "trusted"), { recursive: true, mode: 0o700 });
    const file = fs.openSync(temporary, "wx", 0o600);
    try {
      fs.writeFileSync(file, `${JSON.stringify({ file: path, sha256: digest })}\n`);
      fs.fsyncSync(file);
    } finally {
      fs.closeSync(file);
    }
    fs.renameSync(temporary, record);
    flushFolder(join(userConfigFolder, "trusted"));
  } catch (error) {
    fs.rmSync(temporary, { force: true });
    const { code } = error as { code?: string };
    throw new CodedError(
      "unavailable",
      "file_unavailable",
      `Cannot note that "${path}" is trusted: ${code ?? "writing failed"}`,
      { cause: error },
    );
  }
  return digest;
}

function recordOf(userConfigFolder: string, path: string): string {
  return join(userConfigFolder, "trusted", `${hex(sha256(utf8(fs.realpathSync(path))))}.json`);
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
