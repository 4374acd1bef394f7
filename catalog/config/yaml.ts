/**
 * YAML as a configuration: maps, lists and plain values, and where each key stands.
 *
 * Anchors and merge keys (`<<: *base`) work. Duplicate keys, tags beyond those of plain values, and documents that their
 * aliases make huge are refused: nothing in a file can construct more than what JSON has.
 */

import { configurationError } from "./problems.ts";
import {
  FORBIDDEN_NAME,
  type Path,
  type Plain,
  type PlainMap,
  type Position,
  type RawConfig,
} from "./tree.ts";

type Yaml = typeof import("yaml");
type Document = ReturnType<Yaml["parseDocument"]>;
type Pair = InstanceType<Yaml["Pair"]>;

/** So many values, those of aliases counted each time. */
const MOST_VALUES = 200_000;
const MOST_DEPTH = 100;

/** Reads YAML text. Fails with `invalid_configuration`, naming line and column. */
export async function parseYaml(text: string, from: { origin: string; folder: string }): Promise<RawConfig> {
  const yaml = await import("yaml");
  const lines = new yaml.LineCounter();
  const document = yaml.parseDocument(text, {
    version: "1.2",
    schema: "core",
    merge: false,
    // The package compares each key with each: they are compared here.
    uniqueKeys: false,
    prettyErrors: false,
    lineCounter: lines,
    logLevel: "error",
  });
  const placeOf = (offset: number): Position => {
    const { line, col } = lines.linePos(offset);
    return { line, column: col };
  };
  const problem = document.errors[0] ?? document.warnings[0];
  if (problem) refuse(from.origin, placeOf(problem.pos[0]), withoutCapital(problem.message));
  const reading = new Reading(yaml, document, (offset, why) => refuse(from.origin, placeOf(offset), why));
  const tree = reading.tree();
  return {
    ...from,
    tree,
    positionOf(path) {
      const offset = reading.offsetOf(path);
      return offset === undefined ? undefined : placeOf(offset);
    },
  };
}

class Reading {
  readonly #yaml: Yaml;
  readonly #document: Document;
  readonly #refuse: (offset: number, why: string) => never;
  readonly #offsets = new Map<string, number>();
  /** What each alias stands for. */
  readonly #targets: ReadonlyMap<unknown, unknown>;
  /** The anchors that are being read: an alias inside its own one has no end. */
  readonly #open = new Set<unknown>();
  #count = 0;

  constructor(yaml: Yaml, document: Document, refuse: (offset: number, why: string) => never) {
    this.#yaml = yaml;
    this.#document = document;
    this.#refuse = refuse;
    this.#targets = aliasTargets(yaml, document);
  }

