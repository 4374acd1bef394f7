/**
 * Settling a merge's conflicts: each one by the caller's resolver, then by the strategy; what is left stays a conflict.
 *
 * A conflict is settled where it stands among the changes, so neither they nor the conflicts are ever held all at once. New
 * content is stored as it comes and remembered by the contents of the three sides, not by the path: when the destination
 * has moved and the merge starts over, another destination's object is another question.
 */

import { compareBytes, hex, lossyText } from "../../base/bytes.ts";
import type { ByteStream, ObjectStore } from "../../drivers/object_store.ts";
import { checkObjectText } from "../../drivers/object_text.ts";
import type {
  ConflictResolver,
  MergeConflict,
  MergeResolution,
  MergeSide,
  MergeStrategy,
} from "../../drivers/store.ts";
import {
  type Change,
  type Conflict,
  mergeChanges,
  type MergeInputs,
  type ValueRecord,
} from "../committed/mod.ts";
import {
  decodeEntry,
  downloadObject,
  entryRecord,
  pathKey,
  sameContent,
  uploadObject,
} from "../objects/mod.ts";
import type { Repository } from "../repository.ts";
import { statsOfRecord } from "./stats.ts";
import { lookUp, objectNotFound } from "./view.ts";

/** Some changes of a merge, in key order, and the conflicts that stay among them, in key order too. */
export interface SettledBlock {
  readonly changes: readonly Change[];
  readonly conflicts: readonly Conflict[];
}

export interface Settling {
  readonly strategy?: MergeStrategy;
  readonly resolver?: ConflictResolver;
  /** Stores no content: nothing will land. */
  readonly isPreview?: boolean;
}

/** Settles the conflicts of one merge, through all its attempts. */
export class ConflictSettler {
  readonly #repository: Repository;
  readonly #settling: Settling;
  /** What new content made of conflicts, by the contents of their three sides. */
  readonly #stored = new Map<string, Change | undefined>();
  readonly #toFlush = new Set<string>();
  #stores: boolean;

  constructor(repository: Repository, settling: Settling) {
    this.#repository = repository;
    this.#settling = settling;
    this.#stores = !settling.isPreview;
  }

  /** The objects that the changes name and that may not be on disk yet. */
  get unflushed(): readonly string[] {
    return [...this.#toFlush];
  }

  /** Yields the changes of a merge, conflicts settled. */
  async *changes(inputs: MergeInputs): AsyncGenerator<SettledBlock> {
    this.#stores = !this.#settling.isPreview;
    const waiting: Conflict[] = [];
    const merged = mergeChanges(inputs, {
      same: sameContent,
      onConflict(conflict) {
        waiting.push(conflict);
        // Holds its place among the changes until it is settled.
        return { key: conflict.key, record: undefined };
      },
    });
    for await (const block of merged) {
      yield waiting.length === 0
        ? { changes: block, conflicts: [] }
        : await this.#settleBlock(block, waiting);
    }
    if (waiting.length > 0) yield await this.#settleBlock([], waiting);
    this.#settling.resolver?.finish?.();
  }

  /** Settles the waiting conflicts up to the end of a block of changes, each in its place; without changes all of them. */
  async #settleBlock(block: readonly Change[], waiting: Conflict[]): Promise<SettledBlock> {
    const changes: Change[] = [], conflicts: Conflict[] = [];
    let at = 0;
    for (let i = 0; i < Math.max(1, block.length); i++) {
      const change = block[i];
      let order = -1;
      for (; at < waiting.length && order < 0; at++) {
        const conflict = waiting[at]!;
        order = change ? compareBytes(conflict.key, change.key) : -1;
        if (order > 0) break;
        const settling = this.#settle(conflict);
        const settled = settling instanceof Promise ? await settling : settling;
        if (settled === "conflict") conflicts.push(conflict);
        else if (settled) changes.push(settled);
      }
      if (change && order !== 0) changes.push(change);
    }
    waiting.splice(0, at);
    // The merge will fail: from here on content would be garbage.
    if (conflicts.length > 0) this.#stores = false;
    return { changes, conflicts };
  }

