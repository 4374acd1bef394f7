/**
 * The model: plain maps that follow every write to the stores, and know who wrote what and when.
 *
 * What a branch shows changes in two kinds of atomic steps only: a record put into one of its tokens, and a compare-and-set
 * of its record. Each step is held against the rules (`rules.ts`), and every state of a branch is remembered with the
 * step that made it, so that a read can be held against what was there while it ran.
 */

import { hex, lossyText } from "../../base/bytes.ts";
import { decodeEntry, entryWeight } from "../../engine/objects/mod.ts";
import { type Chunking, Metarange, TableFiles, type ValueRecord } from "../../engine/committed/mod.ts";
import type { RefMove, RefRecord } from "../../engine/refs/mod.ts";
import { decodeCommit } from "../../engine/refs/records.ts";
import { decodeStaged } from "../../engine/staging/record.ts";
import type { ObjectStore } from "../../drivers/object_store.ts";
import { canonicalModel } from "../support/canonical.ts";
import { fail, type Operation, type Slot } from "./operation.ts";

/** Texts by path. */
export type Shown = ReadonlyMap<string, string>;
/** A staged text, or `null` for a deletion. */
export type StagedText = string | null;

export interface ModelCommit {
  readonly id: string;
  readonly parents: readonly string[];
  readonly generation: number;
  /** Whole seconds. */
  readonly creationDate: number;
  readonly correctedDate: number | undefined;
  readonly message: string;
  readonly metaRangeId: string;
  readonly shown: Shown;
}

export interface ModelToken {
  readonly name: string;
  readonly slots: Map<string, Slot>;
  /** What each key held since the token was sealed, before it was written to again. */
  readonly past: Map<string, (StagedText | undefined)[]>;
  /** The branch that lists it, or did. */
  branch?: string;
  isSealed: boolean;
  droppedAt?: number;
}

/** A ref as it was from a step on. */
export interface Version {
  readonly step: number;
  /** `undefined` while there is no such ref. */
  readonly record?: RefRecord;
  readonly shown: Shown;
  /** Staged changes: what differs from the commit. */
  readonly staged: ReadonlyMap<string, StagedText>;
  readonly moves: number;
  /** Whose write put something new into it. */
  readonly by?: Operation | undefined;
}

export interface RefHistory {
  readonly versions: Version[];
  readonly moves: RefMove[];
  /** By the ID of the deletion. */
  readonly deleted: Map<string, RefRecord>;
}

/** A record that came too late for its token: after the token had been sealed, or its branch deleted. */
export interface LateWrite {
  readonly step: number;
  readonly token: ModelToken;
  readonly path: string;
  readonly text: StagedText;
}

const NO_TEXTS: Shown = new Map();

export class Model {
  readonly commits = new Map<string, ModelCommit>();
  readonly tokens = new Map<string, ModelToken>();
  readonly refs = new Map<string, RefHistory>();
  readonly lateWrites: LateWrite[] = [];
  /** All that clients have written, by the SHA-256 of it. */
  readonly texts = new Map<string, string>();
  readonly #disk: ObjectStore;
  readonly #chunking: Chunking;
  readonly #files: TableFiles;
  readonly #metaranges = new Map<string, Shown>([["", NO_TEXTS]]);
  step = 0;

  constructor(disk: ObjectStore, chunking: Chunking) {
    this.#disk = disk;
    this.#files = openFiles(disk);
    this.#chunking = chunking;
  }

  commit(id: string): ModelCommit {
    return this.commits.get(id) ?? fail(`commit ${id} is named, but its record was never written`);
  }

  token(name: string): ModelToken {
    let token = this.tokens.get(name);
    if (!token) this.tokens.set(name, token = { name, slots: new Map(), past: new Map(), isSealed: false });
    return token;
  }

  ref(name: string): RefHistory {
    let history = this.refs.get(name);
    if (!history) {
      const never: Version = { step: -1, shown: NO_TEXTS, staged: new Map(), moves: 0 };
      this.refs.set(name, history = { versions: [never], moves: [], deleted: new Map() });
    }
    return history;
  }

