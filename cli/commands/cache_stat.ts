/** `cache stat`: where the cache is, and how much it holds. */

import { type CacheItem, totalOf } from "../../cache/mod.ts";
import { sortedItems } from "../cache_items.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { counted, grouped, humanSize } from "../render/sizes.ts";

export async function run({ catalogs, output }: Context): Promise<number> {
  const cache = await catalogs.openCache();
  const items = await sortedItems(cache);
  const { count: files, sizeBytes: bytes } = totalOf(items);
  const folders = items.filter(({ kind }) => kind === "folder");
  const unfinished = folders.filter(({ isWhole }) => !isWhole).length;
  const { root, maxBytes } = cache;
  output.result(
    {
      root,
      size_bytes: bytes,
      ...(maxBytes === undefined ? {} : { max_size_bytes: maxBytes }),
      folders: folders.length,
      unfinished_folders: unfinished,
      single_files: items.length - folders.length,
      files,
    },
    [
      `Folder:  ${output.shown(root)}`,
      `Holds:   ${humanSize(bytes)} in ${counted(files, "file")}`,
      `Limit:   ${maxBytes === undefined ? "none" : humanSize(maxBytes)}`,
      `Fetched: ${counts(items, folders, unfinished)}`,
    ].join("\n"),
  );
  return EXIT_OK;
}

function counts(items: readonly CacheItem[], folders: readonly CacheItem[], unfinished: number): string {
  const note = unfinished === 0 ? "" : ` (${grouped(unfinished)} unfinished)`;
  return `${counted(folders.length, "folder")}${note}, ${
    counted(items.length - folders.length, "single file")
  }`;
}
