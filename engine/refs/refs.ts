/**
 * Branches and tags in a repository's partition: `refs/<folded name>`.
 *
 * Every change of a ref is one compare-and-set of its one record, so no two names that a disk would merge, and no branch
 * and tag of one name, can come to stand side by side, whatever runs at once. The record holds the ref's last move;
 * before the next one replaces it, it is copied to `reflog/<id>`, so the log loses no move and invents none.
 *
 * A deleted ref is restored from its marked record. Before another ref of the name takes its place, that record is copied to
 * `deleted/<folded name> NUL <id of the deletion>`. A copy alone proves nothing: whoever made it may not have landed, and somebody
 * else may have restored the ref instead. What was restored is told by the moves, which are never lost: a restore names
 * the deletion that it takes back, so none is taken back twice, and no branch comes back with tokens that it had once.
 */

import { afterKey, equalBytes, utf8 } from "../../base/bytes.ts";
import type { Clock } from "../../base/clock.ts";
import { timestampOf } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import type { Randomness } from "../../base/randomness.ts";
import { type Around, type KvStore, type KvValue, type Predicate, setIfAround } from "../../kv/mod.ts";
import { newIdAfter } from "../objects/mod.ts";
import { foldName } from "./names.ts";
import { decodeMove, decodeRef, encodeMove, encodeRef, type RefMove, type RefRecord } from "./records.ts";

const PREFIX = "refs/";
const LOG_PREFIX = "reflog/";
const DELETED_PREFIX = "deleted/";

/** How many names' records are remembered. */
const MAX_REMEMBERED = 64;

/** A record as it was read last: the same bytes need not be decoded again. */
interface ReadRef {
  readonly key: Uint8Array;
  readonly value?: Uint8Array;
  readonly record?: RefRecord;
}

/** A ref as it was read, to be handed back when it is changed. */
export interface SeenRef {
  /** One and the same as long as the stored bytes are. */
  readonly record: RefRecord;
  readonly predicate: Predicate;
}

/** What a change of a ref is recorded as. */
export interface MoveNote {
  readonly operation: string;
  readonly who: string;
  /** Of a restore: the ID of the deletion that it takes back. */
  readonly restored?: string;
}

/** What a ref becomes: all but its last move, which {@link Refs.change} makes. */
export type RefContent = Omit<RefRecord, "move">;

/** What is written with the change of a ref, into the same partition; see {@link Around}. */
export type WrittenAlong = Pick<Around, "before" | "after" | "relaxed">;

export class Refs {
  readonly #kv: KvStore;
  readonly #partition: Uint8Array;
  readonly #clock: Clock;
  readonly #randomness: Randomness;
  readonly #lastRead = new Map<string, ReadRef>();

  constructor(kv: KvStore, partition: Uint8Array, seams: { clock: Clock; randomness: Randomness }) {
    this.#kv = kv;
    this.#partition = partition;
    this.#clock = seams.clock;
    this.#randomness = seams.randomness;
  }

  /** Returns the live ref of this very name, branch or tag. */
  async find(name: string): Promise<SeenRef | undefined> {
    const read = this.#readOf(name);
    const seen = this.#seenAs(name, { read, found: await this.#kv.get(this.#partition, read.key) });
    return seen && !seen.record.isDeleted && seen.record.name === name ? seen : undefined;
  }

