/**
 * What an earlier put read of the same folder: files that were not written since need not be read again.
 *
 * A record says that a file in a certain state holds bytes of a certain SHA-256. It is made only when the state was the
 * same before and after the bytes were read, and its times lay far enough back: a later write then shows in the state,
 * even one that puts the time of change back. Whether those bytes are on the branch is told by the branch.
 */

import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { hex, utf8 } from "../../base/bytes.ts";
import { sha256 } from "../../base/hashes.ts";
import { systemRandomness } from "../../base/randomness.ts";
import { makeFolderWithin } from "../../base/folders.ts";
import { addTemporaryFile, forgetTemporaryFile } from "../signals.ts";
import { copyRecords, type IndexedTree, IndexReader, type IndexRecord, IndexWriter } from "./file_index.ts";
import { type FileState, isSettled, type LookAtFile, sameState } from "../../base/file_state.ts";
import { compareKeys } from "../../base/key_order.ts";

/** A file of which the new index may get a record. */
export interface Slot {
  readonly key: string;
  readonly path: string;
  /** Before it was read. */
  readonly state: FileState | undefined;
  readonly lookedAtMs: number;
  /** Absent until it is decided. */
  outcome?: Outcome;
}

/** What the new index says of a file: nothing, or a record, with its place in the old index if it is from there. */
type Outcome = "none" | { readonly record: IndexRecord; readonly position?: number };

export interface PutIndexOptions {
  /** Where indexes are kept; without it nothing is known, and nothing remembered. */
  readonly folder: string | undefined;
  /** The folder that is put. */
  readonly root: string;
  readonly look: LookAtFile;
  /** Read every file, whatever the index says. */
  readonly reread?: boolean;
}

const STALE_MS = 24 * 60 * 60 * 1000;

export class PutIndex {
  readonly #look: LookAtFile;
  readonly #root: string;
  readonly #path: string | undefined;
  #old: IndexReader | undefined;
  #oldIdentity = "";
  #oldRecord: IndexRecord | undefined;
  #isRemembering = false;
  #candidate: IndexedTree | undefined;
  /** Files in the order of their keys; those before `#head` are decided and dealt with. */
  #slots: Slot[] = [];
  #head = 0;
  /** So many files, from the first on, have the same records as in the old index; nothing is written as long as all do. */
  #same = 0;
  #new: { readonly path: string; readonly writer: IndexWriter } | undefined;

