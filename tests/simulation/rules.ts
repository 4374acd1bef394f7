/**
 * What a compare-and-set of a ref's record may do, and for whom.
 *
 *     seal      the commit stays; a fresh, empty staging token; the former one becomes the first sealed token
 *     land      the oldest sealed tokens go, perhaps for a rest; the commit becomes what the operation's meaning says
 *     create, delete, restore of a branch or tag
 *
 * A record that is dropped without having been taken, kept or meant to go is lost. That may happen to a write only while
 * it is not acknowledged: it came after its token was sealed, and its client will see that and write again.
 */

import type { RefRecord } from "../../engine/refs/mod.ts";
import { expectedMerge, nearestBase } from "./merging.ts";
import type { Model, ModelToken, StagedText } from "./model.ts";
import { sameTexts, tokensOf } from "./model.ts";
import { fail, type Operation, type Slot } from "./operation.ts";

/** Checks one change of a ref's record, and has the model follow it. */
export function changeRef(model: Model, record: RefRecord, by: Operation | undefined): void {
  const { name } = record;
  const history = model.ref(name);
  const before = model.now(name).record;
  const isMove = history.moves.at(-1)?.id !== record.move.id;
  if (isMove) addMove(model, record, before);
  if (record.isDeleted) deleteRef(model, record, { before, by });
  else if (before) changeBranch(model, record, { before, by, isMove });
  else createRef(model, record, by);
  attachTokens(model, record);
  model.renew(name, record, by);
}

/** Follows the loss of a ref's last record, which may have been a seal alone: `before` was there before it, and is again. */
export function loseRef(model: Model, before: RefRecord | undefined): void {
  const lost = before && model.now(before.name).record;
  if (!lost || commitOf(lost) !== commitOf(before) || lost.move.id !== before.move.id) {
    fail(`power loss takes a move of "${before?.name}"`);
  }
  model.renew(before.name, before);
}

function addMove(model: Model, record: RefRecord, before: RefRecord | undefined): void {
  const { move, name } = record;
  const { moves } = model.ref(name);
  const from = before ? commitOf(before) : "", to = record.isDeleted ? "" : commitOf(record);
  if (move.oldCommitId !== from || move.newCommitId !== to || move.ref !== name) {
    fail(
      `the reflog of "${name}" says ${move.oldCommitId} -> ${move.newCommitId}, but it was ${from} -> ${to}`,
    );
  }
  if (moves.some(({ id }) => id >= move.id)) fail(`the reflog of "${name}" does not go on in order`);
  moves.push(move);
}

function commitOf(record: RefRecord): string {
  return record.branch?.commitId ?? record.tagCommitId!;
}

/** Tokens that a live branch lists take writes that count; the first one is open, the others are sealed. */
function attachTokens(model: Model, record: RefRecord): void {
  for (const [i, name] of tokensOf(record).entries()) {
    const token = model.token(name);
    token.branch = record.name;
    if (i === 0) continue;
    token.isSealed = true;
  }
}

function createRef(model: Model, record: RefRecord, by: Operation | undefined): void {
  const { name, move } = record;
  const task = by?.task;
  if (move.restored !== undefined) return restoreRef(model, record, by);
  // The default branch is made together with the repository.
  if (by) {
    const kind = record.branch ? "createBranch" : "createTag";
    if (task?.kind !== kind || task.name !== name) fail(`${by.id} creates "${name}"`);
    if (!commitsOf(model, task.source, by).has(commitOf(record))) {
      fail(`"${name}" is created at ${commitOf(record)}, where "${task.source}" never was meanwhile`);
    }
    changedOnce(by, name);
  }
  const used = tokensOf(record).filter((token) => model.token(token).branch !== undefined);
  if (used.length > 0 || tokensOf(record).length > 1) {
    fail(`branch "${name}" begins with tokens that were used`);
  }
  markLive(model, record);
}

function restoreRef(model: Model, record: RefRecord, by: Operation | undefined): void {
  const { name, move } = record;
  const { deleted } = model.ref(name);
  const kind = record.branch ? "restoreBranch" : "restoreTag";
  if (!by || by.task.kind !== kind || by.task.name !== name) fail(`${by?.id} restores "${name}"`);
  const was = deleted.get(move.restored!);
  if (!was) {
    fail(`"${name}" is restored from deletion ${move.restored}, which is none, or was taken back before`);
  }
  if (!sameState(was, record)) fail(`"${name}" is not restored as it was deleted`);
  deleted.delete(move.restored!);
  changedOnce(by, name);
  markLive(model, record);
}

