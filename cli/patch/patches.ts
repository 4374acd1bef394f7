/** Differences with what changed in each file: a unified diff of small texts, a word about all others. */

import { concatBytes, tryUtf8Text } from "../../base/bytes.ts";
import type { DiffItem, ObjectStats, Store } from "../../drivers/store.ts";
import type { ListForm, Output } from "../output.ts";
import { changeJson } from "../render/changes.ts";
import { escapeForTerminal } from "../render/escape.ts";
import { type PatchLine, unifiedDiff } from "./unified.ts";

/** Larger files are not compared line by line. */
const MOST_BYTES = 1024 * 1024;

/** The refs that the two sides of a diff are read from. */
export interface PatchSides {
  readonly repository: string;
  /** Nothing on the older side for the first commit of all. */
  readonly left: string | undefined;
  readonly right: string;
}

export interface Patch {
  readonly item: DiffItem;
  /** The lines of the diff; absent when a side is too large or no text. */
  readonly lines?: readonly PatchLine[];
}

/** Yields each difference with its patch; two files are in memory at a time. */
export async function* patchesOf(
  store: Store,
  pages: AsyncIterable<readonly DiffItem[]>,
  sides: PatchSides,
): AsyncGenerator<readonly Patch[]> {
  for await (const page of pages) {
    for (const item of page) yield [await patchOf(store, item, sides)];
  }
}

async function patchOf(store: Store, item: DiffItem, sides: PatchSides): Promise<Patch> {
  const { repository, left, right } = sides;
  const older = await textAt(store, { repository, ref: left, stats: item.left });
  const newer = older === undefined
    ? undefined
    : await textAt(store, { repository, ref: right, stats: item.right });
  return older === undefined || newer === undefined ? { item } : { item, lines: unifiedDiff(older, newer) };
}

/** Returns the text of one side, empty where there is no object; `undefined` when it is too large or no text. */
async function textAt(
  store: Store,
  { repository, ref, stats }: {
    repository: string;
    ref: string | undefined;
    stats: ObjectStats | undefined;
  },
): Promise<string | undefined> {
  if (!stats || ref === undefined) return "";
  if (stats.sizeBytes > MOST_BYTES) return undefined;
  const { body } = await store.read(repository, ref, stats.path);
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece.slice());
  const text = tryUtf8Text(concatBytes(...pieces));
  return text?.includes("\0") ? undefined : text;
}

/** Returns a difference with its patch as text, or null when there is none. */
export function patchJson(patch: Patch): Record<string, unknown> {
  return { ...changeJson(patch.item), patch: patch.lines ? plainText(patch) : null };
}

/** Returns the form of a list of patches. */
export function patchForm(output: Output): ListForm<Patch> {
  return {
    json: patchJson,
    line: (patch) => output.terminal ? shownText(output, patch) : plainText(patch),
  };
}

function plainText({ item, lines }: Patch): string {
  const [older, newer] = namesOf(item);
  if (!lines) return `Binary files ${older} and ${newer} differ`;
  return [`--- ${older}`, `+++ ${newer}`, ...lines.map(({ text }) => text)].join("\n");
}

function shownText(output: Output, patch: Patch): string {
  const [older, newer] = namesOf(patch.item).map(escapeForTerminal);
  if (!patch.lines) return output.paint("bold", `Binary files ${older} and ${newer} differ`);
  return [
    output.paint("bold", `--- ${older}`),
    output.paint("bold", `+++ ${newer}`),
    ...patch.lines.map((line) => shownLine(output, line)),
  ].join("\n");
}

const COLOR_OF = { "@": "cyan", "-": "red", "+": "green" } as const;

/** A tab does no harm, and what is indented by tabs would be hard to read with every one of them escaped. */
function shownLine(output: Output, { mark, text }: PatchLine): string {
  const shown = text.split("\t").map(escapeForTerminal).join("\t");
  return mark === " " || mark === "\\" ? shown : output.paint(COLOR_OF[mark], shown);
}

function namesOf({ path, left, right }: DiffItem): [older: string, newer: string] {
  return [left ? quoted(`a/${path}`) : "/dev/null", right ? quoted(`b/${path}`) : "/dev/null"];
}

/** Names with characters that would end or garble the line are quoted as git does. */
function quoted(name: string): string {
  if (!/[\u0000-\u001f\u007f"\\]/.test(name)) return name;
  const escaped = name.replace(/[\u0000-\u001f\u007f"\\]/g, (character) => {
    const short = { "\n": "\\n", "\r": "\\r", "\t": "\\t", '"': '\\"', "\\": "\\\\" }[character];
    return short ?? `\\${character.charCodeAt(0).toString(8).padStart(3, "0")}`;
  });
  return `"${escaped}"`;
}
