/** The files of committed data as they are: ranges and metaranges, for those who read the format themselves. */

import { CodedError } from "../../base/errors.ts";
import type { CommittedFile } from "../../drivers/settings.ts";
import { isFileId } from "../committed/mod.ts";
import type { Repository } from "../repository.ts";

const TYPES = { range: "ranges", meta_range: "metaranges" } as const;

/**
 * Finds a range's or metarange's file. The ID is checked before anything is done with it: it becomes a part of a path. Fails
 * with `invalid_id`, `committed_file_not_found`.
 */
export async function committedFile(
  repository: Repository,
  kind: "range" | "meta_range",
  id: string,
): Promise<CommittedFile> {
  if (!isFileId(id)) {
    throw new CodedError(
      "invalid",
      "invalid_id",
      `Cannot find a ${kind}: its ID must be 64 digits 0-9 and a-f`,
    );
  }
  const { objects, files } = repository;
  const key = `_lakefs/${id}`;
  const info = await objects.head(key);
  const type = info && (await files.open(id)).userProperties.type;
  // Files of old writers do not tell what they are.
  if (!info || (type !== undefined && type !== TYPES[kind])) {
    throw new CodedError(
      "not_found",
      "committed_file_not_found",
      `Cannot find ${kind} "${id}": there is none of that ID`,
      { details: { id } },
    );
  }
  return {
    location: objects.locate(key),
    sizeBytes: info.sizeBytes,
    open: async (signal) => (await objects.get(key, signal ? { signal } : {})).body,
  };
}
