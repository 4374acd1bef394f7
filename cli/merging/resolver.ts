/** Settling a merge's conflicts by what the user said: the choices of `--resolve` first, then merge drivers. */

import * as fs from "node:fs";
import { Buffer } from "node:buffer";
import { CodedError } from "../../base/errors.ts";
import type { ByteStream } from "../../drivers/object_store.ts";
import type {
  ConflictResolver,
  MergeConflict,
  MergeResolution,
  ObjectStats,
  ReadMergeSide,
  Store,
} from "../../drivers/store.ts";
import { localError } from "../folders/local_files.ts";
import { refOf } from "../locations.ts";
import { type DriverSides, MAX_DRIVER_BYTES } from "../merge_drivers/driver.ts";
import type { DriverRule } from "../merge_drivers/mod.ts";
import { readDescriptor } from "../streams.ts";
import { closest } from "../../base/suggestions.ts";
import type { Choice, ChoiceRule } from "./choices.ts";
import type { PathPattern } from "./patterns.ts";
import { mergedProperties } from "./properties.ts";

const SIDES = ["base", "source", "destination"] as const;
/** How many conflicts are remembered to name the one that a mistyped path was meant for. */
const MAX_NAMES = 1000;

export interface ResolverParts {
  readonly store: Store;
  /** The repository of the merge. */
  readonly repository: string;
  readonly choices: readonly ChoiceRule[];
  /** How many of them, the first ones, stand on the command line itself. */
  readonly givenChoices: number;
  readonly drivers: readonly DriverRule[];
  /** How many of them, the first ones, this command line names. */
  readonly givenDrivers: number;
  /** Told why a driver left a conflict. */
  readonly onLeft: (path: string, why: string) => void;
}

/** Returns a resolver; `undefined` when there is nothing to go by. */
export function resolverOf(parts: ResolverParts): ChosenResolver | undefined {
  return parts.choices.length + parts.drivers.length === 0 ? undefined : new ChosenResolver(parts);
}

export class ChosenResolver implements ConflictResolver {
  readonly #parts: ResolverParts;
  /** Places of the rules that are one path, by that path: a long list of them costs a look each conflict. */
  readonly #byPath = new Map<string, number>();
  readonly #globs: readonly number[];
  /** The rules of one path that no conflict has met yet, as they were written, by that path. */
  readonly #unmet = new Map<string, string>();
  /** The globs of choices, and the rules of drivers, that no conflict has met yet. */
  readonly #unmetGlobs = new Map<PathPattern, string>();
  readonly #names: string[] = [];

