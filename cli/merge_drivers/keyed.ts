/** Three-way merge of things that have keys and an order: members of an object, rows of a table. */

export interface KeyedSides<T> {
  readonly base: ReadonlyMap<string, T>;
  readonly source: ReadonlyMap<string, T>;
  readonly destination: ReadonlyMap<string, T>;
}

/** The three versions of one key; a missing one has no value. */
export interface Versions<T> {
  readonly base: T | undefined;
  readonly source: T | undefined;
  readonly destination: T | undefined;
}

/** A key on which the sides do not agree. */
export class KeyConflict {
  readonly key: string;

  constructor(key: string) {
    this.key = key;
  }
}

/**
 * Merges key by key; `mergeOne` gives what a key becomes, `undefined` where it goes away. The destination's order is kept,
 * and what only the source has comes after what it follows there.
 */
export function mergeKeyed<T, R>(
  sides: KeyedSides<T>,
  mergeOne: (key: string, versions: Versions<T>) => R | KeyConflict | undefined,
): readonly (readonly [string, R])[] | KeyConflict {
  const merged: (readonly [string, R])[] = [];
  for (const key of keysInOrder(sides)) {
    const base = sides.base.get(key),
      source = sides.source.get(key),
      destination = sides.destination.get(key);
    const result = mergeOne(key, { base, source, destination });
    if (result instanceof KeyConflict) return result;
    if (result !== undefined) merged.push([key, result]);
  }
  return merged;
}

function* keysInOrder<T>({ source, destination }: KeyedSides<T>): Generator<string> {
  const following = new Map<string | undefined, string[]>();
  let anchor: string | undefined;
  for (const key of source.keys()) {
    if (destination.has(key)) anchor = key;
    else {
      const known = following.get(anchor);
      if (known) known.push(key);
      else following.set(anchor, [key]);
    }
  }
  yield* following.get(undefined) ?? [];
  for (const key of destination.keys()) {
    yield key;
    yield* following.get(key) ?? [];
  }
}

/** Returns the version that a key becomes where one side alone decides; a conflict otherwise. */
export function decided<T>(
  key: string,
  { base, source, destination }: Versions<T>,
  same: (a: T, b: T) => boolean,
): T | KeyConflict | undefined {
  const isSame = (a: T | undefined, b: T | undefined) =>
    a === undefined || b === undefined ? a === b : same(a, b);
  if (isSame(source, destination) || isSame(base, source)) return destination;
  return isSame(base, destination) ? source : new KeyConflict(key);
}
