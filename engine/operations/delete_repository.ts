/**
 * Deleting a repository only if nothing is to be seen in it.
 *
 * A write is acknowledged once it is staged and the repository was still live after that. So whatever was acknowledged before
 * the repository is marked as deleted is seen by a look after the mark; if that finds something, the mark is taken back. Whoever
 * writes in between fails, as if the repository were gone.
 */

import { CodedError } from "../../base/errors.ts";
import type { Repositories } from "../refs/mod.ts";
import type { Repository } from "../repository.ts";
import { listView } from "./list.ts";
import { listRefs } from "./refs.ts";
import { openView } from "./view.ts";

/** Deletes an empty repository. Fails with `repository_not_empty`, `repository_not_found`. */
export async function deleteIfEmpty(repositories: Repositories, repository: Repository): Promise<void> {
  const { record } = repository;
  await checkEmpty(repository);
  await repositories.remove(record.id, record.instanceUid);
  try {
    await checkEmpty(repository);
  } catch (error) {
    await repositories.putBack(record);
    throw error;
  }
}

async function checkEmpty(repository: Repository): Promise<void> {
  if (await isEmpty(repository)) return;
  const { id } = repository.record;
  throw new CodedError(
    "conflict",
    "repository_not_empty",
    `Cannot delete repository "${id}": it has objects or tags`,
    { details: { repository: id } },
  );
}

async function isEmpty(repository: Repository): Promise<boolean> {
  for await (const _ of listRefs(repository, "tag")) return false;
  for await (const branches of listRefs(repository, "branch")) {
    for (const { id } of branches) {
      const view = await openView(repository, id);
      for await (const items of listView(repository, view, { amount: 1 })) if (items.length > 0) return false;
    }
  }
  return true;
}
