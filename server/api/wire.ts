/** What the API says beyond what all of us say of a store (`drivers/json.ts`). */

import { objectJson, repositoryJson } from "../../drivers/store.ts";
import type { DiffItem, ListItem, RepositoryInfo } from "../../drivers/store.ts";

export function servedRepositoryJson(info: RepositoryInfo): Record<string, unknown> {
  return { ...repositoryJson(info), storage_id: "", read_only: false };
}

export function listItemJson(
  item: ListItem,
  hasMetadata: boolean,
): { path: string } & Record<string, unknown> {
  if (item.kind === "object") return objectJson(item.stats, hasMetadata);
  return {
    path: item.path,
    path_type: "common_prefix",
    physical_address: "",
    checksum: "",
    mtime: 0,
    size_bytes: 0,
  };
}

/** A difference; `hasRight` is whether the request wants what the right side has. */
export function diffJson(item: DiffItem, hasRight = false): { path: string } & Record<string, unknown> {
  const { right } = item;
  return {
    type: item.pathType === "common_prefix" ? "prefix_changed" : item.type,
    path: item.path,
    path_type: item.pathType,
    size_bytes: item.sizeBytes,
    ...(hasRight && right
      ? {
        right: {
          checksum: right.checksum,
          mtime: Math.floor(right.mtimeMs / 1000),
          content_type: right.contentType,
          metadata: right.metadata,
        },
      }
      : {}),
  };
}
