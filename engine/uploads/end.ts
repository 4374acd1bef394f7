/**
 * The end of uploads: aborting them, clearing away what they leave, and finding those that were abandoned.
 *
 * First the record says that the upload has ended; then the rest goes. A kill in between leaves the rest to whoever looks
 * after what is due. The record itself stays for some minutes: by it a repetition is recognised, and a part that was on its way.
 */

import { setImmediate } from "node:timers";
import { EMPTY_BYTES, equalBytes } from "../../base/bytes.ts";
import { millisecondsOf } from "../../base/clock.ts";
import type { Repository } from "../repository.ts";
import { DUE_PREFIX, dueKey, dueParts, listedKey, partKey, uploadKey, type UploadRecord } from "./records.ts";
import { dropSlabs } from "./slab.ts";
import { OPEN_MS } from "./start.ts";
import {
  changeUpload,
  dropBytes,
  findUpload,
  partsOf,
  type SeenUpload,
  seeUpload,
  type UploadName,
  uploadNotFound,
  uploadsPartition,
} from "./upload.ts";

/** How long it is known of an upload that it has ended. */
const KNOWN_MS = 15 * 60 * 1000;
/** Whoever is about to stage an object takes milliseconds; of whom nothing has come after so long, has died. */
const MAX_LOOKS = 100;
const LOOK_MS = 50;
const DELETED_AT_ONCE = 64;

/** Drops an upload and its parts. Fails with `upload_not_found`. */
export async function abortUpload(repository: Repository, name: UploadName): Promise<void> {
  while (true) {
    const seen = await settledUpload(repository, name);
    if (seen.record.state !== "open") throw uploadNotFound(name);
    if (await endUpload(repository, seen, { state: "aborted" })) return await repository.checkLive();
  }
}

/** Returns an upload whose object nobody alive is about to stage. Fails with `upload_not_found`. */
export async function settledUpload(repository: Repository, name: UploadName): Promise<SeenUpload> {
  let seen = await findUpload(repository, name);
  for (let look = 0; look < MAX_LOOKS && seen.record.landing.length > 0; look++) {
    await repository.clock.sleep(LOOK_MS);
    const again = await findUpload(repository, name);
    if (!equalBytes(again.record.landing, seen.record.landing)) look = 0;
    seen = again;
  }
  return seen;
}

/** Ends an upload if it still is what was seen, and clears away what it leaves; returns whether it was. */
export async function endUpload(
  repository: Repository,
  seen: SeenUpload,
  changes: Partial<UploadRecord> & Pick<UploadRecord, "state">,
): Promise<boolean> {
  const due = Math.floor(repository.clock.now() + KNOWN_MS);
  const ended = await changeUpload(repository, seen, { ...changes, due, landing: EMPTY_BYTES });
  if (!ended) return false;
  // It has ended, whatever becomes of the rest.
  await clearAway(repository, ended, seen.record).catch(() => {});
  return true;
}

async function clearAway(repository: Repository, ended: UploadRecord, before: UploadRecord): Promise<void> {
  const listed = listedKey(ended);
  await repository.kv.setMany(uploadsPartition(repository), [{ key: dueKey(ended), value: listed }]);
  await dropParts(repository, ended, [dueKey(before), listed]);
}

/** Deletes what was stored for an upload and the records of it, and other keys with them. */
async function dropParts(
  repository: Repository,
  upload: UploadRecord,
  also: readonly Uint8Array[],
): Promise<void> {
  const partition = uploadsPartition(repository);
  let keys = also;
  for await (const page of partsOf(repository, upload.id)) {
    for (let at = 0; at < page.length; at += DELETED_AT_ONCE) {
      await Promise.all(
        page.slice(at, at + DELETED_AT_ONCE).map((part) => dropBytes(repository, upload, part)),
      );
      // Others get their turn, however fast the disk is.
      await new Promise(setImmediate);
    }
    await repository.kv.deleteMany(partition, [
      ...keys,
      ...page.map(({ number }) => partKey(upload.id, number)),
    ]);
    keys = [];
  }
  await dropSlabs(repository, upload);
  if (keys.length > 0) await repository.kv.deleteMany(partition, keys);
}

/** Looks after up to `atMost` uploads for which it is time; returns how many were dropped. */
export async function dropExpired(repository: Repository, atMost: number): Promise<number> {
  const { kv, clock } = repository;
  let dropped = 0, left = atMost;
  const options = { prefix: DUE_PREFIX, pageSize: Math.min(atMost, DELETED_AT_ONCE) };
  for await (const page of kv.scan(uploadsPartition(repository), options)) {
    for (const { key, value } of page) {
      if (left-- <= 0 || dueParts(key).due > clock.now()) return dropped;
      if (await lookAfter(repository, key, value)) dropped++;
    }
  }
  return dropped;
}

/** Does what is due for an upload; returns whether it was dropped. `listed` is what listings find it by. */
async function lookAfter(repository: Repository, key: Uint8Array, listed: Uint8Array): Promise<boolean> {
  const { kv } = repository;
  const partition = uploadsPartition(repository);
  const { due, id } = dueParts(key);
  const seen = await seeUpload(repository, id);
  if (seen && seen.record.due > due) {
    // Put off. Whoever did may not have come to say until when.
    await kv.setMany(partition, [{ key: dueKey(seen.record), value: listed }]);
    await kv.deleteMany(partition, seen.record.state === "open" ? [key] : [key, listed]);
    return false;
  }
  if (seen?.record.state === "open") {
    if (await putOff(repository, seen)) return false;
    return await endUpload(repository, seen, { state: "aborted" });
  }
  if (seen) await dropParts(repository, seen.record, [uploadKey(id)]);
  await kv.deleteMany(partition, [key, listed]);
  return seen !== undefined;
}

/** Gives an upload more time if a part has come lately; returns whether one has. */
async function putOff(repository: Repository, seen: SeenUpload): Promise<boolean> {
  const { kv, clock } = repository;
  let newest = 0;
  for await (const page of partsOf(repository, seen.record.id)) {
    for (const { stored } of page) newest = Math.max(newest, millisecondsOf(stored));
  }
  const due = Math.floor(newest + OPEN_MS);
  if (due <= clock.now()) return false;
  const later = await changeUpload(repository, seen, { due });
  if (!later) return true;
  const partition = uploadsPartition(repository);
  await kv.setMany(partition, [{ key: dueKey(later), value: listedKey(later) }]);
  await kv.delete(partition, dueKey(seen.record));
  return true;
}