  /** Returns what is stored under a name, live or deleted: one and the same object as long as the stored bytes are. */
  async stored(name: string): Promise<RefRecord | undefined> {
    return (await this.#seen(name))?.record;
  }

  /**
   * Restores a ref of this very name: the one of its kind that was deleted last, or by the deletion of an `id`. Returns
   * `undefined` when there is none to restore. Fails with `branch_exists` or `tag_exists` when the name is in use.
   */
  async restore(
    kind: "branch" | "tag",
    name: string,
    { who, id }: { readonly who: string; readonly id?: string },
  ): Promise<RefRecord | undefined> {
    while (true) {
      const seen = await this.#seen(name);
      if (!seen) return undefined;
      if (!seen.record.isDeleted) refuseName(`restore ${kind}`, name, seen.record);
      // The moves are read after the record, so they tell of every restore that the compare-and-set does not rule out.
      const [deleted] = (await this.#deleted(name, seen.record)).filter((record) =>
        (record.branch !== undefined) === (kind === "branch") && (id === undefined || record.move.id === id)
      );
      if (!deleted) return undefined;
      const { move, ...content } = deleted;
      const note = { operation: `${kind} restore`, who, restored: move.id };
      const landed = await this.#trySet(seen, { ...content, isDeleted: false }, note);
      if (landed) return landed;
    }
  }

  /** Returns the deleted refs of a name that nobody has restored, the last deleted one first. */
  async #deleted(name: string, current: RefRecord): Promise<RefRecord[]> {
    const found = new Map<string, RefRecord>([[current.move.id, current]]);
    const prefix = utf8(`${DELETED_PREFIX}${foldName(name)}\0`);
    for await (const page of this.#kv.scan(this.#partition, { prefix })) {
      for (const { value } of page) {
        const record = decodeRef(value);
        found.set(record.move.id, record);
      }
    }
    for await (const moves of this.moves(name)) {
      for (const { restored } of moves) if (restored !== undefined) found.delete(restored);
    }
    return [...found.values()].filter((record) => record.name === name)
      .sort((a, b) => (a.move.id < b.move.id ? 1 : -1));
  }

  /**
   * Yields live refs of one kind, in the order of their folded names; with `after` those that come after that one, whether or
   * not there is a ref of that name.
   */
  async *list(
    kind: "branch" | "tag",
    { prefix = "", after }: { readonly prefix?: string; readonly after?: string } = {},
  ): AsyncGenerator<readonly RefRecord[]> {
    const scan = {
      prefix: utf8(PREFIX + foldName(prefix)),
      ...(after === undefined ? {} : { start: afterKey(refKey(after)) }),
    };
    for await (const page of this.#kv.scan(this.#partition, scan)) {
      const records = page.map(({ value }) => decodeRef(value));
      yield records.filter((record) =>
        !record.isDeleted && record.name.startsWith(prefix) &&
        (record.branch !== undefined) === (kind === "branch")
      );
    }
  }

  /**
   * Makes a new ref. Fails with `branch_exists` or `tag_exists` when the name, or one too like it, is taken.
   */
  async create(content: RefContent, note: MoveNote): Promise<RefRecord> {
    while (true) {
      const seen = await this.#seen(content.name);
      if (seen && !seen.record.isDeleted) {
        refuseName(`create ${content.branch ? "branch" : "tag"}`, content.name, seen.record);
      }
      const landed = await this.#trySet(seen, content, note);
      if (landed) return landed;
    }
  }

  /** Replaces a ref only if it still is what was seen; returns whether it was. */
  async change(
    seen: SeenRef,
    content: RefContent,
    note: MoveNote,
    along: WrittenAlong = {},
  ): Promise<boolean> {
    return (await this.#trySet(seen, content, note, along)) !== undefined;
  }

  /** Changes a branch's tokens without moving it: no move is recorded. Returns whether it still was what was seen. */
  async retoken(seen: SeenRef, record: RefRecord, along: WrittenAlong = {}): Promise<boolean> {
    return await this.#setIf(record, { ...along, predicate: seen.predicate });
  }

  /** Yields the recorded moves in order of time, oldest first; of one ref when a name is given. */
  async *moves(name?: string): AsyncGenerator<readonly RefMove[]> {
    const isWanted = (move: RefMove) => name === undefined || move.ref === name;
    // The newest move of each ref is in the ref's own record; all older ones are in the log.
    const newest: RefMove[] = [];
    const prefix = utf8(PREFIX + (name === undefined ? "" : foldName(name)));
    for await (const page of this.#kv.scan(this.#partition, { prefix })) {
      newest.push(...page.map(({ value }) => decodeRef(value).move).filter(isWanted));
    }
    newest.sort((a, b) => (a.id < b.id ? -1 : 1));
    let next = 0;
    for await (const page of this.#kv.scan(this.#partition, { prefix: utf8(LOG_PREFIX) })) {
      const moves: RefMove[] = [];
      for (const move of page.map(({ value }) => decodeMove(value)).filter(isWanted)) {
        while (next < newest.length && newest[next]!.id < move.id) moves.push(newest[next++]!);
        // A move that is being replaced may stand in both places for a moment.
        if (newest[next]?.id !== move.id) moves.push(move);
      }
      yield moves;
    }
    yield newest.slice(next);
  }

  async #seen(name: string): Promise<SeenRef | undefined> {
    const read = this.#readOf(name);
    return this.#seenAs(name, { read, found: await this.#kv.get(this.#partition, read.key) });
  }

