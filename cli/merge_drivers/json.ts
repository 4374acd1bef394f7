/**
 * The driver `json`: objects by key, at every depth; arrays, strings and numbers as a whole.
 *
 * The result is the destination's text with the source's changes in it: what the destination keeps is written as it was, in
 * its order, and what comes from the source takes the destination's indentation.
 */

import { tryUtf8Text, utf8 } from "../../base/bytes.ts";
import { bothSides, DELETED_ON_ONE_SIDE, type DriverResult, type DriverSides } from "./driver.ts";
import { type JsonStyle, lineAt, sameStyle, separatorAt, styleOf, writeJson } from "./json_style.ts";
import {
  type JsonDocument,
  type JsonMember,
  type JsonObject,
  type JsonValue,
  parseJsonText,
  sameJson,
} from "./json_text.ts";
import { KeyConflict, mergeKeyed, type Versions } from "./keyed.ts";

/** Merges JSON documents by key. */
export function mergeJson(sides: DriverSides): DriverResult {
  const both = bothSides(sides);
  if (!both) return DELETED_ON_ONE_SIDE;
  const source = read(both.source), destination = read(both.destination);
  const base = sides.base && read(sides.base);
  if (!source || !destination || (sides.base && !base)) {
    return { conflict: "it is no JSON, or repeats a key" };
  }
  const style = styleOf(destination);
  const merge: Merge = { style, sourceFits: sameStyle(style, styleOf(source)) };
  const versions = { base: base?.value, source: source.value, destination: destination.value };
  const merged = mergeValues(merge, versions, []);
  if (merged instanceof KeyConflict) {
    return { conflict: merged.key === "" ? "both sides changed it" : `both sides changed ${merged.key}` };
  }
  return utf8(destination.before + merged! + destination.after);
}

interface Merge {
  readonly style: JsonStyle;
  /** Whether the source is laid out as the destination, so that its text fits in as it is. */
  readonly sourceFits: boolean;
}

function read(bytes: Uint8Array): JsonDocument | undefined {
  const text = tryUtf8Text(bytes);
  return text === undefined ? undefined : parseJsonText(text);
}

/** Returns the text that a value becomes; `undefined` when it goes away. */
function mergeValues(
  merge: Merge,
  versions: Versions<JsonValue>,
  path: readonly string[],
): string | KeyConflict | undefined {
  const { base, source, destination } = versions;
  if (same(source, destination) || same(base, source)) return destination?.text;
  if (same(base, destination)) return source && textOfSource(merge, source, path.length);
  const isOrNone = (value: JsonValue | undefined) => value === undefined || value.kind === "object";
  if (source?.kind === "object" && destination?.kind === "object" && isOrNone(base)) {
    return mergeObjects(merge, { base: base as JsonObject | undefined, source, destination }, path);
  }
  return new KeyConflict(path.map((key) => JSON.stringify(key)).join("."));
}

function same(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  return a && b ? sameJson(a, b) : a === b;
}

function textOfSource({ style, sourceFits }: Merge, value: JsonValue, depth: number): string {
  return sourceFits ? value.text : writeJson(value, style, depth);
}

function mergeObjects(
  merge: Merge,
  { base, source, destination }: {
    base: JsonObject | undefined;
    source: JsonObject;
    destination: JsonObject;
  },
  path: readonly string[],
): string | KeyConflict {
  const none: ReadonlyMap<string, JsonMember> = new Map();
  const sides = { base: base?.members ?? none, source: source.members, destination: destination.members };
  const members = mergeKeyed(sides, (key, versions) => {
    const values = {
      base: versions.base?.value,
      source: versions.source?.value,
      destination: versions.destination?.value,
    };
    const value = mergeValues(merge, values, [...path, key]);
    if (value === undefined || value instanceof KeyConflict) return value;
    const { keyText, colon } = versions.destination ??
      { keyText: versions.source!.keyText, colon: colonOf(merge, destination) };
    return keyText + colon + value;
  });
  return members instanceof KeyConflict
    ? members
    : writeObject(merge, { destination, members, depth: path.length });
}

function colonOf({ style }: Merge, { members }: JsonObject): string {
  for (const { colon } of members.values()) return colon;
  return style.colon;
}

/** Writes members in the destination's layout. */
function writeObject(
  { style }: Merge,
  { destination, members, depth }: {
    readonly destination: JsonObject;
    readonly members: readonly (readonly [key: string, text: string])[];
    readonly depth: number;
  },
): string {
  if (members.length === 0) return "{}";
  const { layout } = destination;
  const places = new Map([...destination.members.keys()].map((key, i) => [key, i]));
  const isEmpty = places.size === 0;
  const isOneLine = !isEmpty && !layout.open.includes("\n");
  const usual = layout.separators[0] ?? (isOneLine ? `,${style.gap}` : separatorAt(style, depth + 1));
  let text = `{${isEmpty ? lineAt(style, depth + 1) : layout.open}`;
  let before: number | undefined;
  for (const [i, [key, member]] of members.entries()) {
    const place = places.get(key);
    const isNext = before !== undefined && place === before + 1;
    if (i > 0) text += isNext ? layout.separators[before!] : usual;
    text += member;
    before = place;
  }
  return `${text}${isEmpty ? lineAt(style, depth) : layout.close}}`;
}
