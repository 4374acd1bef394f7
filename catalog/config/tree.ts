/** A configuration as it was written, and where in it each key stands. */

/** What a configuration is made of: what JSON has, whatever it was read from. */
export type Plain = null | boolean | number | string | readonly Plain[] | PlainMap;
export interface PlainMap {
  readonly [name: string]: Plain;
}

/** The names that lead to a key, outermost first; items of lists are numbered from 0. */
export type Path = readonly (string | number)[];

export interface Position {
  /** Both count from 1. */
  readonly line: number;
  readonly column: number;
}

/** A configuration in full, or as much of it as its reader may see. */
export interface RawConfig {
  readonly tree: PlainMap;
  /** What it was read from, as messages name it; absent when there is none. */
  readonly origin?: string;
  /** The folder that relative paths in it start from; absent where it lies in no folder. */
  readonly folder?: string;
  /** Where a key stands, or the nearest one above it; `undefined` where lines say nothing. */
  positionOf(path: Path): Position | undefined;
}

export function isMap(value: Plain | undefined): value is PlainMap {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns a path as messages show it: `stores.s3-acme.region`; a name with dots or slashes in quotes. */
export function pathText(path: Path): string {
  return path.map((step) => /^[\w+-]+$/.test(String(step)) ? String(step) : JSON.stringify(step)).join(".");
}

/** A name that would be no plain key of an object. */
export const FORBIDDEN_NAME = "__proto__";
