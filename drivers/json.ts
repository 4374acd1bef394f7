/** What stores tell, in the words of the lakeFS API: what `--json` prints and `tarn serve` answers. */

import type { CommitInfo, ObjectStats, RefInfo, RepositoryInfo } from "./store.ts";

export function repositoryJson(repository: RepositoryInfo): Record<string, unknown> {
  return {
    id: repository.id,
    creation_date: repository.creationDate,
    default_branch: repository.defaultBranch,
    storage_namespace: repository.storageNamespace,
  };
}

/** A branch or tag. */
export function refJson(ref: RefInfo): { id: string; commit_id: string } {
  return { id: ref.id, commit_id: ref.commitId };
}

export function commitJson(commit: CommitInfo): { id: string } & Record<string, unknown> {
  return {
    id: commit.id,
    parents: commit.parents,
    committer: commit.committer,
    message: commit.message,
    creation_date: commit.creationDate,
    meta_range_id: commit.metaRangeId,
    metadata: commit.metadata,
    generation: commit.generation,
    version: commit.version,
  };
}

/** An object; `hasMetadata` is whether the user's is wanted. */
export function objectJson(
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
