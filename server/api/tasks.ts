/** Commits and merges as tasks: an ID at once, then what became of it, with the status that the answer would have had. */

import { CodedError } from "../../base/errors.ts";
import type { Store, TaskInfo, Tasks } from "../../drivers/store.ts";
import { messageOf, statusOf } from "../errors.ts";
import { json, notBuilt, operation } from "../operation.ts";
import { commitBody, commitOptions, commitQuery } from "./commits.ts";
import { mergeBody, mergeOptions } from "./merge.ts";
import { commitJson } from "../../drivers/store.ts";

const commitAsync = operation("commitAsync", {
  query: commitQuery,
  body: commitBody,
  async run({ store, path, query, body, user }) {
    const options = commitOptions(query, body, user);
    const id = await tasksOf(store).start(path.repository, { kind: "commit", branch: path.branch, options });
    return json(202, { id });
  },
});

const commitAsyncStatus = operation("commitAsyncStatus", {
  async run({ store, path }) {
    const task = await tasksOf(store).get(path.repository, path.id);
    if (task.kind !== "commit" || task.branch !== path.branch) throw taskNotFound();
    const result = task.commitId && commitJson(await store.getCommit(path.repository, task.commitId));
    return json(200, { ...statusJson(task), ...(result ? { result } : {}) });
  },
});

const mergeIntoBranchAsync = operation("mergeIntoBranchAsync", {
  body: mergeBody,
  async run({ store, path, body, user }) {
    const id = await tasksOf(store).start(path.repository, {
      kind: "merge",
      source: path.sourceRef,
      branch: path.destinationBranch,
      options: mergeOptions(body, user),
    });
    return json(202, { id });
  },
});

const mergeIntoBranchAsyncStatus = operation("mergeIntoBranchAsyncStatus", {
  async run({ store, path }) {
    const task = await tasksOf(store).get(path.repository, path.id);
    const isAsked = task.kind === "merge" && task.branch === path.destinationBranch &&
      task.source === path.sourceRef;
    if (!isAsked) throw taskNotFound();
    const result = task.commitId === undefined ? undefined : { reference: task.commitId };
    return json(200, { ...statusJson(task), ...(result ? { result } : {}) });
  },
});

function statusJson({ id, state, updatedMs, error }: TaskInfo): Record<string, unknown> {
  return {
    task_id: id,
    completed: state !== "running",
    update_time: new Date(updatedMs).toISOString(),
    ...(error ? errorJson(error) : {}),
  };
}

function errorJson({ kind, code, message }: NonNullable<TaskInfo["error"]>): Record<string, unknown> {
  const error = new CodedError(kind, code, message);
  // This one is ours and speaks of nothing of the machine.
  const told = code === "task_interrupted" ? message : messageOf(error);
  return { error: { message: told }, status_code: statusOf(error) };
}

function tasksOf({ tasks }: Store): Tasks {
  if (tasks) return tasks;
  throw notBuilt("A task of this store");
}

/** A task is shown under the path that it was started under. */
function taskNotFound(): CodedError {
  return new CodedError("not_found", "task_not_found", "Cannot find the task: there is none of that ID");
}

export const TASK_OPERATIONS = [
  commitAsync,
  commitAsyncStatus,
  mergeIntoBranchAsync,
  mergeIntoBranchAsyncStatus,
];
