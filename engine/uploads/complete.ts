/**
 * Completing an upload.
 *
 *     1. The parts named are looked up, and one object is made of them, whole and, if strict, on disk.    (make)
 *     2. Compare-and-set of the upload's record: somebody is about to stage the object.                   (land)
 *     3. The object is staged, as that of any put.                                                        (stage)
 *     4. Compare-and-set of the upload's record: it is completed. Then what it leaves is cleared away.    (end)
 *
 * A kill before 3 leaves the upload as it was, with an object that nobody refers to; a kill between 3 and 4 leaves the object
 * whole and the upload open. Who comes upon a record at 2 waits a little, and takes whoever wrote it for dead if nothing
 * follows: so an abort either comes before 2, and nothing is staged, or is told that there is no such upload. (One that has
 * stopped between 2 and 3 for seconds, and wakes, stages its object although the upload was dropped meanwhile.)
 */

import { EMPTY_BYTES, equalBytes } from "../../base/bytes.ts";
import { CodedError, isCoded } from "../../base/errors.ts";
import type { CompletedUpload, CompleteUploadOptions, NamedPart } from "../../drivers/uploads.ts";
import { encodeEntry, type Entry, pathKey } from "../objects/mod.ts";
import { WriteConditions } from "../operations/conditions.ts";
import { disposeUnused } from "../operations/dispose.ts";
import { findBranch } from "../operations/landing.ts";
import { refuseProtected } from "../operations/protection.ts";
import { stageWrites, type UnusedObject } from "../operations/stage.ts";
import { type Condition, stageIf } from "../operations/stage_if.ts";
import { statsOfEntry } from "../operations/stats.ts";
import { lookUp } from "../operations/view.ts";
import type { Repository } from "../repository.ts";
import { endUpload, settledUpload } from "./end.ts";
import { checkOrder, findParts, repeated } from "./named.ts";
import { entryOfParts, etagOfParts, type MadeObject, makeObject } from "./object.ts";
import { partInfo } from "./parts.ts";
import type { UploadRecord } from "./records.ts";
import { uploadInfo } from "./start.ts";
import {
  changeUpload,
  findUpload,
  type NumberedPart,
  partsOf,
  type SeenUpload,
  seeUpload,
  type UploadName,
} from "./upload.ts";

/** How often parts may be replaced while they are being completed. */
const MAX_ATTEMPTS = 10;

/** Fails with `upload_not_found`, `invalid_part_order`, `part_not_found`, or as a writer and its put would. */
export async function completeUpload(
  repository: Repository,
  name: UploadName,
  named: readonly NamedPart[],
  options: CompleteUploadOptions = {},
): Promise<CompletedUpload> {
  for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
    const { record } = await findUpload(repository, name);
    if (record.state !== "open") return repeated(repository, record, named);
    checkOrder(named);
    await findBranch(repository, name.branch);
    await refuseProtected(repository, name.branch, "write to");
    try {
      const parts = await findParts(repository, name, named);
      const note = await options.judge?.(parts.map(partInfo), uploadInfo(record)) ?? "";
      const done = await new Completion(repository, { name, parts, note, options }).run();
      if (done) return done;
    } catch (error) {
      if (!isCoded(error, "part_not_found")) throw error;
      // Whoever has ended the upload meanwhile has deleted the parts.
      if ((await findUpload(repository, name)).record.state === "open") throw error;
    }
  }
  throw new CodedError(
    "conflict",
    "try_again",
    `Cannot complete the upload of "${name.path}": its parts kept changing meanwhile; try again`,
  );
}

interface CompletionParts {
  readonly name: UploadName;
  readonly parts: readonly NumberedPart[];
  /** What is to be kept with the result. */
  readonly note: string;
  readonly options: CompleteUploadOptions;
}

/** One attempt to complete an upload with certain parts. */
class Completion {
  readonly #repository: Repository;
  readonly #name: UploadName;
  readonly #parts: readonly NumberedPart[];
  readonly #note: string;
  readonly #conditions: WriteConditions | undefined;
  readonly #isRelaxed: boolean;
  /** By what the upload's record tells that it is this attempt that stages. */
  readonly #landing: Uint8Array;
  /** Whether no other attempt may have staged the object. */
  #isFirst = true;

  constructor(repository: Repository, { name, parts, note, options }: CompletionParts) {
    this.#repository = repository;
    this.#name = name;
    this.#parts = parts;
    this.#note = note;
    this.#conditions = WriteConditions.of(name.path, options);
    this.#isRelaxed = options.durability === "relaxed" && !repository.objects.isFar;
    this.#landing = repository.randomness.bytes(16);
  }

