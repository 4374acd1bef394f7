/**
 * Keeps LMDB off network file systems: its locks and its mapped memory hold between the processes of one machine, and there
 * others come in. An open that the file system takes no part of (no shared mapping, no locks) also crashes lmdb-js 3.5.6.
 */

import { CodedError } from "../../base/errors.ts";
import { type FileSystemCalls, fileSystemOf } from "../../base/file_system.ts";

/** Fails with `kv_network_file_system` where a folder is, or would be, on a network file system. */
export function refuseNetwork(folder: string, calls?: FileSystemCalls): void {
  const found = fileSystemOf(folder, calls);
  if (found?.kind !== "network") return;
  throw new CodedError(
    "unsupported",
    "kv_network_file_system",
    `Cannot open the key-value store in "${folder}": it lies on a network file system (${found.name})`,
    { details: { file_system: found.name } },
  );
}
