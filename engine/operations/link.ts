/**
 * Objects that their writers store themselves: at an address that was issued before, and that is linked to a path after.
 *
 * **An address is taken only if it was issued for this very repository, branch and path, and once.** Addresses can be guessed:
 * who could link any would read other repositories' objects. What was issued stands in the repository's partition, so that
 * every server of the home knows it:
 *
 *     issued/<id>     Issued { string address = 1; string branch = 2; string path = 3; uint64 expires = 4; }
 *                     nothing: it was used
 *
 * The ids are in order of time, so those that have expired are in front.
 */

import { hex, lossyText, utf8 } from "../../base/bytes.ts";
import { timestampOf } from "../../base/clock.ts";
import { CodedError, isCoded } from "../../base/errors.ts";
import { runningHash } from "../../base/hashes.ts";
import { ProtobufError, protobufFields, protobufString, ProtobufWriter } from "../../base/protobuf.ts";
import { checkObjectText } from "../../drivers/object_text.ts";
import type { IssuedAddress, LinkOptions, ObjectStats } from "../../drivers/store.ts";
import { DEFAULT_CONTENT_TYPE, type Entry, millisecondsOfId, newAddress, pathKey } from "../objects/mod.ts";
import type { Repository } from "../repository.ts";
import { WriteConditions } from "./conditions.ts";
import { findBranch } from "./landing.ts";
import { refuseProtected } from "./protection.ts";
import { stageWrites } from "./stage.ts";
import { stageIf } from "./stage_if.ts";
import { statsOfEntry } from "./stats.ts";

const PREFIX = "issued/";
const VALID_SECONDS = 24 * 60 * 60;
const USED = utf8("");
/** How many records of expired addresses each new one clears away. */
const CLEARED_AT_ONCE = 4;

interface Issued {
  readonly address: string;
  readonly branch: string;
  readonly path: string;
  /** Seconds since the epoch. */
  readonly expires: number;
}

/** Issues an address for one branch and path. Fails with `branch_not_found`, `not_a_branch`. */
export async function issueAddress(
  repository: Repository,
  branch: string,
  path: string,
): Promise<IssuedAddress> {
  pathKey(path);
  await findBranch(repository, branch);
  await refuseProtected(repository, branch, "write to");
  const { kv, partition, clock, objects } = repository;
  await clearExpired(repository);
  const address = newAddress(clock, repository.randomness);
  const expires = Math.floor(clock.now() / 1000) + VALID_SECONDS;
  await kv.set(partition, keyOf(address), encode({ address, branch, path, expires }));
  await repository.checkLive();
  return { physicalAddress: objects.locate(address), expires };
}

/** Stages the object at an issued address. Fails with `address_not_issued`, `link_mismatch`, or as its conditions say. */
export async function linkAddress(
  repository: Repository,
  { branch, path }: { readonly branch: string; readonly path: string },
  options: LinkOptions,
): Promise<ObjectStats> {
  const key = pathKey(path);
  checkObjectText(options);
  // It is served as the object's ETag.
  if (!/^[\x20-\x7e]*$/.test(options.checksum)) throw mismatch(path, "its checksum is no ETag");
  await findBranch(repository, branch);
  await refuseProtected(repository, branch, "write to");
  const address = await takeIssued(repository, { branch, path, ...options });
  const entry = await entryAt(repository, address, { ...options, path });
  await repository.objects.flush([address]);
  // Not fresh: its bytes are its writer's, so they are never deleted or moved for being a repetition.
  const write = { key, entry, isFresh: false, isUnflushed: false };
  const conditions = WriteConditions.of(path, options);
  if (!conditions) await stageWrites(repository, branch, [write]);
  else {
    const condition = conditions.hold.bind(conditions);
    if (await stageIf(repository, branch, { write, condition }) !== "staged") throw conditions.refusal;
  }
  return statsOfEntry(repository, path, entry);
}

