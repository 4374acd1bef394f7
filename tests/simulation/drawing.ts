/** Draws what the clients do from a seed. */

import type { Chance } from "./chance.ts";
import { nearestBase } from "./merging.ts";
import type { Model } from "./model.ts";
import type { Task, TaskKind } from "./operation.ts";

const BRANCHES = ["main", "side", "third"];
const TAGS = ["v1", "v2"];
const PATHS = ["a", "b", "c", "d/x", "d/y", "d/z", "e/1", "e/2", "f"];
const PREFIXES = ["d/", "e/"];

const WEIGHTS: Readonly<Record<TaskKind, number>> = {
  write: 30,
  writeIfAbsent: 6,
  relaxedWrite: 0,
  read: 16,
  stat: 4,
  list: 7,
  status: 4,
  commit: 22,
  merge: 9,
  revert: 2,
  cherryPick: 2,
  reset: 6,
  hardReset: 3,
  createBranch: 4,
  createTag: 2,
  deleteBranch: 2,
  restoreBranch: 3,
  deleteTag: 1,
  restoreTag: 2,
  log: 2,
  reflog: 2,
  resolve: 2,
  branches: 1,
};

export interface Flavour {
  readonly branches: readonly string[];
  readonly paths: readonly string[];
  readonly weights: Readonly<Partial<Record<TaskKind, number>>>;
}

/** Some seeds crowd onto one branch and few paths, some do but one or two things besides writing. */
export function drawFlavour(chance: Chance, { hasPowerLoss }: { hasPowerLoss: boolean }): Flavour {
  const isCrowded = chance.happens(0.5);
  const weights: Partial<Record<TaskKind, number>> = { ...WEIGHTS };
  for (
    const kind of ["read", "writeIfAbsent", "merge", "reset", "commit", "write", "deleteBranch"] as const
  ) {
    if (chance.happens(0.25)) weights[kind] = WEIGHTS[kind] * 4;
  }
  // What is staged so may be gone after a power loss, and then there is no commit: only for seeds in which it goes at the end.
  if (!hasPowerLoss && chance.happens(0.3)) weights.relaxedWrite = 10;
  return {
    branches: isCrowded ? BRANCHES.slice(0, chance.oneOf([1, 2, 2])) : BRANCHES,
    paths: isCrowded ? [chance.oneOf(["a", "d/x"]), "b", "d/y", "e/1"] : PATHS,
    weights,
  };
}

export function drawTask(
  chance: Chance,
  model: Model,
  { flavour, id }: { flavour: Flavour; id: string },
): Task {
  const kind = chance.weighted(flavour.weights);
  const needsClean = kind === "merge" || kind === "revert" || kind === "cherryPick";
  const staged = kind === "commit" ? "some" : needsClean ? "none" : "any";
  const branch = drawBranch(chance, model, { flavour, staged });
  // Most of what needs a clean branch would only be refused.
  if (needsClean && model.now(branch).staged.size > 0 && chance.happens(0.6)) {
    return { kind: "commit", branch, allowEmpty: false };
  }
  switch (kind) {
    case "write":
      return { kind, branch, files: drawFiles(chance, flavour, id) };
    case "writeIfAbsent":
    case "relaxedWrite":
      return { kind, branch, path: chance.oneOf(flavour.paths), text: id };
    case "read":
    case "stat":
      return { kind, ref: drawRef(chance, model, flavour), path: chance.oneOf(flavour.paths) };
    case "list":
      return {
        kind,
        ref: drawRef(chance, model, flavour),
        prefix: chance.oneOf(["", "", ...PREFIXES]),
        delimiter: chance.oneOf(["", "/"]),
        amount: chance.oneOf([2, 3, 100]),
      };
    case "status":
      return { kind, branch };
    case "commit":
      return {
        kind,
        branch,
        allowEmpty: chance.happens(0.1),
        ...(chance.happens(0.35)
          ? { paths: drawPaths(chance, flavour, [...model.now(branch).staged.keys()]) }
          : {}),
      };
    case "merge":
      return {
        kind,
        branch,
        source: drawName(chance, [...BRANCHES, ...TAGS], (name) => brings(model, name, branch)),
        squash: chance.happens(0.2),
        keepStaged: chance.happens(0.8),
        ...(chance.happens(0.85) ? { strategy: chance.oneOf(["source-wins", "dest-wins"]) } : {}),
      };
    case "revert":
    case "cherryPick":
      return { kind, branch, ...drawPicked(chance, model) };
    case "reset":
      return { kind, branch, ...drawReset(chance, flavour) };
    case "hardReset":
      return {
        kind,
        branch,
        ref: chance.happens(0.5) ? drawPicked(chance, model).commit : chance.oneOf(BRANCHES),
      };
    case "createTag":
      return { kind, name: chance.oneOf(TAGS), source: branch };
    case "createBranch":
      return { kind, name: drawName(chance, BRANCHES, (name) => !isLive(model, name)), source: branch };
    case "deleteTag":
    case "restoreTag":
      return drawTagTask(chance, model, { kind, branch });
    case "deleteBranch":
      return { kind, name: drawName(chance, BRANCHES.slice(1), (name) => isLive(model, name)) };
    case "restoreBranch":
      return { kind, name: drawName(chance, BRANCHES.slice(1), (name) => isDeleted(model, name)) };
    case "reflog":
    case "resolve":
      return { kind, ref: chance.oneOf([...BRANCHES, ...(kind === "reflog" ? TAGS : [])]) };
    case "log":
      return { kind, ref: branch };
    case "branches":
      return { kind };
  }
}

