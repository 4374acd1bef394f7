/** What must hold once all is quiet: after the last step, all processes killed, the power gone and come back. */

import type { Store } from "../../drivers/store.ts";
import { collect, readText } from "../support/test_engine.ts";
import { firstParents } from "./merging.ts";
import { type Model, sameTexts, type Shown, type StagedText } from "./model.ts";
import { fail, type Operation } from "./operation.ts";
import { REPOSITORY } from "./performing.ts";
import { textBySha } from "./reading.ts";

export async function checkEnd(store: Store, model: Model, operations: readonly Operation[]): Promise<void> {
  checkIfAbsent(model, operations);
  await model.checkCommits();
  for (const [name, { moves }] of model.refs) {
    const { record, shown, staged } = model.now(name);
    const logged = await collect(store.reflog(REPOSITORY, name));
    if (logged.map(({ id }) => id).join() !== moves.map(({ id }) => id).join()) {
      fail(`the reflog of "${name}" is not whole`);
    }
    if (!record) continue;
    const found = await showsAll(store, model, name);
    if (!sameTexts(found, shown)) fail(`"${name}" shows ${told(found)} instead of ${told(shown)}`);
    if (record.branch) await checkBranch(store, model, { name, staged, head: record.branch.commitId });
  }
}

async function showsAll(store: Store, model: Model, ref: string): Promise<Shown> {
  const found = new Map<string, string>();
  for (const item of await collect(store.list(REPOSITORY, ref))) {
    if (item.kind !== "object") continue;
    const { path, sha256 } = item.stats;
    const text = textBySha(model, sha256);
    found.set(path, text);
    if (model.isUnflushed(model.now(ref), path)) continue;
    const read = await readText(store, ref, path);
    if (read !== text) fail(`"${path}" on "${ref}" reads as ${read}`);
  }
  return found;
}

async function checkBranch(
  store: Store,
  model: Model,
  { name, staged, head }: { name: string; staged: ReadonlyMap<string, StagedText>; head: string },
): Promise<void> {
  const log = (await collect(store.log(REPOSITORY, name))).map(({ id }) => id);
  if (log.join() !== firstParents(model, head).join()) fail(`the history of "${name}" is another`);
  const items = await collect(store.status(REPOSITORY, name));
  const found = new Map(
    items.map(({ path, right }) => [path, right ? textBySha(model, right.sha256) : null]),
  );
  const isSame = found.size === staged.size && [...found].every(([path, text]) => staged.get(path) === text);
  if (!isSame) fail(`"${name}" has staged ${told(found)} instead of ${told(staged)}`);
}

function told(texts: ReadonlyMap<string, StagedText>): string {
  return JSON.stringify(Object.fromEntries([...texts].sort()));
}

/**
 * Of conditional writes that were acknowledged, each found its path free: it was absent at some moment while the write ran,
 * and it was not another one of them that took it then.
 */
function checkIfAbsent(model: Model, operations: readonly Operation[]): void {
  const taken = operations.filter(({ task, outcome }) =>
    task.kind === "writeIfAbsent" && outcome === "acknowledged"
  );
  for (const by of taken) {
    if (by.task.kind !== "writeIfAbsent") continue;
    const { branch, path } = by.task;
    const { versions } = model.ref(branch);
    const isFree = versions.some(({ record, shown, step }, i) => {
      const next = versions[i + 1];
      if (!record || shown.has(path) || step > by.endedAt! || (next?.step ?? Infinity) < by.startedAt) {
        return false;
      }
      const taker = next?.shown.has(path) ? next.by : undefined;
      return taker === undefined || taker === by || !taken.includes(taker);
    });
    if (!isFree) {
      fail(`${by.id} took "${path}", which ${by.task.branch} showed all the time, or another one took`);
    }
  }
}
