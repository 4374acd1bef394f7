/** The engine's values in the words of the API. */

import type {
  CommitInfo,
  DiffItem,
  ListItem,
  ObjectStats,
  RefInfo,
  RepositoryInfo,
} from "../../drivers/store.ts";

export function repositoryJson(info: RepositoryInfo): Record<string, unknown> {
  return {
    id: info.id,
    creation_date: info.creationDate,
    default_branch: info.defaultBranch,
    storage_id: "",
    storage_namespace: info.storageNamespace,
    read_only: false,
  };
}

export function refJson(info: RefInfo): { id: string; commit_id: string } {
  return { id: info.id, commit_id: info.commitId };
}

export function commitJson(info: CommitInfo): { id: string } & Record<string, unknown> {
  return {
    id: info.id,
    parents: info.parents,
    committer: info.committer,
    message: info.message,
    creation_date: info.creationDate,
    meta_range_id: info.metaRangeId,
    metadata: info.metadata,
    generation: info.generation,
    version: info.version,
  };
}

/** An object's stats; `hasMetadata` is what the request wants of the user's. */
export function statsJson(
  stats: ObjectStats,
  hasMetadata = true,
): { path: string } & Record<string, unknown> {
  return {
    path: stats.path,
    path_type: "object",
    physical_address: stats.physicalAddress,
    checksum: stats.checksum,
    size_bytes: stats.sizeBytes,
    mtime: Math.floor(stats.mtimeMs / 1000),
    ...(hasMetadata ? { metadata: stats.metadata } : {}),
    content_type: stats.contentType,
  };
}

export function listItemJson(
  item: ListItem,
  hasMetadata: boolean,
): { path: string } & Record<string, unknown> {
  if (item.kind === "object") return statsJson(item.stats, hasMetadata);
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
