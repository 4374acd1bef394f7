/**
 * Parts that are written where they will lie in the object: one behind the other in one file, the slab of their upload.
 *
 * Nearly all clients cut an object into parts of one size, so the first part of some size tells where each of the others
 * belongs. If in the end all named parts lie in the slab and fill it, it is the object, and no byte is copied; if not, they are
 * parts like any other, each a range of a file.
 *
 * **Nobody may write to a file that has become an object.** A slab is written by the process that made it alone, which knows
 * who still writes; so only that process may take it for the object, and it seals the slab first. For all others, and after a
 * restart, its parts are copied. A place in the slab is written once: a part that is written again lies elsewhere.
 */

import type { ByteStream } from "../../drivers/object_store.ts";
import { newAddress } from "../objects/mod.ts";
import type { Repository } from "../repository.ts";
import type { UploadRecord } from "./records.ts";
import { changeUpload, findOpen, type NumberedPart, type UploadName } from "./upload.ts";

/** Parts that others follow are no smaller, by S3's rule. */
const MIN_PART_BYTES = 5 * 1024 * 1024;
/** More than one only where several processes take parts of one upload. */
const MAX_SLABS = 16;
const MAX_REMEMBERED = 1000;

/** A place for one part. */
export interface Slot {
  readonly address: string;
  readonly offset: number;
  /** Writes the part, which has no more bytes than it was said to have. Fails with what the body or the store fails with. */
  write(body: Uint8Array | ByteStream): Promise<void>;
  /** Says that nothing is written any more; `isUsed` unless nothing will ever refer to what was. */
  end(isUsed: boolean): void;
  /** Has other parts lie elsewhere: what was written here may not reach the disk. */
  spoil(): void;
}

class Slab {
  readonly address: string;
  readonly #partBytes: number;
  readonly #taken = new Set<number>();
  #writers = 0;
  #isSealed = false;

  constructor(address: string, partBytes: number) {
    this.address = address;
    this.#partBytes = partBytes;
  }

  /** Returns the place of a part, if it fits, and nobody has had it. */
  take({ objects }: Repository, number: number, sizeBytes: number): Slot | undefined {
    const { address } = this;
    if (this.#isSealed || sizeBytes > this.#partBytes || this.#taken.has(number)) return undefined;
    this.#taken.add(number);
    this.#writers++;
    const offset = (number - 1) * this.#partBytes;
    return {
      address,
      offset,
      write: (body) => objects.putAt!(address, offset, body),
      end: (isUsed) => {
        this.#writers--;
        if (!isUsed) this.#taken.delete(number);
      },
      spoil: () => void (this.#isSealed = true),
    };
  }

  /** Lets nobody write any more; returns whether nobody does. */
  seal(): boolean {
    this.#isSealed = true;
    return this.#writers === 0;
  }
}

type Slabs = Map<string, Promise<Slab | undefined>>;
const known = new WeakMap<Repository, Slabs>();

function slabsOf(repository: Repository): Slabs {
  let slabs = known.get(repository);
  if (!slabs) known.set(repository, slabs = new Map());
  return slabs;
}

/** Returns the place of a part in the slab of its upload, which is made for the first one; `undefined` when it has none. */
export async function takeSlot(
  repository: Repository,
  upload: UploadName,
  { number, sizeBytes }: { readonly number: number; readonly sizeBytes: number | undefined },
): Promise<Slot | undefined> {
  if (sizeBytes === undefined || !repository.objects.putAt) return undefined;
  const slabs = slabsOf(repository);
  let making = slabs.get(upload.id);
  if (!making) {
    if (sizeBytes < MIN_PART_BYTES) return undefined;
    if (slabs.size >= MAX_REMEMBERED) slabs.delete(slabs.keys().next().value!);
    slabs.set(upload.id, making = makeSlab(repository, upload, sizeBytes));
    making.catch(() => slabs.delete(upload.id));
  }
  return (await making)?.take(repository, number, sizeBytes);
}

/** The upload's record names the file before it is made, so that it goes with the upload. */
async function makeSlab(
  repository: Repository,
  upload: UploadName,
  partBytes: number,
): Promise<Slab | undefined> {
  const address = newAddress(repository.clock, repository.randomness);
  while (true) {
    const seen = await findOpen(repository, upload);
    const { slabs } = seen.record;
    if (slabs.length >= MAX_SLABS) return undefined;
    if (await changeUpload(repository, seen, { slabs: [...slabs, address] })) break;
  }
  await repository.objects.put(address, new Uint8Array(0), { mode: "fresh" });
  return new Slab(address, partBytes);
}

/** Whether parts, in order, are all that is in a slab, and nobody can write to it any more. */
export async function areWholeSlab(
  repository: Repository,
  { id }: UploadName,
  parts: readonly NumberedPart[],
): Promise<boolean> {
  const slab = await slabsOf(repository).get(id);
  let end = 0;
  for (const part of parts) {
    if (part.address !== slab?.address || part.offset !== end) return false;
    end += part.sizeBytes;
  }
  if (!slab?.seal()) return false;
  return (await repository.objects.head(slab.address))?.sizeBytes === end;
}

/** Deletes the slabs of an upload that has ended, but one that may have become the object. */
export async function dropSlabs(
  repository: Repository,
  { id, slabs, adopted }: UploadRecord,
): Promise<void> {
  slabsOf(repository).delete(id);
  for (const address of slabs) {
    if (!adopted.includes(address)) await repository.objects.delete(address);
  }
}
