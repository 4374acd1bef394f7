/** Commit: staged changes become ranges, a metarange, a commit record, and the branch's new head. */

import { compareBytes, isWellFormed, utf8 } from "../../base/bytes.ts";
import { timestampOf } from "../../base/clock.ts";
import { CodedError, throwIfAborted } from "../../base/errors.ts";
import { MAX_COMMIT_TEXT_BYTES } from "../../base/limits.ts";
import type { CommitOptions } from "../../drivers/store.ts";
import { type Applied, applyChanges, type Change } from "../committed/mod.ts";
import { type Commit, commitOf, correctedDate } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import { isTokenEmpty, type StagedRecord, stagedRecords } from "../staging/mod.ts";
import { findBranch, land, type Landing, type Sample } from "./landing.ts";
import { PathFilter } from "./path_filter.ts";
import { refuseProtected } from "./protection.ts";
import { copyRest } from "./rest.ts";
import { UnflushedObjects } from "./unflushed.ts";
import { tokensOf } from "./view.ts";

/**
 * Commits what is staged on a branch, or with `paths` the part of it that lies under them; durable when it returns. Fails
 * with `no_changes`, `try_again`.
 */
export async function commitBranch(
  repository: Repository,
  branch: string,
  options: CommitOptions,
): Promise<Commit> {
  checkCommitText(options);
  await refuseProtected(repository, branch, "commit");
  const filter = options.paths && new PathFilter(options.paths);
  if (!options.allowEmpty) await refuseNothingStaged(repository, branch, filter);
  const { signal } = options;
  const outcome = await land(repository, branch, async (sample) => {
    const parent = await repository.commits.get(sample.commitId);
    const applied = await applyStaged(repository, { parent, sample, filter, signal });
    const note = { operation: "commit", who: options.committer };
    const rest = filter && await copyRest(repository, sample, (key) => !filter.includes(key));
    const landing = { note, ...(rest === undefined ? {} : { rest }) };
    if (!hasChanged(applied) && !options.allowEmpty) {
      // Only no-changes were staged: they go, the branch stays where it is.
      return { landing: { ...landing, commitId: parent.id } satisfies Landing, result: undefined };
    }
    const commit = await prepareCommit(repository, applied, {
      parents: [parent],
      committer: options.committer,
      message: options.message,
      metadata: options.metadata ?? {},
      ...(options.date === undefined ? {} : { date: options.date }),
    });
    return { landing: { ...landing, commitId: commit.id, commit }, result: commit };
  }, { signal });
  return outcome ?? refuseNoChanges(branch, filter);
}

/** What a commit is made of, beside its metarange. */
export interface CommitText {
  /** First parent first. */
  readonly parents: readonly Commit[];
  readonly committer: string;
  readonly message: string;
  readonly metadata: Readonly<Record<string, string>>;
  /** Seconds since the epoch; default now. */
  readonly date?: number;
}

/**
 * Flushes a new metarange and its new ranges, whoever wrote them, and makes the commit, which is stored when it lands: in
 * this order, so that no durable record ever names what power loss may still take.
 */
export async function prepareCommit(
  repository: Repository,
  metarange: { readonly id: string; readonly newRanges: readonly string[] },
  text: CommitText,
): Promise<Commit> {
  await repository.files.flush([...metarange.newRanges, ...(metarange.id === "" ? [] : [metarange.id])]);
  const creationDate = timestampOf(text.date === undefined ? repository.clock.now() : text.date * 1000);
  const corrected = correctedDate(creationDate, text.parents);
  return commitOf({
    committer: text.committer,
    message: text.message,
    metadata: text.metadata,
    metaRangeId: metarange.id,
    creationDate,
    parents: text.parents.map(({ id }) => id),
    generation: 1 + Math.max(0, ...text.parents.map(({ generation }) => generation)),
    ...(corrected === undefined ? {} : { correctedDate: corrected }),
  });
}

