/** Performs operations against a store, and checks what each of them answers. */

import { utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import type { Store } from "../../drivers/store.ts";
import { uploadObject } from "../../engine/objects/mod.ts";
import { stageWrites } from "../../engine/operations/stage.ts";
import { Repositories } from "../../engine/refs/mod.ts";
import { type EngineContext, Repository } from "../../engine/repository.ts";
import { collect, readText } from "../support/test_engine.ts";
import { expectedMerge, nearestBase } from "./merging.ts";
import { type Model, sameTexts } from "./model.ts";
import { fail, type Operation, type Task } from "./operation.ts";
import {
  checkListing,
  checkLog,
  checkRead,
  checkReflog,
  checkStatus,
  textBySha,
  windowOf,
} from "./reading.ts";
import { commitsOf } from "./rules.ts";

export const REPOSITORY = "repo";

/** A process's store, and what it stands on. */
export interface OpenedStore {
  readonly store: Store;
  readonly context: EngineContext;
  readonly objects: ObjectStore;
}

type Of<K extends Task["kind"]> = Extract<Task, { kind: K }>;

/** Runs an operation to its end, whatever it is, and sets its outcome. Throws what the rules do not allow. */
export async function perform(opened: OpenedStore, model: Model, by: Operation): Promise<void> {
  try {
    await ask(opened, model, by);
    by.outcome = "acknowledged";
  } catch (error) {
    if (!isCoded(error)) throw error;
    if (error.kind === "unavailable") by.outcome = "unknown";
    else {
      by.outcome = "failed";
      checkRefusal(model, by, error.code);
    }
  }
  by.endedAt = model.step;
  if (by.outcome === "acknowledged") checkAcknowledged(by);
}

function checkAcknowledged(by: Operation): void {
  for (const [path, { fate }] of by.writes) {
    if (fate !== "live") fail(`${by.id} is acknowledged, but its write of "${path}" is ${fate}`);
  }
  const { kind } = by.task;
  const lands = ["commit", "merge", "revert", "cherryPick", "reset", "hardReset"].includes(kind);
  if (lands && by.landed === undefined) fail(`${by.id} (${kind}) is acknowledged, but never landed`);
  const changes = /^(create|delete|restore)/.test(kind);
  if (changes && !by.hasChangedRef) fail(`${by.id} (${kind}) is acknowledged, but has changed nothing`);
}

async function ask(opened: OpenedStore, model: Model, by: Operation): Promise<void> {
  const { store } = opened;
  const { task } = by;
  const pick = { committer: by.id, message: by.id };
  switch (task.kind) {
    case "write":
      return await write(store, task);
    case "writeIfAbsent": {
      const writer = await store.writer(REPOSITORY, task.branch);
      await writer.put(task.path, utf8(task.text), { ifAbsent: true });
      return await writer.close();
    }
    case "relaxedWrite":
      return await writeRelaxed(opened, task);
    case "read":
    case "stat":
      return await read(store, model, by);
    case "list":
      return await list(store, model, by);
    case "status": {
      const items = await collect(store.status(REPOSITORY, task.branch));
      return checkStatus(model, windowOf(model, task.branch, by), items, by);
    }
    case "commit": {
      const { branch, paths, allowEmpty } = task;
      const options = { ...pick, allowEmpty, ...(paths ? { paths } : {}) };
      return checkLanded(by, (await store.commit(REPOSITORY, branch, options)).id);
    }
    case "merge": {
      const { branch, source, ...options } = task;
      return checkLanded(
        by,
        (await store.merge(REPOSITORY, source, branch, { ...pick, ...options })).reference,
      );
    }
    case "revert":
    case "cherryPick": {
      const options = { ...pick, parent: task.parent };
      return checkLanded(by, (await store[task.kind](REPOSITORY, task.branch, task.commit, options)).id);
    }
    case "reset": {
      await store.reset(REPOSITORY, task.branch, { path: task.path, prefix: task.prefix }, by.id);
      return;
    }
    case "hardReset":
      return checkLanded(by, (await store.hardReset(REPOSITORY, task.branch, task.ref, by.id)).id);
    default:
      return await askOfRefs(store, model, by);
  }
}

async function askOfRefs(store: Store, model: Model, by: Operation): Promise<void> {
  const { task } = by;
  switch (task.kind) {
    case "createBranch":
    case "createTag":
      await store[task.kind](REPOSITORY, task.name, task.source, by.id);
      return;
    case "deleteBranch":
    case "deleteTag":
      return await store[task.kind](REPOSITORY, task.name, by.id);
    case "restoreBranch":
    case "restoreTag": {
      const kind = task.kind === "restoreBranch" ? "branch" : "tag";
      await store.restoreRef(REPOSITORY, kind, task.name, { who: by.id });
      return;
    }
    case "log": {
      const commits = await collect(store.log(REPOSITORY, task.ref));
      return checkLog(model, windowOf(model, task.ref, by), commits.map(({ id }) => id), by);
    }
    case "reflog":
      return checkReflog(model, task.ref, await collect(store.reflog(REPOSITORY, task.ref)), by);
    case "resolve": {
      const id = await store.resolve(REPOSITORY, task.ref);
      if (!commitsOf(model, task.ref, by).has(id)) fail(`${by.id} resolves "${task.ref}" to ${id}`);
      return;
    }
    case "branches":
      return await listBranches(store, model, by);
    default:
      throw new Error(`nobody performs ${task.kind}`);
  }
}

async function write(store: Store, { branch, files }: Of<"write">): Promise<void> {
  const writer = await store.writer(REPOSITORY, branch);
  for (const [path, text] of Object.entries(files)) {
    if (text === undefined) await writer.delete(path);
    else await writer.put(path, utf8(text));
  }
  await writer.close();
}

/** As a relaxed writer, but without the flush that follows: what is acknowledged is never flushed by this process. */
async function writeRelaxed(
  { context, objects }: OpenedStore,
  task: Of<"writeIfAbsent" | "relaxedWrite">,
): Promise<void> {
  const repository = new Repository(context, await new Repositories(context.kv).get(REPOSITORY), objects);
  const entry = await uploadObject(repository, utf8(task.text));
  const write = { key: utf8(task.path), entry, isFresh: true, isUnflushed: true, isRelaxed: true };
  await stageWrites(repository, task.branch, [write]);
}

async function read(store: Store, model: Model, by: Operation): Promise<void> {
  const { ref, path, kind } = by.task as Of<"read" | "stat">;
  let text: string | undefined;
  if (kind === "read") text = await readText(store, ref, path);
  else {
    const stats = await store.stat(REPOSITORY, ref, path).catch((error) => {
      if (!isCoded(error, "object_not_found")) throw error;
      return undefined;
    });
    text = stats && textBySha(model, stats.sha256);
  }
  checkRead(model, windowOf(model, ref, by), { path, text, by });
}

/** Lists page by page, each as a call of its own. */
async function list(store: Store, model: Model, by: Operation): Promise<void> {
  const { ref, prefix, delimiter, amount } = by.task as Of<"list">;
  let after: string | undefined;
  do {
    const page = { prefix, delimiter, amount, ...(after === undefined ? {} : { after }) };
    const asked = { ...by, startedAt: model.step };
    const items = await collect(store.list(REPOSITORY, ref, page));
    after = checkListing(model, windowOf(model, ref, asked), { items, page, by: asked });
  } while (after !== undefined);
}

async function listBranches(store: Store, model: Model, by: Operation): Promise<void> {
  const listed = new Map(
    (await collect(store.listBranches(REPOSITORY))).map((info) => [info.id, info.commitId]),
  );
  for (const name of model.refs.keys()) {
    const versions = model.during(name, by.startedAt, model.step);
    const isExplained = versions.some(({ record }) => record?.branch?.commitId === listed.get(name));
    if (!isExplained) fail(`${by.id} lists branch "${name}" at ${listed.get(name)}`);
  }
}

function checkLanded(by: Operation, id: string): void {
  if (by.landed !== id) fail(`${by.id} answers with ${id}, but landed as ${by.landed}`);
}

/** A refusal must have had its reason at some moment, and have changed nothing. */
function checkRefusal(model: Model, by: Operation, code: string): void {
  const { task } = by;
  const isUndone = by.landed === undefined && !by.hasChangedRef;
  const isOnlyCleaned = code === "no_changes" && task.kind === "commit";
  if (!isUndone && !isOnlyCleaned) fail(`${by.id} fails with ${code}, but has landed`);
  if (!isExplained(model, by, code)) fail(`${by.id} (${task.kind}) fails with ${code} without reason`);
}

function isExplained(model: Model, by: Operation, code: string): boolean {
  const { task } = by;
  const refs = [
    "branch" in task ? task.branch : undefined,
    "ref" in task ? task.ref.replace(/@$/, "") : undefined,
    "source" in task ? task.source : undefined,
    "name" in task ? task.name : undefined,
  ].filter((ref) => ref !== undefined);
  const windows = refs.map((ref) => windowOf(model, ref, by));
  const [own] = windows;
  switch (code) {
    case "try_again":
      return true;
    case "branch_not_found":
    case "tag_not_found":
    case "ref_not_found":
      return windows.some(({ wasMissing }) => wasMissing);
    case "branch_exists":
    case "tag_exists":
      return windows.at(-1)!.versions.some(({ record }) => record);
    case "ref_not_deleted":
      return true;
    case "default_branch":
      return true;
    case "object_exists": {
      const { path } = task as Of<"writeIfAbsent" | "relaxedWrite">;
      const isLate = model.lateWrites.some((late) => late.path === path);
      return isLate || own!.shown.some((shown) => shown.has(path));
    }
    case "no_changes":
      return task.kind !== "commit" || couldHaveNothingStaged(model, by, task);
    case "branch_dirty":
      return own!.versions.some(({ staged }) => staged.size > 0) || model.lateWrites.length > 0;
    case "merge_conflict":
    case "nothing_to_merge":
      return task.kind !== "merge" || couldRefuseMerge(model, by, { task, code });
    default:
      return false;
  }
}

function couldHaveNothingStaged(model: Model, by: Operation, { branch, paths }: Of<"commit">): boolean {
  const { versions } = windowOf(model, branch, by);
  const isTaken = (path: string) =>
    !paths || paths.some((one) => one.endsWith("/") ? path.startsWith(one) : path === one);
  return versions.some(({ staged }) => ![...staged.keys()].some(isTaken)) ||
    model.lateWrites.some(({ path }) => isTaken(path));
}

function couldRefuseMerge(
  model: Model,
  by: Operation,
  { task, code }: { task: Of<"merge">; code: string },
): boolean {
  for (const ours of commitsOf(model, task.branch, by)) {
    for (const theirs of commitsOf(model, task.source, by)) {
      const base = nearestBase(model, ours, theirs);
      const sides = { base: base.shown, source: model.commit(theirs).shown };
      const destination = model.commit(ours).shown;
      const { conflicts, shown } = expectedMerge({ ...sides, destination }, task.strategy);
      const isNothing = base.id === theirs || (task.squash && sameTexts(shown, destination));
      if (code === "nothing_to_merge" ? isNothing : conflicts.length > 0) return true;
    }
  }
  return false;
}