  constructor({ folder, root, look, reread }: PutIndexOptions) {
    this.#look = look;
    this.#root = fs.realpathSync(root);
    if (folder === undefined) return;
    this.#path = join(folder, hex(sha256(utf8(this.#root))));
    const old = reread ? undefined : IndexReader.open(this.#path);
    this.#oldIdentity = old?.identity ?? "";
    if (old?.header.root === this.#root) this.#old = old;
    else old?.close();
    this.#oldRecord = this.#old?.next();
  }

  /** The version in which all files of the old index were found. */
  get tree(): IndexedTree | undefined {
    return this.#old?.header.tree;
  }

  /** Begins the new index; `tree` is where its files may be found. Without this call nothing is remembered. */
  begin(tree: IndexedTree | undefined): void {
    this.#isRemembering = this.#path !== undefined;
    this.#candidate = tree;
  }

  /** Looks at a file, whose key sorts after those before. */
  slot(key: string, path: string): Slot {
    const slot: Slot = { key, path, lookedAtMs: Date.now(), state: this.#look(path) };
    if (this.#isRemembering) this.#slots.push(slot);
    return slot;
  }

  /** Returns what is known of a file's bytes without reading them. Files are asked for in the order of their keys. */
  known({ key, state }: Slot): IndexRecord | undefined {
    while (this.#oldRecord && compareKeys(this.#oldRecord.key, key) < 0) this.#oldRecord = this.#old!.next();
    const record = this.#oldRecord;
    return record?.key === key && state && sameState(record.state, state) ? record : undefined;
  }

  /** Says that a file's bytes are what the record says that is known of it. */
  keep(slot: Slot, record: IndexRecord): void {
    this.#decide(slot, { record, position: this.#old!.count - 1 });
  }

  /** Says that all of a file was read. Its hash is asked for only where it is remembered. */
  learn(slot: Slot, hash: () => Uint8Array): void {
    const { key, state } = slot;
    const isSure = this.#isRemembering && this.#isUntouched(slot) && isSettled(state!, slot.lookedAtMs);
    this.#decide(slot, isSure ? { record: { key, state: state!, sha256: hash() } } : "none");
  }

  /** Says that nothing is known of a file. */
  drop(slot: Slot): void {
    this.#decide(slot, "none");
  }

  #isUntouched({ path, state }: Slot): boolean {
    const now = state && this.#look(path);
    return now !== undefined && sameState(now, state!);
  }

  /** Makes the new index take the place of the old one; `treeHolds` when every file was found in its tree. */
  save({ treeHolds }: { treeHolds: boolean }): void {
    while (this.#oldRecord) this.#oldRecord = this.#old!.next();
    const isSameTree = JSON.stringify(this.tree) === JSON.stringify(this.#candidate);
    const isSame = this.#old?.count === this.#same && (!treeHolds || isSameTree);
    if (this.#isRemembering && (this.#new || !isSame)) {
      this.#attempt(() => {
        const { path, writer } = this.#writing();
        // Some systems replace no file that is open.
        this.#old?.close();
        this.#old = undefined;
        writer.close({ treeHolds });
        fs.renameSync(path, this.#path!);
        this.#removeStale();
      });
    }
    this.discard();
  }

  /** Leaves the old index as it is; after {@link save} it does nothing. */
  discard(): void {
    this.#isRemembering = false;
    this.#old?.close();
    this.#old = undefined;
    if (!this.#new) return;
    const { path, writer } = this.#new;
    this.#new = undefined;
    writer.abandon();
    fs.rmSync(path, { force: true });
    forgetTemporaryFile(path);
  }

  #decide(slot: Slot, outcome: Outcome): void {
    slot.outcome = outcome;
    for (; this.#slots[this.#head]?.outcome; this.#head++) {
      const first = this.#slots[this.#head]!.outcome!;
      if (this.#isRemembering) this.#attempt(() => this.#remember(first));
    }
    if (this.#head < 1000) return;
    this.#slots = this.#slots.slice(this.#head);
    this.#head = 0;
  }

  #remember(outcome: Outcome): void {
    if (!this.#new && outcome !== "none" && outcome.position === this.#same) this.#same++;
    else if (outcome !== "none") this.#writing().writer.add(outcome.record);
  }

  /** Returns the new index, begun with what it has in common with the old one. */
  #writing(): { readonly path: string; readonly writer: IndexWriter } {
    if (this.#new) return this.#new;
    const path = `${this.#path}.${hex(systemRandomness.bytes(8))}.tmp`;
    makeFolderWithin({ folder: dirname(path), within: dirname(dirname(path)) });
    addTemporaryFile(path);
    const header = { root: this.#root, tree: this.#candidate };
    this.#new = { path, writer: new IndexWriter(fs.openSync(path, "wx", 0o600), header) };
    if (this.#same > 0) {
      copyRecords({ path: this.#path!, identity: this.#oldIdentity }, this.#new.writer, this.#same);
    }
    return this.#new;
  }

  /** An index that cannot be written costs time at the next put, and nothing else. */
  #attempt(write: () => void): void {
    try {
      write();
    } catch {
      this.#isRemembering = false;
    }
  }

  /** Takes away what killed processes left. */
  #removeStale(): void {
    const folder = dirname(this.#path!);
    for (const name of fs.readdirSync(folder)) {
      const path = join(folder, name);
      if (!name.endsWith(".tmp")) continue;
      if (Date.now() - fs.statSync(path).mtimeMs > STALE_MS) fs.rmSync(path, { force: true });
    }
  }
}
