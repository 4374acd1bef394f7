/**
 * The obvious ways that lose data, one or more for each section of the engine's design that is marked with a loss. Each lies
 * around a process's stores and makes the engine behave as if it were written so; the simulation must find every one.
 */

import { lossyText, utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { decodeRef } from "../../engine/refs/records.ts";
import { decodeStaged, encodeStaged } from "../../engine/staging/mod.ts";
import type { KvStore, KvValue } from "../../kv/store.ts";
import type { Operation, TaskKind } from "./operation.ts";
import type { Plant } from "./simulation.ts";
import { currentOperation } from "./stores.ts";

export interface PlantedFault {
  readonly name: string;
  /** The section of the engine's design that says why not. */
  readonly section: string;
  /** A seed that finds it, to be tried first; the draws of a later version may need another. */
  readonly seed: number;
  readonly plant: () => Plant;
}

export const PLANTED: readonly PlantedFault[] = [
  {
    name: "write acknowledged on a sealed token",
    section: "Staging a write",
    seed: 1,
    plant: () => ({ kv: (kv) => staleRefs(kv, ["write"]) }),
  },
  {
    name: "write acknowledged while its token is still listed",
    section: "Staging a write",
    seed: 3,
    plant: () => ({ kv: listedIsEnough }),
  },
  {
    name: "conditional write acknowledged on a sealed token",
    section: "Staging a write",
    seed: 30,
    plant: () => ({ kv: (kv) => staleRefs(kv, ["writeIfAbsent"]) }),
  },
  {
    name: "reader that falls through without looking at the branch again",
    section: "Reading a path on a branch",
    seed: 117,
    plant: () => ({ kv: (kv) => staleRefs(kv, ["read", "stat"]) }),
  },
  {
    name: "listing that outlives dropped tokens without looking at the branch again",
    section: "Reading a path on a branch",
    seed: 45,
    plant: () => ({ kv: (kv) => staleRefs(kv, ["list"]) }),
  },
  {
    name: "records of dropped tokens deleted at once",
    section: "Reading a path on a branch",
    seed: 4,
    plant: () => ({ kv: (kv) => cleaningAtOnce(staleRefs(kv, ["read", "stat", "list"])) }),
  },
  {
    name: "rest of a partial commit put back too late",
    section: "Commit",
    seed: 0,
    plant: () => ({ kv: restAfterLanding }),
  },
  {
    name: "rest of a partial commit put into the current token",
    section: "Commit",
    seed: 0,
    plant: () => ({ kv: restToCurrentToken }),
  },
  {
    name: "branch set without compare",
    section: "Commit",
    seed: 0,
    plant: () => ({ kv: withoutCompare }),
  },
  {
    name: "range reused unflushed",
    section: "Durability",
    seed: 1,
    plant: () => ({ objects: flushingOnlyOwn }),
  },
  {
    name: "objects named by a commit unflushed",
    section: "Durability",
    seed: 0,
    plant: () => ({ objects: (objects) => flushingOnly(objects, (key) => !key.startsWith("data/")) }),
  },
  {
    name: "staged record that hides that its object is unflushed",
    section: "Durability",
    seed: 4,
    plant: () => ({ kv: claimingFlushed }),
  },
  {
    name: "staged record relaxed, whoever wrote it",
    section: "Durability",
    seed: 4,
    plant: () => ({ kv: relaxingStaged }),
  },
  {
    name: "torn range reused unread",
    section: "Durability",
    seed: 453,
    plant: () => ({ objects: trustingNames }),
  },
];

const isRef = (key: Uint8Array) => lossyText(key).startsWith("refs/");
const isToken = (partition: Uint8Array) => lossyText(partition).includes("/");

/** What is staged is acknowledged before it is on disk, as if each writer were a relaxed one. */
function relaxingStaged(kv: KvStore): KvStore {
  return {
    ...kv,
    setMany: (partition, entries) => kv.setMany(partition, entries, { relaxed: isToken(partition) }),
  };
}

/** Answers every reading of a branch within an operation of some kinds with what the first one saw. */
function staleRefs(kv: KvStore, kinds: readonly TaskKind[]): KvStore {
  const seen = new WeakMap<Operation, Map<string, KvValue | undefined>>();
  return {
    ...kv,
    async get(partition, key) {
      const by = currentOperation.getStore();
      if (!by || !kinds.includes(by.task.kind) || !isRef(key)) return await kv.get(partition, key);
      const known = seen.get(by) ?? new Map<string, KvValue | undefined>();
      seen.set(by, known);
      const name = lossyText(key);
      if (!known.has(name)) known.set(name, await kv.get(partition, key));
      return known.get(name);
    },
  };
}

/** A write that finds its token among the sealed ones is told the branch as it was. */
function listedIsEnough(kv: KvStore): KvStore {
  const seen = new WeakMap<Operation, KvValue>();
  return {
    ...kv,
    async get(partition, key) {
      const found = await kv.get(partition, key);
      const by = currentOperation.getStore();
      if (by?.task.kind !== "write" || !isRef(key) || !found) return found;
      const before = seen.get(by);
      const token = before && decodeRef(before.value).branch?.stagingToken;
      if (before && token && decodeRef(found.value).branch?.sealedTokens.includes(token)) return before;
      seen.set(by, found);
      return found;
    },
  };
}

/** Deletes the records of a token when it is noted as dropped. */
function cleaningAtOnce(kv: KvStore): KvStore {
  return {
    ...kv,
    async setMany(partition, entries) {
      await kv.setMany(partition, entries);
      for (const { key, value } of entries) {
        if (!lossyText(key).startsWith("dropped/")) continue;
        for await (const page of kv.scan(value)) await kv.deleteMany(value, page.map((entry) => entry.key));
      }
    },
  };
}

/** Holds back what a commit writes to a token until the branch has moved. */
function restAfterLanding(kv: KvStore): KvStore {
  const held = new WeakMap<Operation, (() => Promise<void>)[]>();
  return {
    ...kv,
    async setMany(partition, entries) {
      const by = currentOperation.getStore();
      if (by?.task.kind !== "commit" || !isToken(partition)) return await kv.setMany(partition, entries);
      held.set(by, [...held.get(by) ?? [], () => kv.setMany(partition, entries)]);
    },
    async setIf(partition, key, value, predicate) {
      const by = currentOperation.getStore();
      const { branch } = isRef(key) ? decodeRef(value) : {};
      await kv.setIf(partition, key, value, predicate);
      if (!by || !branch || by.landed === undefined) return;
      for (const write of held.get(by) ?? []) await write();
      held.delete(by);
    },
  };
}

/** Puts what stays staged into the token that is the branch's current one. */
function restToCurrentToken(kv: KvStore): KvStore {
  return {
    ...kv,
    async setMany(partition, entries) {
      const by = currentOperation.getStore();
      if (by?.task.kind !== "commit" || !isToken(partition)) return await kv.setMany(partition, entries);
      const repository = utf8(lossyText(partition).split("/")[0]!);
      const found = await kv.get(repository, utf8(`refs/${by.task.branch}`));
      const current = found && decodeRef(found.value).branch?.stagingToken;
      await kv.setMany(current === undefined ? partition : utf8(current), entries);
    },
  };
}

/** Sets a ref that is there whatever it has become since it was read. */
function withoutCompare(kv: KvStore): KvStore {
  return {
    ...kv,
    setIf: (partition, key, value, predicate) =>
      isRef(key) && predicate ? kv.set(partition, key, value) : kv.setIf(partition, key, value, predicate),
  };
}

/** Flushes only what this process has put itself and was not there already. */
function flushingOnlyOwn(objects: ObjectStore): ObjectStore {
  const own = new Set<string>();
  return {
    ...flushingOnly(objects, (key) => own.has(key)),
    async put(key, body, options) {
      const info = await objects.put(key, body, options);
      own.add(key);
      return info;
    },
  };
}

function flushingOnly(objects: ObjectStore, isFlushed: (key: string) => boolean): ObjectStore {
  return { ...objects, flush: (keys) => objects.flush(keys.filter(isFlushed)) };
}

/** Stages every object as if it were on disk. */
function claimingFlushed(kv: KvStore): KvStore {
  return {
    ...kv,
    setMany: (partition, entries) =>
      kv.setMany(
        partition,
        !isToken(partition) ? entries : entries.map(({ key, value }) => ({
          key,
          value: encodeStaged({ ...decodeStaged(key, value), isUnflushed: false }),
        })),
      ),
  };
}

/** Takes a file of the right name for the right file. */
function trustingNames(objects: ObjectStore): ObjectStore {
  return {
    ...objects,
    async put(key, body, options) {
      try {
        return await objects.put(key, body, options);
      } catch (error) {
        const info = isCoded(error, "object_exists") ? await objects.head(key) : undefined;
        if (!info) throw error;
        return info;
      }
    },
  };
}
