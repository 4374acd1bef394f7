/**
 * JSON as text with a structure: values keep how they are written, so that a number of many digits, an escape or a space
 * that nobody changed stays as it is.
 */

const MAX_DEPTH = 500;

export interface JsonScalar {
  readonly kind: "scalar";
  readonly text: string;
  /** The text of equal strings is equal here, however they are escaped. */
  readonly value: string;
}

export interface JsonArray {
  readonly kind: "array";
  readonly text: string;
  readonly items: readonly JsonValue[];
}

export interface JsonObject {
  readonly kind: "object";
  readonly text: string;
  readonly members: ReadonlyMap<string, JsonMember>;
  readonly layout: ObjectLayout;
}

export type JsonValue = JsonScalar | JsonArray | JsonObject;

export interface JsonMember {
  /** The key as it is written, quotes included. */
  readonly keyText: string;
  /** The colon, with the space around it. */
  readonly colon: string;
  readonly value: JsonValue;
}

/** What stands between an object's members. */
export interface ObjectLayout {
  /** Between the brace and the first key. */
  readonly open: string;
  /** Between a member and the next one, the comma included. */
  readonly separators: readonly string[];
  /** Between the last member and the brace. */
  readonly close: string;
}

export interface JsonDocument {
  readonly before: string;
  readonly value: JsonValue;
  readonly after: string;
}

/** Returns the document of a text; `undefined` for what is no JSON, repeats a key, or is nested too deeply. */
export function parseJsonText(text: string): JsonDocument | undefined {
  try {
    return new Parser(text).document();
  } catch (error) {
    if (error instanceof NotJson) return undefined;
    throw error;
  }
}

/** Returns whether two values are the same, whatever the order of keys and the space between things. */
export function sameJson(a: JsonValue, b: JsonValue): boolean {
  if (a.text === b.text) return true;
  if (a.kind === "scalar") return b.kind === "scalar" && a.value === b.value;
  if (a.kind === "array") {
    return b.kind === "array" && a.items.length === b.items.length &&
      a.items.every((item, i) => sameJson(item, b.items[i]!));
  }
  if (b.kind !== "object" || a.members.size !== b.members.size) return false;
  for (const [key, { value }] of a.members) {
    const other = b.members.get(key);
    if (!other || !sameJson(value, other.value)) return false;
  }
  return true;
}

class NotJson extends Error {
  override name = "NotJson";
}

const SPACE = /[ \t\r\n]*/y;
const STRING = /"[^"\\\x00-\x1f]*(?:\\["\\/bfnrtu][^"\\\x00-\x1f]*)*"/y;
const WORD = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?|true|false|null/y;

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  document(): JsonDocument {
    const mark = this.#text.startsWith("\ufeff") ? "\ufeff" : "";
    this.#at = mark.length;
    const before = mark + this.#space();
    const value = this.#value(0);
    const after = this.#space();
    if (this.#at !== this.#text.length) throw new NotJson();
    return { before, value, after };
  }

  #value(depth: number): JsonValue {
    if (depth > MAX_DEPTH) throw new NotJson();
    const first = this.#text[this.#at];
    if (first === "{") return this.#object(depth);
    if (first === "[") return this.#array(depth);
    const text = first === '"' ? this.#string() : this.#take(WORD);
    return { kind: "scalar", text, value: first === '"' ? JSON.stringify(unquoted(text)) : text };
  }

  #array(depth: number): JsonArray {
    const start = this.#at++;
    const items: JsonValue[] = [];
    this.#space();
    while (!this.#skip("]")) {
      if (items.length > 0) this.#expect(",");
      this.#space();
      items.push(this.#value(depth + 1));
      this.#space();
    }
    return { kind: "array", text: this.#text.slice(start, this.#at), items };
  }

  #object(depth: number): JsonObject {
    const start = this.#at++;
    const members = new Map<string, JsonMember>();
    const separators: string[] = [];
    const open = this.#space();
    let close = "";
    while (!this.#skip("}")) {
      if (members.size > 0) {
        this.#expect(",");
        separators.push(`${close},${this.#space()}`);
      }
      const keyText = this.#string();
      const key = unquoted(keyText);
      if (members.has(key)) throw new NotJson();
      const colon = this.#colon();
      members.set(key, { keyText, colon, value: this.#value(depth + 1) });
      close = this.#space();
    }
    return {
      kind: "object",
      text: this.#text.slice(start, this.#at),
      members,
      layout: { open, separators, close },
    };
  }

  #colon(): string {
    const start = this.#at;
    this.#space();
    this.#expect(":");
    this.#space();
    return this.#text.slice(start, this.#at);
  }

  #string(): string {
    const text = this.#take(STRING);
    // `\u` and its digits are looked at here.
    unquoted(text);
    return text;
  }

  #space(): string {
    return this.#take(SPACE);
  }

  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const match = pattern.exec(this.#text);
    if (!match) throw new NotJson();
    this.#at += match[0].length;
    return match[0];
  }

  #skip(character: string): boolean {
    if (this.#text[this.#at] !== character) return false;
    this.#at++;
    return true;
  }

  #expect(character: string): void {
    if (!this.#skip(character)) throw new NotJson();
  }
}

function unquoted(text: string): string {
  try {
    return JSON.parse(text) as string;
  } catch {
    throw new NotJson();
  }
}