/** Uses an issued address up, and returns it as it stands in entries. */
async function takeIssued(
  repository: Repository,
  { branch, path, physicalAddress }: { branch: string; path: string; physicalAddress: string },
): Promise<string> {
  const { kv, partition, objects, clock } = repository;
  // Looked up by what follows the last slash alone; all the rest must then be what was issued, to the letter.
  const id = physicalAddress.slice(physicalAddress.lastIndexOf("/") + 1);
  const found = /^[0-9a-v]{26}$/.test(id) ? await kv.get(partition, utf8(PREFIX + id)) : undefined;
  const issued = found && found.value.length > 0 ? decode(found.value) : undefined;
  if (
    !issued || objects.locate(issued.address) !== physicalAddress || issued.branch !== branch ||
    issued.path !== path || issued.expires * 1000 <= clock.now()
  ) throw notIssued(branch, path);
  try {
    await kv.setIf(partition, utf8(PREFIX + id), USED, found!.predicate);
  } catch (error) {
    if (isCoded(error, "predicate_failed")) throw notIssued(branch, path);
    throw error;
  }
  return issued.address;
}

/** Reads the object that was stored, and returns the entry for it. */
async function entryAt(
  { objects, clock }: Repository,
  address: string,
  { path, checksum, sizeBytes, contentType, metadata = {} }: LinkOptions & { readonly path: string },
): Promise<Entry> {
  const info = await objects.head(address);
  if (!info) throw mismatch(path, "there is no object at the address");
  if (info.sizeBytes !== sizeBytes) {
    throw mismatch(path, `it has ${info.sizeBytes} bytes, and ${sizeBytes} were told`);
  }
  const sha256 = runningHash("sha256"), md5 = runningHash("md5");
  let size = 0;
  for await (const piece of (await objects.get(address)).body) {
    sha256.update(piece);
    md5.update(piece);
    size += piece.length;
  }
  const isMd5 = /^[0-9a-f]{32}$/i.test(checksum);
  if (size !== sizeBytes || (isMd5 && checksum.toLowerCase() !== hex(md5.digest()))) {
    throw mismatch(path, "its bytes have another checksum than was told");
  }
  return {
    address,
    addressType: 1,
    lastModified: timestampOf(clock.now()),
    sizeBytes,
    etag: isMd5 ? checksum.toLowerCase() : checksum,
    metadata,
    contentType: contentType || DEFAULT_CONTENT_TYPE,
    sha256: sha256.digest(),
  };
}

async function clearExpired({ kv, partition, clock }: Repository): Promise<void> {
  for await (const page of kv.scan(partition, { prefix: utf8(PREFIX), pageSize: CLEARED_AT_ONCE })) {
    const expired = page.filter(({ key }) => expiresAt(lossyText(key).slice(PREFIX.length)) < clock.now());
    if (expired.length > 0) await kv.deleteMany(partition, expired.map(({ key }) => key));
    return;
  }
}

/** When an address expires that was issued under an id, in milliseconds: a used one says it no other way. */
function expiresAt(id: string): number {
  return millisecondsOfId(id) + (VALID_SECONDS + 1) * 1000;
}

function keyOf(address: string): Uint8Array {
  return utf8(PREFIX + address.slice(address.lastIndexOf("/") + 1));
}

function encode({ address, branch, path, expires }: Issued): Uint8Array {
  return new ProtobufWriter().string(1, address).string(2, branch).string(3, path).uint(4, expires).finish();
}

function decode(value: Uint8Array): Issued {
  const texts: string[] = [];
  let expires = 0;
  try {
    for (const field of protobufFields(value)) {
      if (field.number === 4) expires = field.uint;
      else if (field.number < 4) texts[field.number] = protobufString(field);
    }
  } catch (error) {
    if (!(error instanceof ProtobufError)) throw error;
    throw new CodedError("corrupt", "corrupt_record", `Cannot read an issued address: ${error.message}`, {
      cause: error,
    });
  }
  return { address: texts[1] ?? "", branch: texts[2] ?? "", path: texts[3] ?? "", expires };
}

function notIssued(branch: string, path: string): CodedError {
  return new CodedError(
    "invalid",
    "address_not_issued",
    `Cannot link "${path}": the address was not issued for it, or was used, or has expired`,
    { details: { branch, path } },
  );
}

function mismatch(path: string, why: string): CodedError {
  return new CodedError("invalid", "link_mismatch", `Cannot link "${path}": ${why}`, { details: { path } });
}