  /** Returns the ref's state now. */
  now(name: string): Version {
    return this.ref(name).versions.at(-1)!;
  }

  /** Returns every state that a ref was in between two steps, both inclusive. */
  during(name: string, from: number, to: number): readonly Version[] {
    const { versions } = this.ref(name);
    return versions.filter(({ step }, i) => step <= to && (versions[i + 1]?.step ?? Infinity) >= from);
  }

  /** Remembers a ref's state from this step on. */
  renew(name: string, record: RefRecord | undefined, by?: Operation): void {
    const history = this.ref(name);
    const { shown, staged } = this.#look(record);
    const live = record && !record.isDeleted ? { record } : {};
    history.versions.push({ step: this.step, ...live, shown, staged, moves: history.moves.length, by });
  }

  #look(record: RefRecord | undefined): Pick<Version, "shown" | "staged"> {
    const staged = new Map<string, StagedText>();
    if (!record || record.isDeleted) return { shown: NO_TEXTS, staged };
    const { shown: committed } = this.commit(record.branch?.commitId ?? record.tagCommitId!);
    if (!record.branch) return { shown: committed, staged };
    const shown = new Map(committed);
    for (const name of [...record.branch.sealedTokens].reverse().concat(record.branch.stagingToken)) {
      for (const [path, { text }] of this.token(name).slots) {
        staged.set(path, text);
        if (text === null) shown.delete(path);
        else shown.set(path, text);
      }
    }
    for (const [path, text] of staged) if ((committed.get(path) ?? null) === text) staged.delete(path);
    return { shown, staged };
  }

  /** Follows a record that was put into a token. */
  stage(tokenName: string, { key, value }: { key: Uint8Array; value: Uint8Array }, by?: Operation): void {
    const token = this.token(tokenName);
    const path = lossyText(key);
    const { record, isUnflushed } = decodeStaged(key, value);
    const text = record ? this.textOf(record) : null;
    const ref = token.branch === undefined ? undefined : this.now(token.branch).record;
    const isListed = ref !== undefined && tokensOf(ref).includes(tokenName);
    if (token.isSealed) {
      const past = token.past.get(path) ?? [];
      token.past.set(path, [...past, token.slots.get(path)?.text]);
    }
    if (token.branch !== undefined && (token.isSealed || !isListed)) {
      this.lateWrites.push({ step: this.step, token, path, text });
    }
    const slot: Slot = { text, isUnflushed, operation: by };
    token.slots.set(path, slot);
    if (token.branch === undefined || token.droppedAt !== undefined) return;
    if (by?.writes.has(path)) by.writes.set(path, { fate: "live", slot });
    if (isListed) this.renew(token.branch, ref, by);
  }

  /** Follows the deletion of records of a token; no token may lose any that a branch lists, not even a deleted one. */
  unstage(tokenName: string, keys: readonly Uint8Array[]): void {
    const token = this.token(tokenName);
    if (token.branch !== undefined && token.droppedAt === undefined) {
      fail(`records of token ${tokenName} are deleted, which branch "${token.branch}" lists`);
    }
    for (const key of keys) token.slots.delete(lossyText(key));
  }

  /** Follows the loss of a record, which was relaxed and the last one under its key; what was there before is again. */
  loseStaged(tokenName: string, { key, value }: { key: Uint8Array; value: Uint8Array | undefined }): void {
    const token = this.token(tokenName), path = lossyText(key);
    const by = token.slots.get(path)?.operation;
    if (by && by.task.kind !== "relaxedWrite" && by.outcome === "acknowledged") {
      fail(`power loss takes "${path}", which ${by.id} wrote, acknowledged`);
    }
    token.slots.delete(path);
    const { record, isUnflushed } = value
      ? decodeStaged(key, value)
      : { record: undefined, isUnflushed: false };
    if (value) {
      token.slots.set(path, { text: record ? this.textOf(record) : null, isUnflushed, operation: undefined });
    }
    if (token.branch !== undefined) this.renew(token.branch, this.now(token.branch).record);
  }

  /** Follows a commit record: reads what it names, which must be canonical and made of what clients wrote. */
  async addCommit(id: string, value: Uint8Array): Promise<void> {
    if (this.commits.has(id)) return;
    const { creationDate, ...commit } = decodeCommit(value);
    const { parents, generation, correctedDate, message, metaRangeId } = commit;
    let shown = this.#metaranges.get(metaRangeId);
    if (!shown) this.#metaranges.set(metaRangeId, shown = await this.readMetarange(metaRangeId, this.#files));
    const dates = { creationDate: creationDate.seconds, correctedDate };
    this.commits.set(id, { id, parents, generation, ...dates, message, metaRangeId, shown });
  }

  /** Reads all commits again, now that the power was gone, and every object that they name. */
  async checkCommits(): Promise<void> {
    const files = openFiles(this.#disk);
    const read = new Map<string, Shown>([["", NO_TEXTS]]);
    const objects = new Set<string>();
    for (const { id, metaRangeId, shown } of this.commits.values()) {
      let found = read.get(metaRangeId);
      if (!found) read.set(metaRangeId, found = await this.readMetarange(metaRangeId, files, objects));
      if (!sameTexts(found, shown)) fail(`commit ${id} has changed`);
    }
  }

  /** Reads a metarange, which must be canonical, and of its objects those that are not among the ones that were read. */
  async readMetarange(id: string, files: TableFiles, objects?: Set<string>): Promise<Shown> {
    const records: ValueRecord[] = [];
    if (id !== "") {
      const blocks = new Metarange(files, id).records();
      for await (const block of blocks) records.push(...block);
      const { metarangeId } = canonicalModel(records, this.#chunking, entryWeight);
      if (metarangeId !== id) fail(`metarange ${id} is not the canonical one, which is ${metarangeId}`);
    }
    const shown = new Map<string, string>();
    for (const record of records) {
      const text = this.textOf(record);
      if (objects) await this.#checkObject(record, text, objects);
      shown.set(lossyText(record.key), text);
    }
    return shown;
  }

  async #checkObject(record: ValueRecord, text: string, checked: Set<string>): Promise<void> {
    const { address } = decodeEntry(record.data);
    if (checked.has(address)) return;
    checked.add(address);
    const info = await this.#disk.head(address);
    const bytes = info && await this.#disk.read(address, 0, info.sizeBytes);
    if (!bytes || lossyText(bytes) !== text) {
      fail(`object ${address} of "${lossyText(record.key)}" ${bytes ? "is damaged" : "is missing"}`);
    }
  }

  /** Whether what a branch shows under a path is staged, with an object that power loss may have taken. */
  isUnflushed({ record }: Version, path: string): boolean {
    const tokens = record ? tokensOf(record).map((name) => this.token(name)) : [];
    return tokens.map(({ slots }) => slots.get(path)).find((slot) => slot !== undefined)?.isUnflushed ??
      false;
  }

  textOf({ key, data }: ValueRecord): string {
    const { sha256 } = decodeEntry(data);
    return this.texts.get(hex(sha256!)) ?? fail(`"${lossyText(key)}" holds what nobody wrote`);
  }
}

/** Small, since there are many simulations in one process. */
function openFiles(disk: ObjectStore): TableFiles {
  return new TableFiles(disk, { cacheBytes: 256 * 1024 });
}

export function sameTexts(a: Shown, b: Shown): boolean {
  return a.size === b.size && [...a].every(([path, text]) => b.get(path) === text);
}

/** Returns a branch's tokens, newest first. */
export function tokensOf({ branch }: RefRecord): readonly string[] {
  return branch ? [branch.stagingToken, ...branch.sealedTokens] : [];
}
