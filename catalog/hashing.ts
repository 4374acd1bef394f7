/** The files of what was fetched, each with its hash: what is there, byte by byte, and not what anybody remembers of it. */

import * as fs from "node:fs";
import { hex } from "../base/bytes.ts";
import { runningHash } from "../base/hashes.ts";
import { inOrder } from "../base/in_flight.ts";
import { localError } from "../base/local_errors.ts";
import { filesIn } from "./local_folder.ts";
import type { LockedFile } from "./lock_file.ts";

const CHUNK_BYTES = 1024 * 1024;

/** Yields the files of a folder by path, or the one file that a path is, under an empty path. */
export async function* hashedFiles(path: string, action: string): AsyncGenerator<LockedFile> {
  if (isFolder(path)) {
    yield* inOrder(
      filesIn(path, action)(),
      async (file) => ({ path: file.key, ...await hashFile(file.path) }),
    );
  } else yield { path: "", ...await hashFile(path) };
}

export function isFolder(path: string): boolean {
  try {
    return fs.statSync(path).isDirectory();
  } catch (error) {
    throw localError(error, `Cannot read "${path}"`);
  }
}

/** Returns the hash and the size of a file, of one and the same reading. */
export async function hashFile(path: string): Promise<{ sha256: string; sizeBytes: number }> {
  let file: fs.promises.FileHandle | undefined;
  try {
    file = await fs.promises.open(path, "r");
    const hash = runningHash("sha256");
    const chunk = new Uint8Array(CHUNK_BYTES);
    let sizeBytes = 0;
    while (true) {
      const { bytesRead } = await file.read(chunk, 0, chunk.length, null);
      if (bytesRead === 0) return { sha256: hex(hash.digest()), sizeBytes };
      hash.update(chunk.subarray(0, bytesRead));
      sizeBytes += bytesRead;
    }
  } catch (error) {
    throw localError(error, `Cannot read "${path}"`);
  } finally {
    await file?.close();
  }
}
