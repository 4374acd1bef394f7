/**
 * Running tasks and their records.
 *
 *     started -> running, beating -> done | failed
 *                      \\-> nothing heard for a while: failed, task_interrupted
 *
 * Who finishes a task writes the end over whatever stands there: a machine that slept comes back to a task that others gave
 * up for lost, and what became of it is the truth. All other changes are compare-and-set.
 */

import { equalBytes, utf8 } from "../../base/bytes.ts";
import { timestampOf } from "../../base/clock.ts";
import { CodedError, isCoded } from "../../base/errors.ts";
import type { Store } from "../../drivers/store.ts";
import type { TaskInfo, Tasks, TaskWork } from "../../drivers/tasks.ts";
import type { KvValue } from "../../kv/store.ts";
import { newId } from "../objects/mod.ts";
import { resolveRef } from "../refs/mod.ts";
import { findBranch } from "../operations/landing.ts";
import type { Repository } from "../repository.ts";
import { decodeTask, encodeTask, taskInfo, type TaskRecord } from "./records.ts";

const PREFIX = "tasks/";
const MAX_RUNNING = 64;
/** Several beats, and longer than anything that keeps a living process from beating. */
const SILENCE_MS = 10_000;
const KEPT_MS = 7 * 24 * 3600 * 1000;
const MAX_WATCHED = 1000;

interface RunningTask {
  readonly repository: Repository;
  readonly stopper: AbortController;
  record: TaskRecord;
  isEnded: boolean;
}

/** A running task of another process, as it was first seen. */
interface WatchedTask {
  readonly value: Uint8Array;
  readonly sinceMs: number;
}

/** Opens a repository. Fails with `repository_not_found`. */
type OpenRepository = (name: string) => Promise<Repository>;

export class EngineTasks implements Tasks {
  readonly #open: OpenRepository;
  readonly #store: Pick<Store, "commit" | "merge">;
  readonly #running = new Map<string, RunningTask>();
  readonly #watched = new Map<string, WatchedTask>();

  /** `store` does the work. */
  constructor(open: OpenRepository, store: Pick<Store, "commit" | "merge">) {
    this.#open = open;
    this.#store = store;
  }

  get running(): number {
    return this.#running.size;
  }

  async start(name: string, work: TaskWork): Promise<string> {
    const repository = await this.#open(name);
    await findBranch(repository, work.branch);
    if (work.kind === "merge") await resolveRef(repository.refs, repository.commits, work.source);
    if (this.#running.size >= MAX_RUNNING) {
      throw new CodedError("throttled", "too_many_tasks", `Cannot start another task: ${MAX_RUNNING} run`);
    }
    const { clock, randomness } = repository;
    const record: TaskRecord = {
      id: newId(clock, randomness),
      kind: work.kind,
      branch: work.branch,
      source: work.kind === "merge" ? work.source : "",
      state: "running",
      updated: timestampOf(clock.now()),
      beats: 0,
      isCancelAsked: false,
      commitId: "",
      errorKind: "",
      errorCode: "",
      errorMessage: "",
    };
    const task: RunningTask = { repository, stopper: new AbortController(), record, isEnded: false };
    this.#running.set(record.id, task);
    try {
      await deleteOld(repository);
      await put(task);
    } catch (error) {
      this.#running.delete(record.id);
      throw error;
    }
    void this.#run(name, work, task);
    return record.id;
  }

  async get(name: string, id: string): Promise<TaskInfo> {
    const repository = await this.#open(name);
    const found = await find(repository, id);
    if (found.record.state !== "running" || this.#running.has(id)) {
      this.#watched.delete(id);
      return taskInfo(found.record);
    }
    return taskInfo(
      await this.#heardOf(repository, found) ? found.record : (await find(repository, id)).record,
    );
  }

  async cancel(name: string, id: string): Promise<void> {
    const repository = await this.#open(name);
    const here = this.#running.get(id);
    if (here) return here.stopper.abort();
    while (true) {
      const found = await find(repository, id);
      if (found.record.state !== "running") return;
      if (await change(repository, found, { isCancelAsked: true })) return;
    }
  }

