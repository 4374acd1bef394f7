/**
 * The driver `text`: line by line, as diff3 does it.
 *
 * Lines of the base that both sides still have are stable. Between stable lines, what only one side changed is taken; what
 * both changed alike is taken once; anything else stays a conflict. Edits of adjacent lines have no stable line between
 * them, so they are one change. Lines are compared as bytes, with their ends.
 */

import { Buffer } from "node:buffer";
import { asBuffer, concatBytes, EMPTY_BYTES, equalBytes, utf8 } from "../../base/bytes.ts";
import { diffLines } from "../patch/line_diff.ts";
import { bothSides, DELETED_ON_ONE_SIDE, type DriverResult, type DriverSides } from "./driver.ts";

const NEWLINE = 10;

export interface TextOptions {
  /** Writes what stays a conflict between markers, as git does, in place of leaving the file a conflict. */
  readonly markers?: boolean;
}

/** Merges texts by line. */
export function mergeText(sides: DriverSides, { markers = false }: TextOptions = {}): DriverResult {
  const both = bothSides(sides);
  if (!both) return DELETED_ON_ONE_SIDE;
  const bytes = { base: sides.base ?? EMPTY_BYTES, ...both };
  if (Object.values(bytes).some((side) => side.includes(0))) return { conflict: "it is no text" };
  const base = new Lines(bytes.base),
    source = new Lines(bytes.source),
    destination = new Lines(bytes.destination);
  const pieces: Uint8Array[] = [];
  for (const region of regionsOf({ base, source, destination })) {
    const piece = settled(region);
    if (piece) pieces.push(piece);
    else if (markers) pieces.push(marked(region));
    else return { conflict: `both sides changed line ${region.line}` };
  }
  return Buffer.concat(pieces);
}

/** A text's lines, their ends included, as Latin-1: a character a byte. */
class Lines {
  readonly texts: readonly string[];
  readonly #bytes: Uint8Array;
  readonly #starts: readonly number[];

  constructor(bytes: Uint8Array) {
    const starts = [0];
    for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) starts.push(at + 1);
    if (starts.at(-1) !== bytes.length) starts.push(bytes.length);
    const text = asBuffer(bytes);
    this.texts = starts.slice(0, -1).map((start, i) => text.toString("latin1", start, starts[i + 1]));
    this.#bytes = bytes;
    this.#starts = starts;
  }

  get count(): number {
    return this.texts.length;
  }

  slice(start: number, end: number): Uint8Array {
    return this.#bytes.subarray(this.#starts[start], this.#starts[end]);
  }
}

/** Returns for each line of the base where another text has it, or -1; what is kept of both is in the same order. */
function placesIn(base: Lines, other: Lines): Int32Array {
  const { removed, added } = diffLines(base.texts, other.texts);
  const places = new Int32Array(base.count).fill(-1);
  let at = 0;
  for (let i = 0; i < base.count; i++) {
    if (removed[i]) continue;
    while (added[at]) at++;
    places[i] = at++;
  }
  return places;
}

interface Region {
  readonly base: Uint8Array;
  readonly source: Uint8Array;
  readonly destination: Uint8Array;
  /** Where it begins in the destination, from 1. */
  readonly line: number;
}

/** Yields the regions between stable lines, and runs of stable lines as regions that are equal on all sides. */
function* regionsOf(
  { base, source, destination }: { base: Lines; source: Lines; destination: Lines },
): Generator<Region> {
  const inSource = placesIn(base, source), inDestination = placesIn(base, destination);
  let b = 0, s = 0, d = 0;
  while (b < base.count || s < source.count || d < destination.count) {
    let end = b;
    while (end < base.count && (inSource[end]! < 0 || inDestination[end]! < 0)) end++;
    const sourceEnd = end < base.count ? inSource[end]! : source.count;
    const destinationEnd = end < base.count ? inDestination[end]! : destination.count;
    yield {
      base: base.slice(b, end),
      source: source.slice(s, sourceEnd),
      destination: destination.slice(d, destinationEnd),
      line: d + 1,
    };
    [b, s, d] = [end, sourceEnd, destinationEnd];
    while (end < base.count && inSource[end] === s + end - b && inDestination[end] === d + end - b) end++;
    const stable = base.slice(b, end);
    yield { base: stable, source: stable, destination: stable, line: d + 1 };
    [b, s, d] = [end, s + end - b, d + end - b];
  }
}

function settled({ base, source, destination }: Region): Uint8Array | undefined {
  if (equalBytes(base, source) || equalBytes(source, destination)) return destination;
  return equalBytes(base, destination) ? source : undefined;
}

function marked({ base, source, destination }: Region): Uint8Array {
  const parts: (readonly [string, Uint8Array])[] = [
    ["<<<<<<< destination", destination],
    ["||||||| base", base],
    ["=======", source],
  ];
  return concatBytes(
    ...parts.flatMap(([mark, lines]) => [utf8(`${mark}\n`), lines, lineEnd(lines)]),
    utf8(">>>>>>> source\n"),
  );
}

/** A marker begins a line, also after a last line that has no end. */
function lineEnd(lines: Uint8Array): Uint8Array {
  return lines.length === 0 || lines.at(-1) === NEWLINE ? EMPTY_BYTES : utf8("\n");
}
