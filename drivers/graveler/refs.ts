/** The versions that URIs name, online and offline. */

import type { Clock } from "../../base/clock.ts";
import { CodedError, isCoded } from "../../base/errors.ts";
import { parseTime } from "../../base/time.ts";
import { formatUri, type Uri } from "../../base/uri.ts";
import { type Cache, notCached, type PinKey } from "../../cache/mod.ts";
import type { Store } from "../store.ts";
import type { RefLocation } from "./location.ts";

/** A version: a branch as it is now, with what is not committed, or a commit. */
export interface Version {
  readonly ref: string;
  readonly isFixed: boolean;
}

/**
 * A commit may still come whose time is before one that was just asked for: one that is under way, or one of a server whose
 * clock is behind.
 */
const SETTLED_MS = 10 * 60 * 1000;
const COMMIT_ID = /^[0-9a-f]{64}$/;

export interface RefsOptions {
  readonly name: string;
  readonly store: Store;
  readonly clock: Clock;
}

export class Refs {
  readonly #name: string;
  readonly #store: Store;
  readonly #clock: Clock;

  constructor({ name, store, clock }: RefsOptions) {
    this.#name = name;
    this.#store = store;
    this.#clock = clock;
  }

  /** Returns the commit that a location stands for now, and notes it for `--offline`. */
  async pin(location: RefLocation, cache: Cache): Promise<string> {
    const { repository, at, ref } = location;
    const nowMs = this.#clock.now();
    const expression = at ? await this.#store.select(repository, at, ref) : ref!;
    const commit = await this.#store.resolve(repository, expression);
    if (this.#isSettled(location, nowMs)) await cache.recordPin(this.#pinKey(location), commit);
    return commit;
  }

  /** Returns the commit that a location stood for when it was pinned last. Fails with `not_cached`. */
  async pinned(location: RefLocation, cache: Cache, uri: Uri): Promise<string> {
    const found = await this.findPinned(location, cache);
    if (found === undefined) throw notCached("pin", formatUri(uri));
    return found;
  }

  async findPinned(location: RefLocation, cache: Cache): Promise<string | undefined> {
    const name = location.at ? location.at.kind === "commit" ? location.at.value : undefined : location.ref;
    if (name !== undefined && COMMIT_ID.test(name)) return name;
    return await cache.pinned(this.#pinKey(location));
  }

  /** Returns the version that is read: a branch as it is, anything else by its commit, which is noted as a pin. */
  async version(location: RefLocation, cache: Cache): Promise<Version> {
    const branch = branchIn(location);
    if (branch !== undefined && await this.#isBranch(location.repository, branch)) {
      return { ref: branch, isFixed: false };
    }
    return { ref: await this.pin(location, cache), isFixed: true };
  }

  /** Returns the branch that is written to. Fails with `not_a_branch` for a fixed version. */
  async branch(location: RefLocation, uri: Uri): Promise<string> {
    const branch = branchIn(location);
    if (branch === undefined) throw notABranch(uri, `"${location.at!.kind}:" names a fixed version`);
    try {
      return (await this.#store.getBranch(location.repository, branch)).id;
    } catch (error) {
      if (!isCoded(error, "branch_not_found", "invalid_branch_name")) throw error;
      // What is there but is no branch is told so; what is not there at all is not found.
      if (await this.#resolves(location.repository, branch)) {
        throw notABranch(uri, `"${branch}" is a tag or a commit, which does not change`);
      }
      throw error;
    }
  }

  async #isBranch(repository: string, name: string): Promise<boolean> {
    try {
      await this.#store.getBranch(repository, name);
      return true;
    } catch (error) {
      if (isCoded(error, "branch_not_found", "invalid_branch_name")) return false;
      throw error;
    }
  }

  async #resolves(repository: string, ref: string): Promise<boolean> {
    try {
      await this.#store.resolve(repository, ref);
      return true;
    } catch (error) {
      if (error instanceof CodedError && error.kind !== "unavailable") return false;
      throw error;
    }
  }

  #pinKey({ repository, at, ref }: RefLocation): PinKey {
    const key = { store: this.#name, place: repository };
    if (!at) return { ...key, kind: "ref", name: ref! };
    return { ...key, kind: at.kind, name: ref === undefined ? at.value : `${ref}@${at.value}` };
  }

  #isSettled({ at }: RefLocation, nowMs: number): boolean {
    if (at?.kind !== "ts") return true;
    const time = at.value.slice(at.value.lastIndexOf("@") + 1);
    return parseTime(time, nowMs) <= nowMs - SETTLED_MS;
  }
}

/** Returns the branch that a location may name, or `undefined` where a selector says something else. */
function branchIn({ at, ref }: RefLocation): string | undefined {
  if (!at) return ref;
  return at.kind === "branch" ? at.value : undefined;
}

function notABranch(uri: Uri, why: string): CodedError {
  const text = formatUri(uri);
  return new CodedError("invalid", "not_a_branch", `Cannot change "${text}": ${why}`, {
    details: { uri: text },
  });
}
