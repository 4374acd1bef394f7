/**
 * Creating a repository: first commit, then branch, the repository record last. A kill at any step leaves the name free
 * and only garbage behind.
 */

import { utf8 } from "../../base/bytes.ts";
import { timestampOf } from "../../base/clock.ts";
import { CodedError, isCoded } from "../../base/errors.ts";
import { type Chunking, DEFAULT_CHUNKING, NO_METARANGE } from "../committed/mod.ts";
import { newId } from "../objects/mod.ts";
import {
  checkBranchName,
  checkRepositoryName,
  Commits,
  correctedDate,
  Refs,
  Repositories,
  repositoryPartition,
  type RepositoryRecord,
} from "../refs/mod.ts";
import { type EngineContext, newToken } from "../repository.ts";

export interface CreateRepositoryOptions {
  readonly storageNamespace?: string;
  readonly defaultBranch?: string;
  readonly chunking?: Partial<Chunking>;
  readonly committer: string;
}

const MAX_RAGGEDNESS = 2 ** 26;

/** Makes a repository with its first commit and default branch; durable when it returns. */
export async function createRepository(
  context: EngineContext,
  name: string,
  options: CreateRepositoryOptions,
): Promise<RepositoryRecord> {
  const repositories = new Repositories(context.kv);
  const record = await newRecord(context, name, options);
  await takeNamespace(context, record);
  await createFirstCommit(context, record, options.committer);
  await repositories.publish(record);
  await withdrawIfShared(repositories, record);
  return record;
}

/**
 * Fails as {@link createRepository} would. Records nothing, and of a home that is not there yet makes nothing; a storage
 * namespace elsewhere is made, last of all.
 */
export async function checkNewRepository(
  context: EngineContext,
  name: string,
  options: CreateRepositoryOptions,
): Promise<void> {
  const record = await newRecord(context, name, options);
  // Where none is named, it lies in the home.
  if (options.storageNamespace === undefined) return;
  try {
    await takeNamespace(context, record);
  } catch (error) {
    // One that is named may lie in the home, too.
    if (!isCoded(error, "storage_missing")) throw error;
  }
}

/** Returns the record of a repository that can be made. */
async function newRecord(
  context: EngineContext,
  name: string,
  options: CreateRepositoryOptions,
): Promise<RepositoryRecord> {
  checkRepositoryName(name);
  const defaultBranch = checkBranchName(options.defaultBranch ?? "main");
  const chunking = checkChunking({ ...DEFAULT_CHUNKING, ...options.chunking });
  const repositories = new Repositories(context.kv);
  await repositories.checkFree(name);
  const instanceUid = newId(context.clock, context.randomness);
  const record: RepositoryRecord = {
    id: name,
    storageNamespace: options.storageNamespace === undefined
      ? context.defaultNamespace(name, instanceUid)
      : context.canonicalNamespace(options.storageNamespace),
    defaultBranch,
    creationDate: timestampOf(context.clock.now()),
    isDeleted: false,
    instanceUid,
    chunking,
  };
  await checkNamespace(repositories, record);
  return record;
}

async function createFirstCommit(
  context: EngineContext,
  record: RepositoryRecord,
  who: string,
): Promise<void> {
  const partition = utf8(repositoryPartition(record));
  const commit = await new Commits(context.kv, partition).put({
    committer: who,
    message: "Repository created",
    creationDate: record.creationDate,
    metaRangeId: NO_METARANGE,
    metadata: {},
    parents: [],
    generation: 1,
    correctedDate: correctedDate(record.creationDate, [])!,
  });
  const branch = { commitId: commit.id, stagingToken: newToken(record, context), sealedTokens: [] };
  await new Refs(context.kv, partition, context).create(
    { name: record.defaultBranch, isDeleted: false, branch },
    { operation: "repo create", who },
  );
}

/** Refuses a storage namespace that lies within another repository's or around it. */
async function checkNamespace(repositories: Repositories, record: RepositoryRecord): Promise<void> {
  const mine = withSlash(record.storageNamespace);
  for await (const page of repositories.list()) {
    for (const other of page) {
      if (other.instanceUid === record.instanceUid) continue;
      const theirs = withSlash(other.storageNamespace);
      if (mine.startsWith(theirs) || theirs.startsWith(mine)) {
        refuseNamespace(record, `repository "${other.id}" uses it`);
      }
    }
  }
}

/**
 * Looks again once the repository is visible. Of two that were created at once in one namespace, the one that became
 * visible later sees the other, and withdraws.
 */
async function withdrawIfShared(repositories: Repositories, record: RepositoryRecord): Promise<void> {
  try {
    await checkNamespace(repositories, record);
  } catch (error) {
    await repositories.remove(record.id);
    throw error;
  }
}

/** Makes the place of the storage namespace; refuses one that holds data already. */
async function takeNamespace(context: EngineContext, record: RepositoryRecord): Promise<void> {
  const objects = await context.openObjects(record.storageNamespace);
  await objects.prepare?.();
  for (const prefix of ["_lakefs/", "data/"]) {
    for await (const page of objects.pages({ prefix, pageSize: 1 })) {
      if (page.objects.length > 0) refuseNamespace(record, "it holds data already");
    }
  }
}

function withSlash(namespace: string): string {
  return namespace.endsWith("/") ? namespace : `${namespace}/`;
}

function refuseNamespace(record: RepositoryRecord, why: string): never {
  throw new CodedError(
    "exists",
    "namespace_in_use",
    `Cannot create repository "${record.id}" in "${record.storageNamespace}": ${why}`,
    { details: { storage_namespace: record.storageNamespace } },
  );
}

function checkChunking(chunking: Chunking): Chunking {
  const { minSizeBytes, maxSizeBytes, raggedness } = chunking;
  const isWhole = (value: number, low: number, high: number) =>
    Number.isInteger(value) && value >= low && value <= high;
  if (!isWhole(raggedness, 1, MAX_RAGGEDNESS)) {
    refuseChunking(`raggedness must be a whole number from 1 to ${MAX_RAGGEDNESS}`);
  }
  if (!isWhole(maxSizeBytes, 1, 2 ** 30) || !isWhole(minSizeBytes, 0, maxSizeBytes)) {
    refuseChunking("the sizes of ranges must be whole numbers, 0 <= minimum <= maximum <= 1 GiB");
  }
  return chunking;
}

function refuseChunking(why: string): never {
  throw new CodedError("invalid", "invalid_chunking", `Cannot create repository: ${why}`);
}