  /** Returns `undefined` when parts were replaced meanwhile, so that all is to be done again. */
  async run(): Promise<CompletedUpload | undefined> {
    const repository = this.#repository, note = this.#note;
    await this.#refuseEarly();
    const made = await this.#make();
    if (!made) return undefined;
    const upload = await this.#land(made);
    if (upload.state !== "open") {
      if (made.origin === "new") await repository.objects.delete(made.address);
      return repeated(repository, upload, this.#parts.map(partInfo));
    }
    if (made.origin === "part" && !(await this.#areCurrent())) {
      await this.#giveUp(made);
      return undefined;
    }
    const { entry, unused } = await this.#stage(upload, made);
    const etag = etagOfParts(this.#parts.map(({ md5 }) => md5));
    const hasEnded = await this.#unlessTaken((seen) =>
      endUpload(repository, seen, { state: "completed", entry: encodeEntry(entry), note, etag })
    );
    // Whoever had adopted the part before, or took this over, may have staged it.
    if (unused && hasEnded && this.#isFirst) await disposeUnused(repository, unused);
    else if (this.#isRelaxed && made.origin !== "source") repository.lateFlush.add([made.address]);
    return { stats: statsOfEntry(repository, this.#name.path, entry), note };
  }

  /** A condition that does not hold now is told before gigabytes are moved. */
  async #refuseEarly(): Promise<void> {
    if (!this.#conditions) return;
    const { record } = await lookUp(this.#repository, this.#name.branch, pathKey(this.#name.path));
    if (!this.#conditions.hold(record)) throw this.#conditions.refusal;
  }

  async #make(): Promise<MadeObject | undefined> {
    try {
      const made = await makeObject(this.#repository, this.#name, this.#parts);
      const isOnDisk = made.origin !== "new" && !this.#parts.some(({ isUnflushed }) => isUnflushed);
      if (!this.#isRelaxed && !isOnDisk) await this.#repository.objects.flush([made.address]);
      return made;
    } catch (error) {
      if (isCoded(error, "part_not_found") && !(await this.#areCurrent())) return undefined;
      throw error;
    }
  }

  /** Says in the upload's record that the object is about to be staged. Returns the record; that of an ended upload as it is. */
  async #land({ origin, address }: MadeObject): Promise<UploadRecord> {
    while (true) {
      const seen = await settledUpload(this.#repository, this.#name);
      if (seen.record.state !== "open") return seen.record;
      const { adopted } = seen.record;
      this.#isFirst = !adopted.includes(address);
      const upload = await changeUpload(this.#repository, seen, {
        landing: this.#landing,
        adopted: isOwnPart(origin) && this.#isFirst ? [...adopted, address] : adopted,
      });
      if (upload) return upload;
    }
  }

  /** Stages the object. Returns the entry that the path has then: of content that was committed already, the committed one. */
  async #stage(
    upload: UploadRecord,
    made: MadeObject,
  ): Promise<{ entry: Entry; unused?: UnusedObject | undefined }> {
    const repository = this.#repository, { branch, path } = this.#name;
    const entry = entryOfParts(repository, upload, { made, parts: this.#parts });
    const isFresh = made.origin !== "source";
    const write = { key: pathKey(path), entry, isFresh, isUnflushed: this.#isRelaxed };
    try {
      if (!this.#conditions) {
        const [unused] = await stageWrites(repository, branch, [write]);
        return { entry: unused?.kept ?? entry, unused };
      }
      const condition: Condition = (shown) => this.#conditions!.hold(shown);
      const outcome = await stageIf(repository, branch, { write, condition });
      if (outcome === "staged") return { entry };
      if (outcome === "refused") await this.#giveUp(made);
      throw this.#conditions.refusal;
    } catch (error) {
      // What was adopted stays so: it may have been staged.
      await this.#unlessTaken((seen) => changeUpload(repository, seen, { landing: EMPTY_BYTES }));
      throw error;
    }
  }

  /** Takes back that the object is about to be staged, which it never was. */
  async #giveUp({ origin, address }: MadeObject): Promise<void> {
    const repository = this.#repository;
    const isOurs = await this.#unlessTaken((seen) => {
      const adopted = this.#isFirst
        ? seen.record.adopted.filter((one) => one !== address)
        : seen.record.adopted;
      return changeUpload(repository, seen, { landing: EMPTY_BYTES, adopted });
    });
    // Who replaced the part meanwhile took it for the object.
    const isLeft = origin === "part" && isOurs && this.#isFirst && !(await this.#areCurrent());
    if (origin === "new" || isLeft) await repository.objects.delete(address);
  }

  /** Changes the upload's record if it still is this attempt that it speaks of; returns whether it was. */
  async #unlessTaken(change: (seen: SeenUpload) => Promise<unknown>): Promise<boolean> {
    while (true) {
      const seen = await seeUpload(this.#repository, this.#name.id);
      if (!seen || !equalBytes(seen.record.landing, this.#landing)) return false;
      if (await change(seen)) return true;
    }
  }

  /** Whether the parts still are those that were looked up. */
  async #areCurrent(): Promise<boolean> {
    const current = new Map<number, string>();
    for await (const page of partsOf(this.#repository, this.#name.id)) {
      for (const { number, address } of page) current.set(number, address);
    }
    return this.#parts.every(({ number, address }) => current.get(number) === address);
  }
}

/** Whether an object is a file of the upload's own, which is not to be deleted with it. */
function isOwnPart(origin: MadeObject["origin"]): boolean {
  return origin === "part" || origin === "slab";
}
