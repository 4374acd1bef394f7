/**
 * A database that cannot be written to: on a read-only disk (a mounted image, a volume that is mounted read-only), or one
 * whose owner took the permission away. It is read like any other.
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