  #readOf(name: string): ReadRef {
    return this.#lastRead.get(name) ?? { key: refKey(name) };
  }

  #seenAs(
    name: string,
    { read, found }: { readonly read: ReadRef; readonly found: KvValue | undefined },
  ): SeenRef | undefined {
    if (!found) return undefined;
    if (read.value && equalBytes(found.value, read.value)) {
      return { record: read.record!, predicate: found.predicate };
    }
    const record = decodeRef(found.value);
    if (this.#lastRead.size >= MAX_REMEMBERED) this.#lastRead.delete(this.#lastRead.keys().next().value!);
    this.#lastRead.set(name, { key: read.key, value: found.value, record });
    return { record, predicate: found.predicate };
  }

  async #trySet(
    seen: SeenRef | undefined,
    content: RefContent,
    note: MoveNote,
    along: WrittenAlong = {},
  ): Promise<RefRecord | undefined> {
    const before = seen?.record;
    const kept = [...along.before ?? []];
    if (before) {
      kept.push({ key: utf8(LOG_PREFIX + before.move.id), value: encodeMove(before.move) });
      if (before.isDeleted && note.restored !== before.move.id) {
        kept.push({ key: deletedKey(before), value: encodeRef(before) });
      }
    }
    const move: RefMove = {
      id: newIdAfter(before?.move.id ?? "", this.#clock, this.#randomness),
      ref: content.name,
      ...note,
      oldCommitId: before && !before.isDeleted ? pointsAt(before) : "",
      newCommitId: content.isDeleted ? "" : pointsAt(content),
      time: timestampOf(this.#clock.now()),
    };
    const record = { ...content, move };
    const hasLanded = await this.#setIf(record, { ...along, before: kept, predicate: seen?.predicate });
    return hasLanded ? record : undefined;
  }

  async #setIf(record: RefRecord, around: Around): Promise<boolean> {
    const entry = { key: refKey(record.name), value: encodeRef(record) };
    try {
      await setIfAround(this.#kv, this.#partition, entry, around);
      return true;
    } catch (error) {
      if (error instanceof CodedError && error.code === "predicate_failed") return false;
      throw error;
    }
  }
}

/** Returns the commit that a ref points at. */
export function pointsAt(ref: RefContent): string {
  return ref.branch?.commitId ?? ref.tagCommitId ?? "";
}

function refKey(name: string): Uint8Array {
  return utf8(PREFIX + foldName(name));
}

/** No name holds a NUL, so what is kept of one name does not lie among what is kept of another. */
function deletedKey(deleted: RefRecord): Uint8Array {
  return utf8(`${DELETED_PREFIX}${foldName(deleted.name)}\0${deleted.move.id}`);
}

function refuseName(what: string, name: string, existing: RefRecord): never {
  const kind = existing.branch ? "branch" : "tag";
  const why = existing.name === name
    ? `a ${kind} of that name exists`
    : `the ${kind} "${existing.name}" differs from it only in case or Unicode form`;
  throw new CodedError("exists", `${kind}_exists`, `Cannot ${what} "${name}": ${why}`, {
    details: { name, existing: existing.name },
  });
}