function deleteRef(
  model: Model,
  record: RefRecord,
  { before, by }: { before: RefRecord | undefined; by: Operation | undefined },
): void {
  const { name } = record;
  const kind = record.branch ? "deleteBranch" : "deleteTag";
  if (!by || by.task.kind !== kind || by.task.name !== name) fail(`${by?.id} deletes "${name}"`);
  if (!before || !sameState(before, record)) fail(`"${name}" is not deleted as it was`);
  model.ref(name).deleted.set(record.move.id, record);
  changedOnce(by, name);
}

function changedOnce(by: Operation, name: string): void {
  if (by.hasChangedRef) fail(`${by.id} changes "${name}" twice`);
  by.hasChangedRef = true;
}

function sameState(a: RefRecord, b: RefRecord): boolean {
  return commitOf(a) === commitOf(b) && tokensOf(a).join() === tokensOf(b).join();
}

/** What lies in a token that a branch begins to list was written in time. */
function markLive(model: Model, record: RefRecord): void {
  for (const name of tokensOf(record)) {
    for (const [path, slot] of model.token(name).slots) {
      if (slot.operation?.writes.has(path)) slot.operation.writes.set(path, { fate: "live", slot });
    }
  }
}

interface BranchChange {
  readonly before: RefRecord;
  readonly by: Operation | undefined;
  readonly isMove: boolean;
}

function changeBranch(model: Model, record: RefRecord, { before, by, isMove }: BranchChange): void {
  const { name } = record;
  if (!before.branch || !record.branch) fail(`"${name}" is replaced while it exists`);
  if (before.branch.stagingToken !== record.branch.stagingToken) {
    return seal(model, record, { before, by, isMove });
  }
  if (!by || !("branch" in by.task) || by.task.branch !== name) fail(`${by?.id} moves branch "${name}"`);
  if (by.landed !== undefined) fail(`${by.id} lands on "${name}" twice`);
  by.landed = record.branch.commitId;
  const dropped = droppedTokens(model, record, before);
  const rest = record.branch.sealedTokens.find((token) => !before.branch!.sealedTokens.includes(token));
  land(model, by, {
    name,
    from: before.branch.commitId,
    to: record.branch.commitId,
    dropped,
    rest: rest === undefined ? undefined : model.token(rest),
    paths: new Set(),
  });
  for (const token of dropped) token.droppedAt = model.step;
}

function seal(model: Model, record: RefRecord, { before, isMove }: BranchChange): void {
  const was = before.branch!, is = record.branch!;
  const fresh = model.token(is.stagingToken);
  if (isMove || is.commitId !== was.commitId || fresh.slots.size > 0 || fresh.branch !== undefined) {
    fail(`the token of branch "${record.name}" is set to one that is not fresh, or more than it is changed`);
  }
  if (is.sealedTokens.join() !== tokensOf(before).join()) fail(`tokens of branch "${record.name}" are lost`);
}

/** Returns what a landing drops: only the oldest sealed tokens, or newer changes would come to lie under older ones. */
function droppedTokens(model: Model, record: RefRecord, before: RefRecord): readonly ModelToken[] {
  const was = before.branch!.sealedTokens, is = record.branch!.sealedTokens;
  const kept = is.filter((token) => was.includes(token));
  const fresh = is.filter((token) => !was.includes(token));
  if (
    kept.some((token, i) => token !== was[i]) || fresh.length > 1 || (fresh[0] ?? is.at(-1)) !== is.at(-1)
  ) {
    fail(`the sealed tokens of branch "${record.name}" are not its newest ones, with a rest below them`);
  }
  if (fresh[0] !== undefined && model.token(fresh[0]).branch !== undefined) fail(`a rest was used before`);
  return was.slice(kept.length).map((token) => model.token(token));
}

interface LandingChange {
  readonly name: string;
  readonly from: string;
  readonly to: string;
  /** Newest first. */
  readonly dropped: readonly ModelToken[];
  readonly rest: ModelToken | undefined;
  /** All that the landing is about; filled by {@link land}. */
  readonly paths: Set<string>;
}