  constructor(parts: ResolverParts) {
    this.#parts = parts;
    const globs: number[] = [];
    for (const [i, { pattern }] of parts.choices.entries()) {
      const { text, path, isGlob } = pattern;
      if (!this.#byPath.has(path)) this.#byPath.set(path, i);
      if (isGlob) {
        globs.push(i);
        // A file's rules may be for all merges.
        if (i < parts.givenChoices) this.#unmetGlobs.set(pattern, "--resolve");
      } else this.#unmet.set(path, text);
    }
    for (const { pattern } of parts.drivers.slice(0, parts.givenDrivers)) {
      this.#unmetGlobs.set(pattern, "--driver");
    }
    this.#globs = globs;
  }

  resolve(
    conflict: MergeConflict,
    read: ReadMergeSide,
  ): MergeResolution | undefined | Promise<MergeResolution | undefined> {
    if (this.#names.length < MAX_NAMES) this.#names.push(conflict.path);
    for (const pattern of this.#unmetGlobs.keys()) {
      if (pattern.matches(conflict.path)) this.#unmetGlobs.delete(pattern);
    }
    const choice = this.#choiceFor(conflict.path);
    if (choice) return this.#chosen(choice, conflict);
    const rule = this.#parts.drivers.find(({ pattern }) => pattern.matches(conflict.path));
    return rule && this.#merged(rule, conflict, read);
  }

  /**
   * Fails with `unmatched_resolution` for a path that was no conflict: a typo would settle nothing, and nobody would know. A glob
   * of the command line has to match only if there was a conflict at all, which something else then settled.
   */
  finish(): void {
    const globs = this.#names.length === 0 ? [] : [...this.#unmetGlobs];
    const glob = globs.find(([, option]) => option === "--resolve")?.[0];
    const [first] = glob ? [...this.#unmet, [glob.path, glob.text] as const] : this.#unmet;
    if (!first) return;
    const [path, text] = first;
    const near = closest(path, this.#names);
    throw new CodedError(
      "invalid",
      "unmatched_resolution",
      `Cannot resolve "${text}": it is no conflict of this merge`,
      { details: { path, ...(near === undefined ? {} : { suggestion: near }) } },
    );
  }

  /** The globs that no conflict has met, each as it was given. */
  get unusedGlobs(): readonly string[] {
    return [...this.#unmetGlobs].map(([{ text }, option]) => `${option} ${text}`);
  }

  #choiceFor(path: string): Choice | undefined {
    this.#unmet.delete(path);
    let first = this.#byPath.get(path);
    for (const i of this.#globs) {
      if (first !== undefined && i > first) break;
      if (this.#parts.choices[i]!.pattern.matches(path)) first = i;
    }
    return first === undefined ? undefined : this.#parts.choices[first]!.choice;
  }

  #chosen(choice: Choice, conflict: MergeConflict): MergeResolution | Promise<MergeResolution> {
    switch (choice.kind) {
      case "uri":
        return this.#fromUri(choice, conflict);
      case "file":
        return fromFile(choice.path, conflict);
      default:
        return choice;
    }
  }

  async #fromUri(
    { location }: Choice & { kind: "uri" },
    conflict: MergeConflict,
  ): Promise<MergeResolution> {
    const { store, repository } = this.#parts;
    const ref = await refOf(store, location);
    // A folder has the object under the conflict's own path.
    const { key = "" } = location;
    const path = key === "" || key.endsWith("/") ? key + conflict.path : key;
    if (location.repository === repository) return { kind: "object", ref, path };
    const { stats, body } = await store.read(location.repository, ref, path);
    return { kind: "content", body, contentType: stats.contentType, metadata: stats.metadata };
  }

  async #merged(
    { driver }: DriverRule,
    conflict: MergeConflict,
    read: ReadMergeSide,
  ): Promise<MergeResolution | undefined> {
    const leave = (why: string) => {
      this.#parts.onLeft(conflict.path, `${driver.name}: ${why}`);
      return undefined;
    };
    if (SIDES.some((side) => (conflict[side]?.sizeBytes ?? 0) > MAX_DRIVER_BYTES)) {
      return leave("it is too large");
    }
    const properties = mergedProperties(conflict);
    if (!properties) return leave("both sides changed its metadata or content type");
    const sides: { -readonly [side in keyof DriverSides]: DriverSides[side] } = {
      base: undefined,
      source: undefined,
      destination: undefined,
    };
    for (const side of SIDES) {
      const stats = conflict[side];
      if (stats) sides[side] = await collected(await read(side), stats);
    }
    const result = await driver.merge(sides, conflict.path);
    return result instanceof Uint8Array
      ? { kind: "content", body: result, ...properties }
      : leave(result.conflict);
  }
}

async function collected(body: ByteStream, { sizeBytes }: ObjectStats): Promise<Uint8Array> {
  const bytes = Buffer.allocUnsafeSlow(sizeBytes);
  let at = 0;
  for await (const piece of body) {
    bytes.set(piece, at);
    at += piece.length;
  }
  return bytes;
}

/** A file in place of an object: with what is known of the object. */
function fromFile(path: string, { source, destination }: MergeConflict): MergeResolution {
  const known = destination ?? source;
  return {
    kind: "content",
    body: fileBody(path),
    ...(known ? { contentType: known.contentType, metadata: known.metadata } : {}),
  };
}

async function* fileBody(path: string): ByteStream {
  try {
    const descriptor = fs.openSync(path, "r");
    try {
      yield* readDescriptor(descriptor);
    } finally {
      fs.closeSync(descriptor);
    }
  } catch (error) {
    throw localError(error, `Cannot read "${path}"`);
  }
}