  tree(): PlainMap {
    const { contents } = this.#document;
    // A file that is empty, or all comments, says nothing.
    if (contents === null || (this.#yaml.isScalar(contents) && contents.value === null)) return {};
    const value = this.#value(contents, []);
    if (typeof value === "object" && value !== null && !Array.isArray(value)) return value as PlainMap;
    return this.#refuse(offsetOf(contents), "the whole must be names with values");
  }

  offsetOf(path: Path): number | undefined {
    for (let length = path.length; length > 0; length--) {
      const offset = this.#offsets.get(keyOf(path.slice(0, length)));
      if (offset !== undefined) return offset;
    }
    return undefined;
  }

  #value(node: unknown, path: Path): Plain {
    const yaml = this.#yaml;
    if (++this.#count > MOST_VALUES) this.#refuse(offsetOf(node), "its aliases make too much of it");
    if (path.length > MOST_DEPTH) this.#refuse(offsetOf(node), "it is nested too deeply");
    if (yaml.isAlias(node)) {
      return this.#resolved(node, (target) => this.#value(target, path));
    }
    if (yaml.isMap(node)) return this.#map(node, path);
    if (yaml.isSeq(node)) {
      return node.items.map((item, index) => {
        this.#note([...path, index], item);
        return this.#value(item, [...path, index]);
      });
    }
    if (node === null || node === undefined) return null;
    const value = yaml.isScalar(node) ? node.value : undefined;
    if (value === null || typeof value === "string" || typeof value === "boolean") return value;
    if (typeof value === "number" && Number.isFinite(value)) return value;
    return this.#refuse(offsetOf(node), "it is neither text, nor a number, nor true or false");
  }

  #map(node: unknown, path: Path): PlainMap {
    const map: Record<string, Plain> = {};
    const merged: unknown[] = [];
    for (const pair of (node as { items: Pair[] }).items) {
      if (!this.#isMergeKey(pair.key)) this.#add(map, pair, path);
      else if (merged.push(pair.value) > 1) {
        this.#refuse(offsetOf(pair.key), "what is merged goes into one list");
      }
    }
    for (const value of merged) this.#merge(map, value, path);
    return map;
  }

  #add(map: Record<string, Plain>, { key, value }: Pair, path: Path): void {
    const name = this.#yaml.isScalar(key) ? key.value : undefined;
    if (typeof name !== "string" || name === FORBIDDEN_NAME) {
      this.#refuse(offsetOf(key), "a name must be text; put it in quotes");
    }
    if (Object.hasOwn(map, name)) this.#refuse(offsetOf(key), `"${name}" is there twice`);
    this.#note([...path, name], key);
    map[name] = this.#value(value, [...path, name]);
  }

  #merge(map: Record<string, Plain>, node: unknown, path: Path): void {
    const yaml = this.#yaml;
    if (++this.#count > MOST_VALUES) this.#refuse(offsetOf(node), "its aliases make too much of it");
    if (yaml.isAlias(node)) {
      this.#resolved(node, (target) => this.#merge(map, target, path));
    } else if (yaml.isSeq(node)) {
      for (const item of node.items) this.#merge(map, item, path);
    } else if (yaml.isMap(node)) {
      // What the map says itself, and what is merged first, goes before what is merged later.
      for (const [name, value] of Object.entries(this.#map(node, path))) {
        if (!Object.hasOwn(map, name)) map[name] = value;
      }
    } else this.#refuse(offsetOf(node), "what is merged must be names with values");
  }

  #resolved<T>(alias: unknown, read: (target: unknown) => T): T {
    const target = this.#targets.get(alias);
    if (target === undefined || this.#open.has(target)) {
      this.#refuse(offsetOf(alias), "an alias must name an anchor before it, and not hold itself");
    }
    this.#open.add(target);
    try {
      return read(target);
    } finally {
      this.#open.delete(target);
    }
  }

  #isMergeKey(key: unknown): boolean {
    return this.#yaml.isScalar(key) && key.value === "<<" && (key as { type?: string }).type === "PLAIN";
  }

  /** The first place that a key is found at stays: a merged map does not move what stood there before. */
  #note(path: Path, node: unknown): void {
    const key = keyOf(path);
    if (!this.#offsets.has(key)) this.#offsets.set(key, offsetOf(node));
  }
}

/** An alias stands for the last anchor of its name before it. The package's own way looks through the document for each. */
function aliasTargets(yaml: Yaml, document: Document): ReadonlyMap<unknown, unknown> {
  const anchors = new Map<string, unknown>();
  const targets = new Map<unknown, unknown>();
  yaml.visit(document, (_, node) => {
    if (yaml.isAlias(node)) targets.set(node, anchors.get(node.source));
    else if (yaml.isNode(node)) {
      const { anchor } = node as { anchor?: string };
      if (anchor) anchors.set(anchor, node);
    }
  });
  return targets;
}

function keyOf(path: Path): string {
  return path.join("\0");
}

function offsetOf(node: unknown): number {
  return (node as { range?: readonly number[] } | null)?.range?.[0] ?? 0;
}

function withoutCapital(message: string): string {
  return message.charAt(0).toLowerCase() + message.slice(1);
}

function refuse(origin: string, position: Position, why: string): never {
  throw configurationError({ origin, tree: {}, positionOf: () => position }, { path: [], why });
}
