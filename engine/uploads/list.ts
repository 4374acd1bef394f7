/** Listing open uploads by branch and path. */

import { afterKey, compareBytes, concatBytes, equalBytes, utf8 } from "../../base/bytes.ts";
import type { ListUploadsOptions, UploadInfo } from "../../drivers/uploads.ts";
import type { Repository } from "../repository.ts";
import { listedParts, mayBeCut, nameOf, namePrefix, type UploadRecord } from "./records.ts";
import { uploadInfo } from "./start.ts";
import { seeUpload, uploadsPartition } from "./upload.ts";

const PAGE = 100;

interface Listed {
  readonly name: Uint8Array;
  readonly record: UploadRecord;
}

/** Yields open uploads in byte order of `BRANCH/PATH`, those of one path as they were started. */
export async function* listUploads(
  repository: Repository,
  { prefix = "", after }: ListUploadsOptions = {},
): AsyncGenerator<readonly UploadInfo[]> {
  const isWanted = ({ name, record }: Listed) => {
    if (record.state !== "open" || !nameOf(record).startsWith(prefix)) return false;
    const order = after ? compareBytes(name, utf8(after.name)) : 1;
    return order > 0 || (order === 0 && after?.id !== undefined && record.id > after.id);
  };
  for await (const group of groups(repository, { prefix, after })) {
    const wanted = group.filter(isWanted);
    if (wanted.length > 0) yield wanted.map(({ record }) => uploadInfo(record));
  }
}

/**
 * Yields uploads in order. Keys have the order but where names were cut: those that share all that the key has of them come
 * together, and are sorted here.
 */
async function* groups(
  repository: Repository,
  { prefix = "", after }: ListUploadsOptions,
): AsyncGenerator<readonly Listed[]> {
  const options = {
    prefix: namePrefix(prefix).prefix,
    pageSize: PAGE,
    ...(after ? { start: startOf(after) } : {}),
  };
  let held: Listed[] = [], heldCut: Uint8Array | undefined;
  for await (const page of repository.kv.scan(uploadsPartition(repository), options)) {
    const keys = page.map(({ key }) => listedParts(key));
    const found = await Promise.all(keys.map(({ id }) => seeUpload(repository, id)));
    const ready: Listed[] = [];
    for (let i = 0; i < keys.length; i++) {
      const seen = found[i];
      if (!seen) continue;
      const cut = mayBeCut(keys[i]!.name) ? keys[i]!.name : undefined;
      if (!cut || !heldCut || !equalBytes(cut, heldCut)) {
        ready.push(...held.sort(inOrder));
        held = [];
      }
      heldCut = cut;
      const listed = { name: utf8(nameOf(seen.record)), record: seen.record };
      if (cut) held.push(listed);
      else ready.push(listed);
    }
    if (ready.length > 0) yield ready;
  }
  if (held.length > 0) yield held.sort(inOrder);
}

/** Where to begin: those before are not wanted. */
function startOf({ name, id }: NonNullable<ListUploadsOptions["after"]>): Uint8Array {
  const { prefix, isCut } = namePrefix(name);
  if (isCut || id === undefined) return prefix;
  return afterKey(concatBytes(prefix, Uint8Array.of(0), utf8(id)));
}

function inOrder(a: Listed, b: Listed): number {
  return compareBytes(a.name, b.name) || (a.record.id < b.record.id ? -1 : 1);
}