  async beat(): Promise<void> {
    await Promise.allSettled([...this.#running.values()].map(beatOne));
  }

  async #run(name: string, work: TaskWork, task: RunningTask): Promise<void> {
    const end: Partial<TaskRecord> = await this.#perform(name, work, task.stopper.signal).then(
      (commitId) => ({ state: "done" as const, commitId }),
      failure,
    );
    task.isEnded = true;
    task.record = { ...task.record, ...end };
    try {
      await put(task);
    } catch {
      // The record goes silent, and whoever looks will find the task interrupted.
    } finally {
      this.#running.delete(task.record.id);
    }
  }

  /** Does the work; returns the commit that it made. */
  async #perform(repository: string, work: TaskWork, signal: AbortSignal): Promise<string> {
    if (work.kind === "commit") {
      return (await this.#store.commit(repository, work.branch, { ...work.options, signal })).id;
    }
    return (await this.#store.merge(repository, work.source, work.branch, { ...work.options, signal }))
      .reference;
  }

  /** Whether a task of another process still gives signs of life; if not, it is marked as interrupted. */
  async #heardOf(repository: Repository, found: FoundTask): Promise<boolean> {
    const { id } = found.record;
    const watched = this.#watched.get(id);
    if (!watched || !equalBytes(watched.value, found.stored.value)) {
      if (this.#watched.size >= MAX_WATCHED) this.#watched.delete(this.#watched.keys().next().value!);
      this.#watched.set(id, { value: found.stored.value, sinceMs: repository.clock.now() });
      return true;
    }
    if (repository.clock.now() - watched.sinceMs < SILENCE_MS) return true;
    this.#watched.delete(id);
    await change(repository, found, failure(interrupted(found.record)));
    return false;
  }
}

interface FoundTask {
  readonly record: TaskRecord;
  readonly stored: KvValue;
}

async function find({ kv, partition }: Repository, id: string): Promise<FoundTask> {
  const stored = /^[0-9a-v]{26}$/.test(id) ? await kv.get(partition, utf8(PREFIX + id)) : undefined;
  if (stored) return { record: decodeTask(stored.value), stored };
  throw new CodedError("not_found", "task_not_found", "Cannot find the task: there is none of that ID");
}

async function put({ repository, record }: RunningTask): Promise<void> {
  const { kv, partition, clock } = repository;
  const updated = { ...record, updated: timestampOf(clock.now()) };
  await kv.set(partition, utf8(PREFIX + record.id), encodeTask(updated));
}

/** Changes a task if it still is what was found; returns whether it was. */
async function change(
  { kv, partition, clock }: Repository,
  { record, stored }: FoundTask,
  changes: Partial<TaskRecord>,
): Promise<boolean> {
  const value = encodeTask({ ...record, ...changes, updated: timestampOf(clock.now()) });
  try {
    await kv.setIf(partition, utf8(PREFIX + record.id), value, stored.predicate);
    return true;
  } catch (error) {
    if (isCoded(error, "predicate_failed")) return false;
    throw error;
  }
}

async function beatOne(task: RunningTask): Promise<void> {
  const found = await find(task.repository, task.record.id);
  if (found.record.isCancelAsked) task.stopper.abort();
  const beats = Math.max(found.record.beats, task.record.beats) + 1;
  task.record = { ...task.record, beats };
  // A task that ended meanwhile may have written its end: then this comes too late, as it should.
  if (!task.isEnded) {
    await change(task.repository, found, {
      beats,
      state: "running",
      errorKind: "",
      errorCode: "",
      errorMessage: "",
    });
  }
}

/** What is over for long is forgotten; IDs sort by time, so a page of the oldest is enough. */
async function deleteOld({ kv, partition, clock }: Repository): Promise<void> {
  const before = clock.now() - KEPT_MS;
  for await (const page of kv.scan(partition, { prefix: utf8(PREFIX), pageSize: 100 })) {
    const old = page.filter(({ value }) => decodeTask(value).updated.seconds * 1000 < before);
    if (old.length > 0) await kv.deleteMany(partition, old.map(({ key }) => key));
    return;
  }
}

function interrupted({ kind }: TaskRecord): CodedError {
  return new CodedError(
    "unavailable",
    "task_interrupted",
    `The ${kind} was interrupted: what ran it has ended; the branch shows whether it landed`,
  );
}

function failure(error: unknown): Partial<TaskRecord> {
  const coded = error instanceof CodedError ? error : undefined;
  return {
    state: "failed",
    errorKind: coded?.kind ?? "internal",
    errorCode: coded?.code ?? "internal",
    errorMessage: coded?.message ?? "internal error",
  };
}