  #settle(conflict: Conflict): Settled | Promise<Settled> {
    const { resolver } = this.#settling;
    if (!resolver) return this.#byStrategy(conflict);
    const name = this.#stored.size > 0 ? nameOf(conflict) : "";
    if (this.#stored.has(name)) return this.#stored.get(name);
    const resolution = resolver.resolve(
      conflictOf(this.#repository, conflict),
      (side) => this.#read(conflict, side),
    );
    return resolution instanceof Promise
      ? resolution.then((settled) => this.#apply(conflict, settled))
      : this.#apply(conflict, resolution);
  }

  #byStrategy(conflict: Conflict): Settled {
    const { strategy } = this.#settling;
    if (strategy === undefined) return "conflict";
    return becoming(conflict, strategy === "source-wins" ? conflict.source : conflict.destination);
  }

  #apply(conflict: Conflict, resolution: MergeResolution | undefined): Settled | Promise<Settled> {
    switch (resolution?.kind) {
      case undefined:
        return this.#byStrategy(conflict);
      case "delete":
        return becoming(conflict, undefined);
      case "base":
      case "source":
      case "destination":
        return becoming(conflict, conflict[resolution.kind]);
      case "object":
        return this.#copy(conflict, resolution);
      case "content":
        return this.#store(conflict, resolution);
    }
  }

  async #copy(conflict: Conflict, source: { readonly ref: string; readonly path: string }): Promise<Settled> {
    const { record, view } = await lookUp(this.#repository, source.ref, pathKey(source.path));
    if (!record) throw objectNotFound(source);
    // What is only staged may be somebody's unflushed upload.
    const entry = decodeEntry(record.data);
    if (view.tokens.length > 0 && entry.addressType === 1) this.#toFlush.add(entry.address);
    return becoming(conflict, record);
  }

  async #store(
    conflict: Conflict,
    { body, contentType, metadata = {} }: MergeResolution & { kind: "content" },
  ): Promise<Settled> {
    checkObjectText({ contentType, metadata });
    const { clock, randomness, objects } = this.#repository;
    const isKept = this.#stores;
    const place = { clock, randomness, objects: isKept ? objects : NOWHERE };
    const entry = await uploadObject(place, body, {
      metadata,
      ...(contentType === undefined ? {} : { contentType }),
    });
    const record = entryRecord(conflict.key, entry);
    const settled = becoming(conflict, record);
    if (!isKept) return settled;
    const isUsed = settled?.record !== undefined &&
      decodeEntry(settled.record.data).address === entry.address;
    if (isUsed) this.#toFlush.add(entry.address);
    // A side has this content already, and nothing has ever named the new object.
    else await objects.delete(entry.address);
    this.#stored.set(nameOf(conflict), settled);
    return settled;
  }

  #read(conflict: Conflict, side: MergeSide): Promise<ByteStream> {
    const record = conflict[side];
    if (!record) throw objectNotFound({ ref: side, path: lossyText(conflict.key) });
    const path = lossyText(conflict.key);
    return downloadObject(this.#repository.objects, decodeEntry(record.data), { path });
  }
}

/** A change, none (the destination stays), or a conflict that stays. */
type Settled = Change | undefined | "conflict";

/**
 * Returns the change that makes a conflict's path a record, or nothing. Content that a side has already keeps that side's
 * entry, address included.
 */
function becoming(conflict: Conflict, record: ValueRecord | undefined): Change | undefined {
  const { key, base, source, destination } = conflict;
  if (!record) return destination && { key, record: undefined };
  if (destination && sameContent(destination, record)) return undefined;
  const side = [source, base].find((known) => known && sameContent(known, record));
  return { key, record: side ?? { ...record, key } };
}

/** Identities stand for contents; a missing side has none. */
function nameOf({ key, base, source, destination }: Conflict): string {
  return [key, base?.identity, source?.identity, destination?.identity]
    .map((bytes) => bytes ? hex(bytes) : "").join("/");
}

/** Returns a conflict as the contract shows it. */
export function conflictOf(repository: Repository, conflict: Conflict): MergeConflict {
  const { base, source, destination } = conflict;
  return {
    path: lossyText(conflict.key),
    ...(base ? { base: statsOfRecord(repository, base) } : {}),
    ...(source ? { source: statsOfRecord(repository, source) } : {}),
    ...(destination ? { destination: statsOfRecord(repository, destination) } : {}),
  };
}

/** Takes bytes that are hashed and nothing else. */
const NOWHERE: Pick<ObjectStore, "put" | "putMany" | "delete"> = {
  async put(key, body) {
    if (!(body instanceof Uint8Array)) { for await (const _ of body); }
    return { key, sizeBytes: 0, modifiedMs: 0 };
  },
  putMany: () => Promise.resolve(),
  delete: () => Promise.resolve(false),
};
