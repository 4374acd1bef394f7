/**
 * Branches and tags in a repository's partition: `refs/<folded name>`.
 *
 * Every change of a ref is one compare-and-set of its one record, so no two names that a disk would merge, and no branch
 * and tag of one name, can come to stand side by side, whatever runs at once. The record holds the ref's last move;
 * before the next one replaces it, it is copied to `reflog/<id>`, so the log loses no move and invents none.
 */

import { utf8 } from "../../base/bytes.ts";
import type { Clock } from "../../base/clock.ts";
import { timestampOf } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import type { Randomness } from "../../base/randomness.ts";
import type { KvStore, Predicate } from "../../kv/store.ts";
import { newId } from "../objects/mod.ts";
import { foldName } from "./names.ts";
import { decodeMove, decodeRef, encodeMove, encodeRef, type RefMove, type RefRecord } from "./records.ts";

const PREFIX = "refs/";
const LOG_PREFIX = "reflog/";

/** A ref as it was read, to be handed back when it is changed. */
export interface SeenRef {
  readonly record: RefRecord;
  readonly predicate: Predicate;
}

/** What a change of a ref is recorded as. */
export interface MoveNote {
  readonly operation: string;
  readonly who: string;
}

/** What a ref becomes: all but its last move, which {@link Refs.change} makes. */
export type RefContent = Omit<RefRecord, "move">;

export class Refs {
  readonly #kv: KvStore;
  readonly #partition: Uint8Array;
  readonly #clock: Clock;
  readonly #randomness: Randomness;

  constructor(kv: KvStore, partition: Uint8Array, seams: { clock: Clock; randomness: Randomness }) {
    this.#kv = kv;
    this.#partition = partition;
    this.#clock = seams.clock;
    this.#randomness = seams.randomness;
  }

  /** Returns the live ref of this very name, branch or tag. */
  async find(name: string): Promise<SeenRef | undefined> {
    const seen = await this.#seen(name);
    return seen && !seen.record.isDeleted && seen.record.name === name ? seen : undefined;
  }

  /** Returns the deleted ref of this very name; fails with `branch_exists` or `tag_exists` when the name is in use. */
  async findDeleted(name: string): Promise<SeenRef | undefined> {
    const seen = await this.#seen(name);
    if (seen && !seen.record.isDeleted) refuseName({ ...seen.record, name }, seen.record);
    return seen && seen.record.name === name ? seen : undefined;
  }

  /** Yields live refs of one kind, in the order of their folded names. */
  async *list(kind: "branch" | "tag", prefix = ""): AsyncGenerator<readonly RefRecord[]> {
    for await (const page of this.#kv.scan(this.#partition, { prefix: utf8(PREFIX + foldName(prefix)) })) {
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
      if (seen && !seen.record.isDeleted) refuseName(content, seen.record);
      const landed = await this.#trySet(seen, content, note);
      if (landed) return landed;
    }
  }

  /** Replaces a ref only if it still is what was seen; returns whether it was. */
  async change(seen: SeenRef, content: RefContent, note: MoveNote): Promise<boolean> {
    return (await this.#trySet(seen, content, note)) !== undefined;
  }

  /** Changes a branch's tokens without moving it: no move is recorded. Returns whether it still was what was seen. */
  async retoken(seen: SeenRef, record: RefRecord): Promise<boolean> {
    return await this.#setIf(seen.predicate, record);
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
    const found = await this.#kv.get(this.#partition, refKey(name));
    return found && { record: decodeRef(found.value), predicate: found.predicate };
  }

  async #trySet(
    seen: SeenRef | undefined,
    content: RefContent,
    note: MoveNote,
  ): Promise<RefRecord | undefined> {
    const before = seen?.record;
    if (before) {
      await this.#kv.set(this.#partition, utf8(LOG_PREFIX + before.move.id), encodeMove(before.move));
    }
    const move: RefMove = {
      id: newId(this.#clock, this.#randomness),
      ref: content.name,
      ...note,
      oldCommitId: before && !before.isDeleted ? pointsAt(before) : "",
      newCommitId: content.isDeleted ? "" : pointsAt(content),
      time: timestampOf(this.#clock.now()),
    };
    const record = { ...content, move };
    return (await this.#setIf(seen?.predicate, record)) ? record : undefined;
  }

  async #setIf(predicate: Predicate | undefined, record: RefRecord): Promise<boolean> {
    try {
      await this.#kv.setIf(this.#partition, refKey(record.name), encodeRef(record), predicate);
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

function refuseName(wanted: RefContent, existing: RefRecord): never {
  const wantedKind = wanted.branch ? "branch" : "tag";
  const kind = existing.branch ? "branch" : "tag";
  const why = existing.name === wanted.name
    ? `a ${kind} of that name exists`
    : `the ${kind} "${existing.name}" differs from it only in case or Unicode form`;
  throw new CodedError("exists", `${kind}_exists`, `Cannot create ${wantedKind} "${wanted.name}": ${why}`, {
    details: { name: wanted.name, existing: existing.name },
  });
}
