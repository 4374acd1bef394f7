/** Reading items of a view as what they must be; what is wrong is noted, and reading goes on, so that a check sees all. */

import { interpolate, InterpolationError, type Lookup } from "./interpolation.ts";
import { type Places, type Read, readText } from "./options.ts";
import type { Problems } from "./problems.ts";
import { isMap, type Path, type Plain, type PlainMap } from "./tree.ts";
import type { Item } from "./view.ts";

/** Whose environment fills in what a configuration leaves open. */
export interface Reader {
  /** The value of a variable as it is; an empty one counts. */
  readonly variable: Lookup;
  /** What `~` stands for. */
  readonly userFolder: string;
}

/** The form of a scheme of URIs, and so of the name of a store. */
const SCHEME_NAME = /^[a-z][a-z0-9+.-]*$/;

export class Reading {
  readonly problems: Problems;
  readonly places: Places;
  readonly #variable: Lookup;

  constructor(problems: Problems, reader: Reader, folder: string | undefined) {
    this.problems = problems;
    this.places = { folder, userFolder: reader.userFolder };
    this.#variable = reader.variable;
  }

  /** Returns the value of an item with every `${…}` filled in; what cannot be is noted and stays. Names never change. */
  filled({ value, path }: Item): Plain {
    return mapTexts(value, path, (text, at) => {
      try {
        return interpolate(text, this.#variable);
      } catch (error) {
        if (!(error instanceof InterpolationError)) throw error;
        this.problems.add(at, error.message, { variable: error.variable });
        return text;
      }
    });
  }

  /** Returns an item that must be names with values; `why` says so. */
  map(item: Item, why: string): PlainMap | undefined {
    const value = this.filled(item);
    if (isMap(value)) return value;
    this.problems.add(item.path, why);
    return undefined;
  }

  /** Returns a map of texts. */
  texts(value: Plain, path: Path): ReadonlyMap<string, string> {
    const texts = new Map<string, string>();
    if (!isMap(value)) {
      this.problems.add(path, "it must be names with values");
      return texts;
    }
    for (const [name, inner] of Object.entries(value)) {
      const text = this.take([...path, name], readText(inner));
      if (text !== undefined) texts.set(name, text);
    }
    return texts;
  }

  /** Returns what a map must have under a name. */
  needed<T>(map: PlainMap, name: string, path: Path, read: (value: Plain) => Read<T>): T | undefined {
    if ((map[name] ?? null) === null) this.problems.add([...path, name], "it is missing");
    return this.optional(map, name, path, read);
  }

  /** Returns what a map has under a name, if anything. */
  optional<T>(map: PlainMap, name: string, path: Path, read: (value: Plain) => Read<T>): T | undefined {
    const given = map[name] ?? null;
    return given === null ? undefined : this.take([...path, name], read(given));
  }

  take<T>(path: Path, read: Read<T>): T | undefined {
    if ("value" in read) return read.value;
    // What could not be filled in was told already.
    if (!this.problems.has(path)) this.problems.add(path, read.why);
    return undefined;
  }

  refuseUnknown(map: PlainMap, path: Path, known: readonly string[]): void {
    for (const name of Object.keys(map)) {
      if (!known.includes(name)) this.problems.addUnknown([...path, name], known);
    }
  }

  checkSchemeName(name: string, path: Path): void {
    if (SCHEME_NAME.test(name)) return;
    this.problems.add(path, "such a name is lowercase letters, digits, +, . and -, and begins with a letter");
  }
}

/** Returns a value with each of its texts replaced. */
export function mapTexts(value: Plain, path: Path, replace: (text: string, path: Path) => Plain): Plain {
  if (typeof value === "string") return replace(value, path);
  if (Array.isArray(value)) return value.map((item, index) => mapTexts(item, [...path, index], replace));
  if (!isMap(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, mapTexts(inner, [...path, name], replace)]),
  );
}
