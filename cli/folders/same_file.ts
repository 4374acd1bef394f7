/** Whether a local file holds an object's bytes already: then it need not be written again, and nobody sees it change. */

import * as fs from "node:fs";
import { equalBytes, fromHex } from "../../base/bytes.ts";
import { sha256 } from "../../base/hashes.ts";
import type { ObjectStats } from "../../drivers/store.ts";
import { contentHash, type OpenFile, openWalked, readWhole, requireStill } from "./local_files.ts";

/** Up to this size a file is read at once. */
const SMALL_BYTES = 1024 * 1024;

/**
 * Returns whether a file is a regular one with the bytes of an object, told by their SHA-256. One that is a symlink, cannot be
 * read or changes meanwhile is not, nor is one with a second name: that may be the object's own file. `flush` makes one that is survive power loss: whoever wrote it may not have.
 */
export async function isSameFile(
  path: string,
  { sizeBytes, sha256 }: Pick<ObjectStats, "sizeBytes" | "sha256">,
  { flush }: { readonly flush: boolean },
): Promise<boolean> {
  const wanted = sha256 === undefined ? undefined : fromHex(sha256);
  if (!wanted || !mayBeSame(path, sizeBytes)) return false;
  let open: OpenFile | undefined;
  try {
    open = openWalked(path);
    if (!open.stat.isFile() || open.stat.size !== sizeBytes || open.stat.nlink > 1) return false;
    const found = sizeBytes <= SMALL_BYTES ? smallHash(open) : await contentHash(open);
    if (!found || !equalBytes(found, wanted)) return false;
    requireStill(open, path, sizeBytes);
    if (flush) fs.fdatasyncSync(open.descriptor);
    return true;
  } catch {
    return false;
  } finally {
    if (open) fs.closeSync(open.descriptor);
  }
}

/** Most that differ do so in size. */
function mayBeSame(path: string, sizeBytes: number): boolean {
  try {
    const stat = fs.lstatSync(path, { throwIfNoEntry: false });
    return stat?.isFile() === true && stat.size === sizeBytes;
  } catch {
    return false;
  }
}

function smallHash(open: OpenFile): Uint8Array | undefined {
  const bytes = readWhole(open);
  return bytes && sha256(bytes);
}
