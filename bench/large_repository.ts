/**
 * A repository with a commit of many entries. Only a few objects have bytes: the entries are written by the engine's own
 * operations, without a million files that no figure reads.
 */

import { join } from "node:path";
import { hex, utf8 } from "../base/bytes.ts";
import { systemClock } from "../base/clock.ts";
import { sha256 } from "../base/hashes.ts";
import { systemRandomness } from "../base/randomness.ts";
import { openDiskCache } from "../cache/mod.ts";
import { openFileObjectStore } from "../drivers/file/mod.ts";
import { applyChanges, type Change } from "../engine/committed/mod.ts";
import { type Entry, entryRecord } from "../engine/objects/mod.ts";
import { prepareCommit } from "../engine/operations/commit.ts";
import { land } from "../engine/operations/landing.ts";
import { Repositories } from "../engine/refs/mod.ts";
import { Repository } from "../engine/repository.ts";
import { openLmdb } from "../kv/lmdb/mod.ts";

const BLOCK = 1000;

/** Returns the path of an entry; in their order they are in the order of bytes. */
export function pathOf(i: number): string {
  const digits = String(i).padStart(8, "0");
  return `folder-${digits.slice(0, 5)}/object-${digits}`;
}

/** Returns what `stat` has to say of an entry. */
export function entryOf(i: number): Entry {
  const content = sha256(utf8(String(i)));
  const id = hex(content);
  return {
    address: `data/${i % 4}/${i % 8}/${i % 7}/${id.slice(0, 26)}`,
    addressType: 1,
    lastModified: { seconds: 1_700_000_000 + i, nanos: 0 },
    sizeBytes: 100 + i % 1901,
    etag: id.slice(32),
    metadata: {},
    contentType: "application/octet-stream",
    sha256: content,
  };
}

async function* entries(count: number): AsyncGenerator<readonly Change[]> {
  for (let start = 0; start < count; start += BLOCK) {
    const length = Math.min(BLOCK, count - start);
    yield Array.from({ length }, (_, at) => {
      const key = utf8(pathOf(start + at));
      return { key, record: entryRecord(key, entryOf(start + at)) };
    });
  }
}

/** Commits `count` entries to `main` of an empty repository in a home. */
export async function commitEntries(
  place: { readonly kv: string; readonly cache: string; readonly storage: (name: string) => string },
  name: string,
  count: number,
): Promise<void> {
  const kv = await openLmdb(place.kv);
  try {
    const record = await new Repositories(kv).get(name);
    const address = record.storageNamespace;
    const objects = openFileObjectStore({ root: place.storage(address), address });
    const context = {
      kv,
      openObjects: () => Promise.resolve(objects),
      canonicalNamespace: (namespace: string) => namespace,
      defaultNamespace: () => address,
      openCache: (uid: string) => openDiskCache({ folder: join(place.cache, uid), maxBytes: 1024 ** 3 }),
      clock: systemClock,
      randomness: systemRandomness,
    };
    const repository = new Repository(context, record, objects);
    await land(repository, "main", async ({ commitId }) => {
      const parent = await repository.commits.get(commitId);
      const base = repository.metarange(parent.metaRangeId);
      const applied = await applyChanges(repository.files, base, entries(count), repository.applyOptions);
      const text = { parents: [parent], committer: "bench", message: "Many entries", metadata: {} };
      const commit = await prepareCommit(repository, applied, text);
      return {
        landing: { commitId: commit.id, commit, note: { operation: "commit", who: "bench" } },
        result: commit,
      };
    });
  } finally {
    await kv.close();
  }
}
