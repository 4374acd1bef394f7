/** A folder that is put: its files one by one, each through the spot `put`, after the names of all were checked. */

import { formatUri, parseUri } from "../base/uri.ts";
import { runInFlight } from "../base/in_flight.ts";
import type { CallOptions, Entry } from "../drivers/catalog_store.ts";
import type { Calls } from "./calls.ts";
import { checkedFiles, type LocalFiles } from "./local_folder.ts";
import { below, type Target } from "./targets.ts";

export interface PutFolderOptions extends CallOptions {
  /** Is told of each file that is written. */
  readonly onFile?: (entry: Entry, key: string) => void;
}

/**
 * Puts files under a URI; returns its folder, with the bytes of all. When one fails, those before it are written.
 *
 * Fails with `unplaceable_key`, before anything is written, for names that a folder of the store could never be fetched with.
 */
export async function putFolder(
  calls: Calls,
  target: Target,
  { files, onFile, ...options }: PutFolderOptions & { readonly files: LocalFiles },
): Promise<Entry> {
  const folder = parseUri(target.physical);
  const before = below(folder, [""]).segments.join("/");
  // A store that cannot be written is told before the folder is read through.
  await calls.checkChangeable(target, "write");
  for (const _ of checkedFiles(files, before));
  let sizeBytes = 0;
  // The folder may have changed meanwhile: names are checked again as they come.
  await runInFlight(checkedFiles(files, before), async ({ path, key }) => {
    const physical = formatUri(below(folder, key.split("/")));
    const entry = await calls.put({ ...target, physical }, { path }, { path: key, ...options });
    sizeBytes += entry.sizeBytes ?? 0;
    onFile?.(entry, key);
  });
  const name = folder.segments.findLast((part) => part !== "") ?? folder.place;
  return { name, kind: "folder", sizeBytes };
}
