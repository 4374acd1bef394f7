/**
 * `${oc.env:NAME,default}` in texts: the value of a variable, or the default where the variable is not set.
 *
 * The rules are those of OmegaConf's resolver of that name:
 *
 * - A variable that is set counts, an empty one too. Without it and without a default there is no value.
 * - NAME and default may be in quotes, and may hold further `${…}`. Spaces around them do not count; none at all after the
 *   comma is the empty text, and a bare `null` is no value.
 * - Outside quotes `\` keeps `\ ( ) [ ] { } : = ,` and blanks from what else they would mean; in quotes `\` keeps the quote.
 * - `\${` stands for `${`. Before a quote that ends or a `${` that begins, backslashes count in pairs.
 * - What a variable holds is text, and not looked into again.
 */

/** What a text says that cannot be filled in; the key is named by whoever reads the text. */
export class InterpolationError extends Error {
  override readonly name = "InterpolationError";
  /** The variable that is not set and has no default. */
  readonly variable: string | undefined;

  constructor(why: string, variable?: string) {
    super(why);
    this.variable = variable;
  }
}

export type Lookup = (name: string) => string | undefined;

/** Returns whether a text has a `${` that is not escaped, well-formed or not. */
export function isInterpolated(text: string): boolean {
  return /(?<!\\)(?:\\\\)*\$\{/.test(text);
}

/** Returns a text with each `${…}` filled in: `null` where all of it is one without a value. Throws {@link InterpolationError}. */
export function interpolate(text: string, lookup: Lookup): string | null {
  if (!text.includes("${")) return text;
  return new Interpolation(text, lookup).whole();
}

/** What `\` keeps from its meaning outside quotes. */
const ESCAPABLE = new Set("\\()[]{}:=, \t");
/** What has a meaning in the grammar that nothing here needs. */
const RESERVED = new Set("()[]{}'\"");
const MOST_DEPTH = 32;

class Interpolation {
  readonly #text: string;
  readonly #lookup: Lookup;
  #at = 0;
  #depth = 0;

  constructor(text: string, lookup: Lookup) {
    this.#text = text;
    this.#lookup = lookup;
  }

  whole(): string | null {
    let value = "";
    while (this.#at < this.#text.length) {
      if (this.#isInterpolation()) {
        const filled = this.#resolver();
        if (filled === null && value === "" && this.#at === this.#text.length) return null;
        value += asPiece(filled);
      } else value += this.#literal();
    }
    return value;
  }

  /** Reads `${oc.env:…}`, and returns what it stands for. */
  #resolver(): string | null {
    if (++this.#depth > MOST_DEPTH) fail("its ${…} are nested too deeply");
    this.#at += 2;
    this.#skipBlanks();
    const name = /[^:}]*/.exec(this.#text.slice(this.#at))![0];
    this.#at += name.length;
    if (name.trim() !== "oc.env" || this.#text[this.#at] !== ":") {
      fail(`"\${${name}" is not known: only \${oc.env:NAME} and \${oc.env:NAME,default} are`);
    }
    this.#at++;
    const given = this.#arguments();
    this.#depth--;
    const [variable, fallback] = given;
    if (given.length > 2) fail("${oc.env:…} takes a name and one default; put a comma in quotes");
    if (variable === null || variable === undefined || variable === "" || /[\0=]/.test(variable)) {
      fail("${oc.env:…} names no variable");
    }
    const value = this.#lookup(variable);
    if (value !== undefined) return value;
    if (fallback !== undefined) return fallback;
    throw new InterpolationError(
      `it reads the variable "${variable}", which is not set, and gives no default`,
      variable,
    );
  }

  #arguments(): (string | null)[] {
    const given: (string | null)[] = [];
    for (;;) {
      this.#skipBlanks();
      const next = this.#text[this.#at];
      given.push(next === "'" || next === '"' ? this.#quoted(next) : this.#unquoted());
      this.#skipBlanks();
      const end = this.#text[this.#at++];
      if (end === "}") return given;
      if (end === undefined) fail("a ${ has no }");
      if (end !== ",") fail(`"${end}" has no place there; put the whole default in quotes`);
    }
  }

  #quoted(quote: string): string {
    let value = "";
    this.#at++;
    for (;;) {
      const char = this.#text[this.#at];
      if (char === undefined) fail(`a ${quote} has no end`);
      if (char === quote) {
        this.#at++;
        return value;
      }
      value += this.#isInterpolation() ? asPiece(this.#resolver()) : this.#literal(quote);
    }
  }

  #unquoted(): string | null {
    let value = "";
    // Blanks at the end do not count, but for those that are escaped or a variable's.
    let kept = 0;
    for (;;) {
      const char = this.#text[this.#at];
      const next = this.#text[this.#at + 1] ?? "";
      if (char === undefined || char === "," || char === "}") break;
      if (this.#isInterpolation()) {
        const filled = this.#resolver();
        if (filled === null && value === "" && /[,}]/.test(this.#text[this.#at] ?? "")) return null;
        kept = (value += asPiece(filled)).length;
      } else if (char === "\\" && (ESCAPABLE.has(next) || this.#text.startsWith("${", this.#at + 1))) {
        const escaped = ESCAPABLE.has(next) ? next : "${";
        kept = (value += escaped).length;
        this.#at += 1 + escaped.length;
      } else if (RESERVED.has(char)) fail(`"${char}" has no place there; put the whole default in quotes`);
      else {
        value += char;
        this.#at++;
      }
    }
    if (kept === 0 && /^null\s*$/i.test(value)) return null;
    return value.slice(0, kept) + value.slice(kept).trimEnd();
  }

  #isInterpolation(): boolean {
    return this.#text.startsWith("${", this.#at);
  }

  /** Reads what stands for itself: one character, or backslashes with the `${` or quote that an odd number makes text. */
  #literal(quote?: string): string {
    if (this.#text[this.#at] !== "\\") return this.#text[this.#at++]!;
    const from = this.#at;
    while (this.#text[this.#at] === "\\") this.#at++;
    const count = this.#at - from;
    const after = this.#isInterpolation() ? "${" : this.#text[this.#at] === quote ? quote : undefined;
    if (after === undefined) return "\\".repeat(count);
    const isEscaped = count % 2 === 1;
    if (isEscaped) this.#at += after.length;
    return "\\".repeat(Math.floor(count / 2)) + (isEscaped ? after : "");
  }

  #skipBlanks(): void {
    while (this.#text[this.#at] === " " || this.#text[this.#at] === "\t") this.#at++;
  }
}

function asPiece(value: string | null): string {
  if (value === null) fail("a default of null has no place inside a text");
  return value;
}

function fail(why: string): never {
  throw new InterpolationError(why);
}
