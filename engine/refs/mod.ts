/** Refs and commits: names, records in the KV, ref expressions, the graph. */

export { commitId, commitPreimage } from "./commit_id.ts";
export { type Commit, commitOf, Commits, correctedDate, entryOfCommit } from "./commits.ts";
export { parseRefExpression } from "./expression.ts";
export { allAncestors, commitAtTime, CommitQueue, commitsSince, firstParents, mergeBase } from "./history.ts";
export { checkBranchName, checkRepositoryName, checkTagName } from "./names.ts";
export type { BranchState, CommitRecord, RefMove, RefRecord, RepositoryRecord } from "./records.ts";
export { type MoveNote, pointsAt, type RefContent, Refs, type SeenRef } from "./refs.ts";
export { Repositories, repositoryPartition } from "./repositories.ts";
export { RepositoryMetadata } from "./repository_metadata.ts";
export { RepositorySettings } from "./settings.ts";
export { type ResolvedRef, resolveRef } from "./resolve.ts";
