/**
 * A database that cannot be written to: on a read-only disk (a mounted image, a volume that is mounted read-only), or one
 * whose owner took the permission away.
 *
 * LMDB then opens without its own lock file, and so is in no table that keeps writers from using pages again that somebody
 * reads. Writers there may be all the same: the disk that is read-only here may be written to elsewhere. What holds between
 * processes of one machine is the lock of ours (`writer_lock.ts`): it can be held through a file that is open for reading, and
 * whoever writes holds it. So each read holds it too, and sees one state.
 */

import { accessSync, constants } from "node:fs";

/** Returns whether a file is there and cannot be written to; what else is wrong with it is found by opening it. */
export function isReadOnly(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return false;
  } catch (error) {
    const { code } = error as { code?: unknown };
    return code === "EROFS" || ((code === "EACCES" || code === "EPERM") && isReadable(path));
  }
}

function isReadable(path: string): boolean {
  try {
    accessSync(path, constants.R_OK);
    return true;
  } catch {
    return false;
  }
}