/** Refuses commit messages and metadata that are no text or too long. */
export function checkCommitText(
  text: { message: string; metadata?: Readonly<Record<string, string>>; allowEmptyMessage?: boolean },
): void {
  if (text.message === "" && !text.allowEmptyMessage) {
    throw new CodedError("invalid", "empty_message", "Cannot commit: the message is empty");
  }
  const parts = [text.message, ...Object.entries(text.metadata ?? {}).flat()];
  if (!parts.every(isWellFormed)) {
    throw new CodedError(
      "invalid",
      "invalid_metadata",
      "Cannot commit: the message or metadata is not valid text",
    );
  }
  const size = parts.reduce((sum, part) => sum + utf8(part).length, 0);
  if (size <= MAX_COMMIT_TEXT_BYTES) return;
  throw new CodedError(
    "invalid",
    "limit_exceeded",
    `Cannot commit: message and metadata have ${size} bytes, and at most ${MAX_COMMIT_TEXT_BYTES} are allowed`,
  );
}

/** Fails before anything is touched when no token holds a record, or none under the paths. */
async function refuseNothingStaged(
  repository: Repository,
  branch: string,
  filter: PathFilter | undefined,
): Promise<void> {
  for (let seen = await findBranch(repository, branch);;) {
    for (const token of tokensOf(seen.state)) {
      if (filter ? await holdsAny(repository, token, filter) : !(await isTokenEmpty(repository.kv, token))) {
        return;
      }
    }
    // Of a token that was dropped meanwhile the records may be gone, and the branch may have others.
    const again = await findBranch(repository, branch);
    if (again.record === seen.record) break;
    seen = again;
  }
  refuseNoChanges(branch, filter);
}

/** Whether a token holds a record under the paths; a look for each of them. */
async function holdsAny(repository: Repository, token: string, { bounds }: PathFilter): Promise<boolean> {
  for (const { start, end } of bounds) {
    for await (const [first] of repository.kv.scan(utf8(token), { start: start!, pageSize: 1 })) {
      if (first && (!end || compareBytes(first.key, end) < 0)) return true;
      if (first) break;
    }
  }
  return false;
}

async function applyStaged(
  repository: Repository,
  { parent, sample, filter, signal }: {
    parent: Commit;
    sample: Sample;
    filter: PathFilter | undefined;
    signal: AbortSignal | undefined;
  },
): Promise<Applied> {
  const unflushed = new UnflushedObjects();
  const staged = stagedRecords(repository.kv, sample.tokens);
  const changes = asChanges(filter ? within(staged, filter) : staged, (record) => {
    throwIfAborted(signal);
    unflushed.note(record);
  });
  const base = repository.metarange(parent.metaRangeId);
  const applied = await applyChanges(repository.files, base, changes, repository.applyOptions);
  await unflushed.flush(repository);
  return applied;
}

async function* within(
  staged: AsyncIterable<readonly StagedRecord[]>,
  filter: PathFilter,
): AsyncGenerator<readonly StagedRecord[]> {
  for await (const block of staged) yield block.filter(({ key }) => filter.includes(key));
}

async function* asChanges(
  staged: AsyncIterable<readonly StagedRecord[]>,
  look: (record: StagedRecord) => void,
): AsyncGenerator<readonly Change[]> {
  for await (const block of staged) {
    for (const record of block) look(record);
    yield block;
  }
}

/** Whether any change made a difference. */
export function hasChanged(applied: Applied): boolean {
  return applied.added + applied.changed + applied.removed > 0;
}

function refuseNoChanges(branch: string, filter: PathFilter | undefined): never {
  const what = filter ? "nothing has changed under the given paths" : "nothing has changed";
  throw new CodedError("invalid", "no_changes", `Cannot commit branch "${branch}": ${what}`, {
    details: { branch, ...(filter ? { of: "paths" } : {}) },
  });
}