function land(model: Model, by: Operation, change: LandingChange): void {
  const { from, to, dropped, rest, paths } = change;
  const before = model.commit(from).shown, after = model.commit(to).shown;
  for (const shown of [before, after]) for (const path of shown.keys()) paths.add(path);
  for (const token of rest ? [...dropped, rest] : dropped) {
    for (const path of token.slots.keys()) paths.add(path);
  }
  for (const token of dropped) for (const path of token.past.keys()) paths.add(path);
  switch (by.task.kind) {
    case "commit":
      return landCommit(model, by, change);
    case "merge":
      return landMerge(model, by, change);
    case "revert":
    case "cherryPick":
      return landPick(model, by, change);
    case "reset":
      return landReset(by, change);
    case "hardReset":
      if (!commitsOf(model, by.task.ref, by).has(to) || rest) fail(`${by.id} resets to ${to}`);
      return;
    default:
      fail(`${by.id} (${by.task.kind}) moves branch "${change.name}"`);
  }

  function landReset(by: Operation, { rest }: LandingChange): void {
    if (by.task.kind !== "reset") return;
    const { path: one, prefix } = by.task;
    if (to !== from) fail(`${by.id} moves a branch that it resets`);
    for (const path of paths) {
      const isDropped = one !== undefined ? path === one : prefix === undefined || path.startsWith(prefix);
      if (!isDropped) keepStaged(dropped, rest, { path, by });
      else if (rest?.slots.has(path)) fail(`${by.id} keeps "${path}", which it drops`);
    }
  }
}

function landCommit(model: Model, by: Operation, { from, to, dropped, rest, paths }: LandingChange): void {
  if (by.task.kind !== "commit") return;
  const { paths: wanted, allowEmpty } = by.task;
  const before = model.commit(from).shown, after = model.commit(to).shown;
  if (to !== from) checkParents(model, by, { to, parents: [from] });
  if (to !== from && !allowEmpty && sameTexts(before, after)) fail(`${by.id} commits nothing`);
  for (const path of paths) {
    const isTaken = !wanted || wanted.some((one) => one.endsWith("/") ? path.startsWith(one) : path === one);
    if (!isTaken) {
      keepStaged(dropped, rest, { path, by });
      if (before.get(path) !== after.get(path)) fail(`${by.id} commits "${path}", which it was not told to`);
      continue;
    }
    if (rest?.slots.has(path)) fail(`${by.id} leaves "${path}" staged, which it commits`);
    const { slot, possible } = stagedIn(dropped, path);
    const now = after.get(path);
    const results = possible.map((text) => text === undefined ? before.get(path) : text ?? undefined);
    if (!results.includes(now)) {
      fail(`${by.id} commits "${path}" as ${now}, but staged was ${JSON.stringify(possible)}`);
    }
    if (slot && (slot.text ?? undefined) !== now) lose(slot, path, by);
  }
}

function landMerge(model: Model, by: Operation, { from, to, dropped, rest, paths }: LandingChange): void {
  if (by.task.kind !== "merge") return;
  const { source, strategy, squash, keepStaged: isKept } = by.task;
  const sources = commitsOf(model, source, by);
  const named = squash ? [...sources] : [model.commit(to).parents[1] ?? ""];
  checkParents(model, by, { to, parents: squash ? [from] : [from, named[0]!] });
  const before = model.commit(from).shown, after = model.commit(to).shown;
  const isExpected = named.some((theirs) => {
    if (!sources.has(theirs)) return false;
    const base = nearestBase(model, from, theirs);
    const { shown, conflicts } = expectedMerge(
      { base: base.shown, source: model.commit(theirs).shown, destination: before },
      strategy,
    );
    return base.id !== theirs && conflicts.length === 0 && sameTexts(shown, after);
  });
  if (!isExpected) fail(`${by.id} merges "${source}" into something else than the merge of both`);
  for (const path of paths) {
    const { slot, possible } = stagedIn(dropped, path);
    const isChange = slot && slot.text !== (before.get(path) ?? null);
    if (rest?.slots.has(path)) {
      keepStaged(dropped, rest, { path, by });
      // A record that came too late may lie over the merge, as if it had been written after it.
      const wasChange = possible.every((text) => text !== undefined && text !== (before.get(path) ?? null));
      if (wasChange && before.get(path) !== after.get(path)) {
        fail(`${by.id} changes "${path}", which is staged`);
      }
    } else if (isChange) lose(slot, path, by);
  }
  if (rest && !isKept) fail(`${by.id} keeps staged changes`);
}