/** Most texts are written once; a few are shared, so that a write repeats what is committed. */
function drawFiles(chance: Chance, { paths }: Flavour, id: string): Record<string, string | undefined> {
  const files: Record<string, string | undefined> = {};
  for (let left = chance.between(1, 3); left > 0; left--) {
    const path = chance.oneOf(paths);
    files[path] = chance.happens(0.25)
      ? undefined
      : chance.happens(0.2)
      ? `same ${chance.below(2)}`
      : `${id} ${left}`;
  }
  return files;
}

function drawRef(chance: Chance, model: Model, { branches }: Flavour): string {
  const kind = chance.weighted({ branch: 8, committed: 2, tag: 1, commit: 1 });
  if (kind === "tag") return drawName(chance, TAGS, (name) => isLive(model, name));
  if (kind === "commit") return drawPicked(chance, model).commit;
  return drawName(chance, branches, (name) => isLive(model, name)) + (kind === "committed" ? "@" : "");
}

/** A tag is restored if one is deleted, deleted if there is one, or else made. */
function drawTagTask(
  chance: Chance,
  model: Model,
  { kind, branch }: { kind: "deleteTag" | "restoreTag"; branch: string },
): Task {
  const deleted = TAGS.filter((name) => isDeleted(model, name));
  const live = TAGS.filter((name) => isLive(model, name));
  if (kind === "restoreTag" && deleted.length > 0) return { kind, name: chance.oneOf(deleted) };
  if (live.length > 0) return { kind: "deleteTag", name: chance.oneOf(live) };
  return { kind: "createTag", name: chance.oneOf(TAGS), source: branch };
}

/** What is committed in part is mostly something that is staged. */
function drawPaths(chance: Chance, { paths }: Flavour, staged: readonly string[]): readonly string[] {
  const path = chance.oneOf(staged.length > 0 && chance.happens(0.7) ? staged : paths);
  return chance.oneOf([[path], [chance.oneOf(PREFIXES)], [path, ...PREFIXES]]);
}

function drawBranch(
  chance: Chance,
  model: Model,
  { flavour, staged }: { flavour: Flavour; staged: "some" | "none" | "any" },
): string {
  const isWanted = (name: string) =>
    isLive(model, name) && (staged === "any" || (model.now(name).staged.size > 0) === (staged === "some"));
  return drawName(chance, flavour.branches, isWanted);
}

/** Whether one ref has commits that another one does not have. */
function brings(model: Model, source: string, destination: string): boolean {
  const { record: from } = model.now(source), { record: to } = model.now(destination);
  if (!from || !to?.branch) return false;
  const theirs = from.branch?.commitId ?? from.tagCommitId!;
  return nearestBase(model, theirs, to.branch.commitId).id !== theirs;
}

/** Draws mostly a name that is wanted, if there is one. */
function drawName(chance: Chance, names: readonly string[], isWanted: (name: string) => boolean): string {
  const wanted = names.filter(isWanted);
  return chance.oneOf(wanted.length > 0 && chance.happens(0.9) ? wanted : names);
}

function isLive(model: Model, name: string): boolean {
  return model.now(name).record !== undefined;
}

function isDeleted(model: Model, name: string): boolean {
  return !isLive(model, name) && model.ref(name).deleted.size > 0;
}

/** Draws a commit that a branch stands or stood at, and one of its parents. */
function drawPicked(chance: Chance, model: Model): { commit: string; parent: number } {
  const moves = [...model.refs.values()].flatMap((history) => history.moves.map((move) => move.newCommitId));
  const commit = model.commit(chance.oneOf(moves.filter((id) => id !== "")));
  return { commit: commit.id, parent: chance.between(1, Math.max(1, commit.parents.length)) };
}

function drawReset(chance: Chance, { paths }: Flavour): { path?: string; prefix?: string } {
  const kind = chance.below(3);
  return kind === 0 ? {} : kind === 1 ? { path: chance.oneOf(paths) } : { prefix: chance.oneOf(PREFIXES) };
}
