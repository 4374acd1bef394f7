/**
 * Glob patterns of paths, as git reads them.
 *
 * `*` and `?` match anything but `/`, `[a-z]` and `[!a-z]` one of some characters, `\` takes the next one as it is. `**`
 * between slashes or at an end matches any number of folders, none included; anywhere else it is a `*`. Case counts.
 */

/** What a class such as `[[:digit:]]` stands for. */
const CLASSES: Readonly<Record<string, string>> = {
  alnum: "A-Za-z0-9",
  alpha: "A-Za-z",
  blank: " \\t",
  cntrl: "\\x00-\\x1f\\x7f",
  digit: "0-9",
  graph: "\\x21-\\x7e",
  lower: "a-z",
  print: "\\x20-\\x7e",
  punct: "!-\\/:-@\\[-`{-~",
  space: "\\s",
  upper: "A-Z",
  xdigit: "0-9A-Fa-f",
};

/** Returns the expression that matches what a pattern does; `undefined` for one that can match nothing, such as `[a`. */
export function globExpression(glob: string): RegExp | undefined {
  let source = "";
  for (let at = 0; at < glob.length;) {
    const piece = nextPiece(glob, at);
    if (!piece) return undefined;
    source += piece.source;
    at = piece.end;
  }
  try {
    return new RegExp(`^(?:${source})$`, "su");
  } catch {
    return undefined;
  }
}

interface Piece {
  readonly source: string;
  /** Where the next piece begins. */
  readonly end: number;
}

function nextPiece(glob: string, at: number): Piece | undefined {
  const character = String.fromCodePoint(glob.codePointAt(at)!);
  switch (character) {
    case "*":
      return starsPiece(glob, at);
    case "?":
      return { source: "[^/]", end: at + 1 };
    case "[":
      return classPiece(glob, at);
    case "\\": {
      if (at + 1 === glob.length) return undefined;
      const taken = String.fromCodePoint(glob.codePointAt(at + 1)!);
      return { source: literal(taken), end: at + 1 + taken.length };
    }
    default:
      return { source: literal(character), end: at + character.length };
  }
}

function starsPiece(glob: string, at: number): Piece {
  let end = at;
  while (glob[end] === "*") end++;
  const isWhole = (at === 0 || glob[at - 1] === "/") && (end === glob.length || glob[end] === "/");
  if (end - at < 2 || !isWhole) return { source: "[^/]*", end };
  // With the slash behind it, so that it can match no folder at all.
  return end === glob.length ? { source: ".*", end } : { source: "(?:.*/)?", end: end + 1 };
}

function classPiece(glob: string, at: number): Piece | undefined {
  let next = at + 1;
  const isNegated = glob[next] === "!" || glob[next] === "^";
  if (isNegated) next++;
  let body = "";
  for (let isFirst = true;; isFirst = false) {
    if (next >= glob.length) return undefined;
    if (glob[next] === "]" && !isFirst) break;
    const named = /^\[:([a-z]+):\]/.exec(glob.slice(next, next + 12));
    if (named) {
      const members = CLASSES[named[1]!];
      if (members === undefined) return undefined;
      body += members;
      next += named[0].length;
      continue;
    }
    const low = classMember(glob, next);
    if (!low) return undefined;
    next = low.end;
    const isRange = glob[next] === "-" && next + 1 < glob.length && glob[next + 1] !== "]";
    const high = isRange ? classMember(glob, next + 1) : low;
    if (!high) return undefined;
    next = high.end;
    // A range that runs backwards holds nothing.
    if (low.source.codePointAt(0)! <= high.source.codePointAt(0)!) {
      body += `${memberLiteral(low.source)}-${memberLiteral(high.source)}`;
    }
  }
  const end = next + 1;
  if (isNegated) return { source: `[^/${body}]`, end };
  return { source: body === "" ? "(?!)" : `(?!/)[${body}]`, end };
}

/** Reads one character of a class; its `source` is the character itself. */
function classMember(glob: string, at: number): Piece | undefined {
  const start = glob[at] === "\\" ? at + 1 : at;
  const code = glob.codePointAt(start);
  if (code === undefined) return undefined;
  const source = String.fromCodePoint(code);
  return { source, end: start + source.length };
}

function literal(character: string): string {
  return /[\\^$.*+?()[\]{}|/]/.test(character) ? `\\${character}` : character;
}

function memberLiteral(character: string): string {
  return `\\u{${character.codePointAt(0)!.toString(16)}}`;
}
