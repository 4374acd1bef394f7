/** How a JSON text is laid out, and writing values in that way. */

import type { JsonDocument, JsonObject, JsonValue } from "./json_text.ts";

export interface JsonStyle {
  /** Before the first thing in an object: a line end and the indentation of one level, or nothing when all is on one line. */
  readonly newline: string;
  readonly indent: string;
  readonly colon: string;
  /** After a comma on one line. */
  readonly gap: string;
}

/** Returns the layout of a document, as its outermost value shows it. */
export function styleOf({ value }: JsonDocument): JsonStyle {
  const open = value.kind === "object" ? value.layout.open : /^\[([ \t\r\n]*)/.exec(value.text)?.[1] ?? "";
  const [, newline = "", indent = ""] = /(\r?\n)([ \t]*)$/.exec(open) ?? [];
  const first = value.kind === "object" ? [...value.members.values()][0] : undefined;
  const colon = first?.colon ?? ": ";
  const separator = value.kind === "object" ? value.layout.separators[0] : undefined;
  const gap = separator?.slice(separator.indexOf(",") + 1) ?? (colon.endsWith(" ") ? " " : "");
  return { newline, indent, colon, gap: newline === "" ? gap : " " };
}

export function sameStyle(a: JsonStyle, b: JsonStyle): boolean {
  return a.newline === b.newline && a.indent === b.indent && a.colon === b.colon &&
    (a.newline !== "" || a.gap === b.gap);
}

/** Returns what stands before things at a depth: a new line with its indentation, or nothing. */
export function lineAt({ newline, indent }: JsonStyle, depth: number): string {
  return newline === "" ? "" : newline + indent.repeat(depth);
}

/** Returns what stands between things at a depth. */
export function separatorAt(style: JsonStyle, depth: number): string {
  return style.newline === "" ? `,${style.gap}` : `,${lineAt(style, depth)}`;
}

/** Returns a value written anew; `depth` is that of its first line. */
export function writeJson(value: JsonValue, style: JsonStyle, depth: number): string {
  if (value.kind === "scalar") return value.text;
  const inner = value.kind === "array"
    ? value.items.map((item) => writeJson(item, style, depth + 1))
    : membersOf(value, style, depth + 1);
  const [first, last] = value.kind === "array" ? ["[", "]"] : ["{", "}"];
  if (inner.length === 0) return `${first}${last}`;
  return first + lineAt(style, depth + 1) + inner.join(separatorAt(style, depth + 1)) + lineAt(style, depth) +
    last;
}

function membersOf({ members }: JsonObject, style: JsonStyle, depth: number): string[] {
  return [...members.values()].map(({ keyText, value }) =>
    keyText + style.colon + writeJson(value, style, depth)
  );
}
