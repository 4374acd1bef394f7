/**
 * Files that lead engines such as Hive and Athena, which read the storage and not us, to what a branch shows: for each folder of
 * paths a `symlink.txt` with the physical addresses of the objects in it. They lie under `_lakefs/symlinks/`, in folders named as
 * the paths are: what makes a folder's name a partition's value is its name.
 */

import { lossyText, utf8 } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import type { ByteStream } from "../../drivers/object_store.ts";
import type { Repository } from "../repository.ts";
import { type Listed, listView } from "./list.ts";
import { getRef } from "./refs.ts";
import { statsOfRecord } from "./stats.ts";
import { openView, type View } from "./view.ts";

const FILE = "symlink.txt";
const FLUSHED_AT_ONCE = 256;

/**
 * Writes the files for what a branch shows under a folder, its uncommitted changes too, in place of those of an earlier time, and
 * returns where they lie; durable when it returns. Each file is replaced at once, all of them one after the other.
 *
 * Fails with `branch_not_found`, and with `unplaceable_key` for folders that the storage cannot have.
 */
export async function writeSymlinks(
  repository: Repository,
  branch: string,
  path: string,
): Promise<string> {
  await getRef(repository, "branch", branch);
  const folder = path === "" || path.endsWith("/") ? path : `${path}/`;
  // A branch's name may have a slash in it, and "a/b" must not lie in what is of "a".
  const root = `_lakefs/symlinks/${repository.name}/${branch.replaceAll("/", "%2F")}/`;
  const links = new Links(repository, await openView(repository, branch), root);
  await links.write(folder);
  await links.removeOld(folder);
  return repository.objects.locate((root + folder).slice(0, -1));
}

class Links {
  readonly #repository: Repository;
  readonly #view: View;
  readonly #root: string;

  constructor(repository: Repository, view: View, root: string) {
    this.#repository = repository;
    this.#view = view;
    this.#root = root;
  }

  async write(top: string): Promise<void> {
    const { objects } = this.#repository;
    let unflushed: string[] = [];
    for await (const folder of this.#foldersFrom(top)) {
      const lines = this.#lines(folder);
      const first = await lines.next();
      if (first.done) continue;
      const key = this.#keyOf(folder);
      await objects.put(key, inFront(first.value, lines));
      unflushed.push(key);
      if (unflushed.length < FLUSHED_AT_ONCE) continue;
      await objects.flush(unflushed);
      unflushed = [];
    }
    await objects.flush(unflushed);
  }

  /** Removes the files of folders in which nothing is any more. */
  async removeOld(top: string): Promise<void> {
    const { objects } = this.#repository;
    for await (const page of objects.pages({ prefix: this.#root + top })) {
      for (const { key } of page.objects) {
        const folder = key.slice(this.#root.length, -FILE.length);
        if (!await this.#hasObjects(folder)) await objects.delete(key);
      }
    }
  }

  async #hasObjects(folder: string): Promise<boolean> {
    for await (const _ of this.#lines(folder)) return true;
    return false;
  }

  #keyOf(folder: string): string {
    return this.#root + folder + FILE;
  }

  /** Yields a folder, then all folders in it: so many listings are open as folders lie in each other. */
  async *#foldersFrom(folder: string): AsyncGenerator<string> {
    refuseDots(folder);
    yield folder;
    for await (const block of this.#list(folder)) {
      for (const item of block) {
        if ("prefix" in item) yield* this.#foldersFrom(lossyText(item.prefix));
      }
    }
  }

  /** Yields the lines of a folder's file. */
  async *#lines(folder: string): AsyncGenerator<Uint8Array> {
    const ownKey = utf8(folder).length;
    for await (const block of this.#list(folder)) {
      const lines = block.flatMap((item) =>
        // An object that is named as the folder only marks that the folder is there.
        "record" in item && item.record.key.length > ownKey
          ? [`${statsOfRecord(this.#repository, item.record).physicalAddress}\n`]
          : []
      );
      if (lines.length > 0) yield utf8(lines.join(""));
    }
  }

  #list(folder: string): AsyncIterable<readonly Listed[]> {
    return listView(this.#repository, this.#view, { prefix: folder, delimiter: "/" });
  }
}

/** A storage may take such names as they are; what reads the storage would be led elsewhere by them. */
function refuseDots(folder: string): void {
  if (!/(?:^|\/)\.\.?\//.test(folder)) return;
  throw new CodedError(
    "invalid",
    "unplaceable_key",
    `Cannot write symlink files for "${folder}": "." and ".." are no names of folders`,
    { details: { path: folder } },
  );
}

async function* inFront(first: Uint8Array, rest: ByteStream): ByteStream {
  yield first;
  yield* rest;
}
