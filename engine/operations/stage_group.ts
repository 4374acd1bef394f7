/**
 * Group commit of staged writes: what arrives while a group is being flushed and staged is the next group, and shares its
 * flushes. A write that comes alone waits for nothing.
 */

import { lossyText } from "../../base/bytes.ts";
import { CodedError, isCoded } from "../../base/errors.ts";
import type { Repository } from "../repository.ts";
import { type StagedWrite, stageWrites, type UnusedObject } from "./stage.ts";

/** More than this many would only be late together. */
const MAX_GROUP = 512;

interface Waiting {
  readonly write: StagedWrite;
  readonly resolve: (unused: UnusedObject | undefined) => void;
  readonly reject: (error: unknown) => void;
}

const groups = new WeakMap<Repository, StageGroups>();

/** Flushes and stages one write; returns its object if it is not needed. Fails as {@link stageWrites} does. */
export function stageInGroup(
  repository: Repository,
  branch: string,
  write: StagedWrite,
): Promise<UnusedObject | undefined> {
  let own = groups.get(repository);
  if (!own) groups.set(repository, own = new StageGroups(repository));
  return own.stage(branch, write);
}

/** Stages single writes to the branches of a repository, several at once where several come. */
class StageGroups {
  readonly #repository: Repository;
  readonly #waiting = new Map<string, Waiting[]>();

  constructor(repository: Repository) {
    this.#repository = repository;
  }

  stage(branch: string, write: StagedWrite): Promise<UnusedObject | undefined> {
    return new Promise((resolve, reject) => {
      const waiting = this.#waiting.get(branch);
      if (waiting) return void waiting.push({ write, resolve, reject });
      const first: Waiting[] = [{ write, resolve, reject }];
      this.#waiting.set(branch, first);
      void this.#run(branch, first);
    });
  }

  /** Stages group after group until nobody waits. */
  async #run(branch: string, waiting: Waiting[]): Promise<void> {
    while (waiting.length > 0) {
      const group = takeDistinct(waiting);
      if (await this.#stageGroup(branch, group) || group.length === 1) continue;
      // One that cannot be stored must not take the others with it.
      for (const alone of group) await this.#stageGroup(branch, [alone]);
    }
    this.#waiting.delete(branch);
  }

  /** Returns whether the group is settled; one of several writes that cannot be flushed is not. */
  async #stageGroup(branch: string, group: readonly Waiting[]): Promise<boolean> {
    const writes = group.map(({ write }) => write);
    try {
      await flushObjects(this.#repository, writes);
    } catch (error) {
      if (group.length > 1) return false;
      group[0]!.reject(error);
      return true;
    }
    // What failed from here on may have been staged all the same. It is not tried again: only who staged an object knows that
    // commits may name it, and it would pass for one that nobody needs.
    try {
      const unused = await stageWrites(this.#repository, branch, writes);
      const byAddress = new Map(unused.map((object) => [object.address, object]));
      for (const { write, resolve } of group) resolve(write.entry && byAddress.get(write.entry.address));
    } catch (error) {
      for (const { reject } of group) reject(error);
    }
    return true;
  }
}

/** Makes the objects of writes survive power loss, unless the records are to say that they may not. */
export async function flushObjects({ objects }: Repository, writes: readonly StagedWrite[]): Promise<void> {
  const addresses = writes.flatMap(({ entry, isFresh, isUnflushed }) =>
    entry && isFresh && !isUnflushed ? [entry.address] : []
  );
  if (addresses.length === 0) return;
  try {
    await objects.flush(addresses);
  } catch (error) {
    throw isCoded(error, "object_not_found") ? vanished(error) : error;
  }
}

/** It was written a moment ago: somebody takes the storage namespace away, and nobody asked for that object. */
function vanished(cause: CodedError): CodedError {
  return new CodedError(
    "unavailable",
    "storage_missing",
    "Cannot store objects: what was just written to the storage namespace is gone; something deletes its files",
    { details: cause.details, cause },
  );
}

/** Takes writes from the front, up to one whose key is taken already: that one comes after. */
function takeDistinct(waiting: Waiting[]): Waiting[] {
  const keys = new Set<string>();
  let count = 0;
  for (; count < waiting.length && count < MAX_GROUP; count++) {
    const key = lossyText(waiting[count]!.write.key);
    if (keys.has(key)) break;
    keys.add(key);
  }
  return waiting.splice(0, count);
}
