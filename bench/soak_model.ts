/**
 * What one worker of the soak knows to be there, from the exit codes of its own commands alone.
 *
 * Each worker has keys and branches that nobody else writes, so what must be there is exact: an operation that was acknowledged
 * is done, one that was refused is not. After one that was interrupted the worker looks; it may find the state before or the
 * state after, and what it finds must stay.
 */

import { Lost } from "./soak_process.ts";

/** MD5 sums by path. */
export type Versions = ReadonlyMap<string, string>;

/** What a branch shows, and what of that is committed. */
export interface State {
  readonly visible: Versions;
  readonly committed: Versions;
}

export const EMPTY: State = { visible: new Map(), committed: new Map() };

/** Returns versions with some of them changed; `undefined` removes one. */
export function withChanges(
  versions: Versions,
  changes: Iterable<readonly [path: string, version: string | undefined]>,
): Versions {
  const changed = new Map(versions);
  for (const [path, version] of changes) {
    if (version === undefined) changed.delete(path);
    else changed.set(path, version);
  }
  return changed;
}

export function sameVersions(a: Versions, b: Versions): boolean {
  return a.size === b.size && [...a].every(([path, version]) => b.get(path) === version);
}

/** Fails unless what was found is exactly what must be there. */
export function checkVersions(what: string, found: Versions, expected: Versions): void {
  for (const path of new Set([...found.keys(), ...expected.keys()])) {
    const [is, must] = [found.get(path), expected.get(path)];
    if (is !== must) {
      throw new Lost(`${what}: "${path}" is ${is ?? "not there"}, not ${must ?? "absent"} as acknowledged`);
    }
  }
}

/** Fails unless each path is as before or as after. */
export function checkEither(what: string, found: Versions, states: readonly Versions[]): void {
  for (const path of new Set([found, ...states].flatMap((state) => [...state.keys()]))) {
    if (!states.some((state) => state.get(path) === found.get(path))) {
      throw new Lost(`${what}: "${path}" is ${found.get(path) ?? "not there"}, which it never was`);
    }
  }
}

/** Fails unless all is as before, or all as after. */
export function checkWhole(what: string, found: State, states: readonly State[]): void {
  const isWhole = states.some(({ visible, committed }) =>
    sameVersions(found.visible, visible) && sameVersions(found.committed, committed)
  );
  if (!isWhole) throw new Lost(`${what}: found in part, or in a state that it never was in`);
}

/**
 * A worker's own folder on a branch that others commit: what it shows is exact, and what of it is committed is not older than
 * the worker's last commit.
 */
export class SharedFolder {
  visible: Versions = new Map();
  /** The versions of each path that may be the committed one, oldest first. */
  readonly #candidates = new Map<string, (string | undefined)[]>();

  /** Remembers that a version may be staged from now on, and so be committed by anybody. */
  mayBecome(path: string, version: string | undefined): void {
    const known = this.#candidates.get(path);
    if (known) known.push(version);
    else this.#candidates.set(path, [undefined, version]);
  }

  /** All that is visible has been committed. */
  isCommitted(): void {
    for (const path of this.#candidates.keys()) this.#candidates.set(path, [this.visible.get(path)]);
  }

  /** Fails unless each committed version may be that; older ones may not come back. */
  checkCommitted(what: string, found: Versions): void {
    for (const path of new Set([...found.keys(), ...this.#candidates.keys()])) {
      const candidates = this.#candidates.get(path) ?? [undefined];
      const at = candidates.indexOf(found.get(path));
      if (at < 0) {
        const is = found.get(path) ?? "not there";
        throw new Lost(`${what}: the committed "${path}" is ${is}, older than the last commit or lost`);
      }
      this.#candidates.set(path, candidates.slice(at));
    }
  }
}
