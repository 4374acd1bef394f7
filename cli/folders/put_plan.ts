/** What a put of a folder has to do with each of its files, before any is read. */

import { hex } from "../../base/bytes.ts";
import type { ObjectStats, PutObjectOptions, Store } from "../../drivers/store.ts";
import { type AlikeNames, FolderNames } from "../../base/placement.ts";
import { ExistingObjects } from "./existing.ts";
import type { IndexedTree } from "./file_index.ts";
import { localError } from "./local_files.ts";
import type { PutIndex, Slot } from "./put_index.ts";
import { type LeftOut, type WalkedFile, type WalkedItem, walkFolder, type WalkOptions } from "./walk.ts";

export interface FolderToPut {
  readonly store: Store;
  readonly repository: string;
  readonly branch: string;
  /** What each key begins with: empty, or ending in `/`. */
  readonly prefix: string;
  readonly folder: string;
  readonly options: PutObjectOptions;
  readonly walk?: WalkOptions;
  /** Read every file, whatever the index says. */
  readonly reread?: boolean;
  /** Put every file, whatever is there already: before the files are deleted. */
  readonly putsAll?: boolean;
}

/** A file that has to be read: to be put, or to be compared with what is there. */
export interface FileToRead {
  readonly file: WalkedFile;
  readonly slot: Slot;
  readonly existing: ObjectStats | undefined;
}

/** Told of what needs no reading. */
export interface PlanEvents {
  readonly unchanged: (slot: Slot, sha256: () => Uint8Array) => void;
  readonly ignored: (key: string) => void;
  readonly leftOut: (item: LeftOut) => void;
  readonly alike: (names: AlikeNames) => void;
}

/** The version of a repository that a put is compared with. */
export interface BaseVersion {
  readonly ref: string;
  /** Present when nothing is staged: then the commit is all that the branch shows. */
  readonly tree?: IndexedTree;
}

/** Returns the version that a branch shows now. */
export async function baseVersion(
  { store, repository, branch, prefix, options }: FolderToPut,
): Promise<BaseVersion> {
  // In this order, so that what is staged and committed in between is in the commit.
  for await (const page of store.status(repository, branch, { amount: 1 })) {
    if (page.length > 0) return { ref: branch };
  }
  const { commitId } = await store.getBranch(repository, branch);
  const { metaRangeId } = await store.getCommit(repository, commitId);
  // What a put does not name it takes as it is: another statement than one about the default.
  const { contentType = null, metadata = null } = options;
  return { ref: commitId, tree: { metaRangeId, prefix, contentType, metadata } };
}

/** Yields the files to read, in the order of their keys. */
export async function* planPut(
  what: FolderToPut,
  { index, base, events }: { index: PutIndex; base: BaseVersion; events: PlanEvents },
): AsyncGenerator<FileToRead> {
  const objects = new ExistingObjects(what.store, { ...what, ref: base.ref });
  const isIndexedTree = base.tree !== undefined && JSON.stringify(base.tree) === JSON.stringify(index.tree);
  const names = new FolderNames();
  for (const item of walk(what)) {
    const clash = item.kind === "file" ? names.take(item.key) : undefined;
    if (clash && clash !== "no_folder") events.alike(clash);
    if (item.kind === "ignored") events.ignored(item.key);
    else if (item.kind === "left_out") events.leftOut(item);
    else {
      const slot = index.slot(item.key, item.path);
      if (what.putsAll) {
        yield { file: item, slot, existing: undefined };
        continue;
      }
      const known = index.known(slot);
      let existing: ObjectStats | undefined;
      let isSame = known !== undefined && isIndexedTree;
      if (!isSame) {
        const found = objects.find(what.prefix + item.key);
        existing = found instanceof Promise ? await found : found;
        isSame = known !== undefined && couldBe(existing, known.state.size, what.options) &&
          existing!.sha256 === hex(known.sha256);
      }
      if (isSame) {
        index.keep(slot, known!);
        events.unchanged(slot, () => known!.sha256);
      } else yield { file: item, slot, existing };
    }
  }
}

function* walk({ folder, walk }: FolderToPut): Generator<WalkedItem> {
  try {
    yield* walkFolder(folder, walk);
  } catch (error) {
    throw localError(error, `Cannot read "${folder}"`);
  }
}

/**
 * Whether an object may be what a put would make: then only its bytes are left to compare. A content type or metadata that
 * the put does not name stays as it is.
 */
export function couldBe(
  existing: ObjectStats | undefined,
  size: number,
  { contentType, metadata }: PutObjectOptions,
): boolean {
  if (existing?.sha256 === undefined || existing.sizeBytes !== size) return false;
  if (contentType !== undefined && existing.contentType !== contentType) return false;
  const names = Object.keys(metadata ?? existing.metadata);
  return names.length === Object.keys(existing.metadata).length &&
    names.every((name) => existing.metadata[name] === (metadata ?? existing.metadata)[name]);
}