function landPick(model: Model, by: Operation, { from, to, dropped, rest, paths }: LandingChange): void {
  if (by.task.kind !== "revert" && by.task.kind !== "cherryPick") return;
  const { commit, parent, kind } = by.task;
  const picked = model.commit(commit);
  const other = picked.parents[parent - 1];
  const [own, others] = [picked.shown, other === undefined ? new Map() : model.commit(other).shown];
  const [base, source] = kind === "revert" ? [own, others] : [others, own];
  const before = model.commit(from).shown, after = model.commit(to).shown;
  const { shown, conflicts } = expectedMerge({ base, source, destination: before }, undefined);
  checkParents(model, by, { to, parents: [from] });
  if (conflicts.length > 0 || !sameTexts(shown, after) || rest) {
    fail(`${by.id} makes something else of ${commit}`);
  }
  for (const path of paths) {
    const { slot } = stagedIn(dropped, path);
    if (slot && slot.text !== (before.get(path) ?? null)) lose(slot, path, by);
  }
}

function checkParents(
  model: Model,
  by: Operation,
  { to, parents }: { to: string; parents: readonly string[] },
): void {
  const commit = model.commit(to);
  if (commit.parents.join() !== parents.join()) {
    fail(
      `${by.id} moves the branch from ${parents[0]}, but its commit is made on ${commit.parents.join(", ")}`,
    );
  }
  const generation = 1 + Math.max(...commit.parents.map((id) => model.commit(id).generation));
  if (commit.generation !== generation) fail(`commit ${to} has generation ${commit.generation}`);
  const latest = Math.max(...commit.parents.map((id) => model.commit(id).correctedDate!));
  const corrected = Math.max(commit.creationDate * 1000, latest + 1);
  if (commit.correctedDate !== corrected) fail(`commit ${to} has the corrected date ${commit.correctedDate}`);
}

/** Checks that a path of the dropped tokens is staged in the rest as it was, and gives the record back to its writer. */
function keepStaged(
  dropped: readonly ModelToken[],
  rest: ModelToken | undefined,
  { path, by }: { path: string; by: Operation },
): void {
  const { slot, possible } = stagedIn(dropped, path);
  const kept = rest?.slots.get(path);
  if (!possible.includes(kept?.text)) {
    fail(`${by.id} keeps "${path}" as ${kept?.text}, but staged was ${JSON.stringify(possible)}`);
  }
  if (slot && slot.text !== kept?.text) lose(slot, path, by);
  else if (kept && slot) {
    kept.operation = slot.operation;
    const write = slot.operation?.writes.get(path);
    if (write?.slot === slot) write.slot = kept;
  }
}

function lose(slot: Slot, path: string, by: Operation): void {
  const write = slot.operation?.writes.get(path);
  // It may have been written once more, to a newer token.
  if (!write || write.slot !== slot) return;
  if (slot.operation!.outcome === "acknowledged") {
    fail(`${by.id} loses "${path}", which ${slot.operation!.id} wrote, acknowledged`);
  }
  write.fate = "lost";
}

/**
 * Returns the newest record of a path in tokens, and all texts that the tokens may have shown whoever read them since they
 * were sealed; `undefined` stands for no record.
 */
function stagedIn(
  tokens: readonly ModelToken[],
  path: string,
): { slot: Slot | undefined; possible: readonly (StagedText | undefined)[] } {
  const possible: (StagedText | undefined)[] = [];
  let slot: Slot | undefined;
  let isThrough = true;
  for (const { slots, past } of tokens) {
    const here = slots.get(path);
    slot ??= here;
    const texts = [here?.text, ...(past.get(path) ?? [])];
    if (isThrough) possible.push(...texts.filter((text) => text !== undefined));
    if (!texts.includes(undefined)) isThrough = false;
  }
  return { slot, possible: isThrough ? [...possible, undefined] : possible };
}

/** Returns the commits that a branch, tag or commit ID stood for while an operation ran. */
export function commitsOf(model: Model, ref: string, by: Operation): ReadonlySet<string> {
  if (model.commits.has(ref)) return new Set([ref]);
  const versions = model.during(ref, by.startedAt, model.step);
  return new Set(versions.flatMap(({ record }) => record ? [commitOf(record)] : []));
}
