/** Text that cannot move the cursor, change colours, or reorder what is around it. */

// Control characters, line and paragraph separators, marks and overrides of writing direction.
const UNSAFE = /[\u0000-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/g;

const SHORT: Readonly<Record<string, string>> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

/** Returns the text with every character that could disturb a terminal shown as an escape. */
export function escapeForTerminal(text: string): string {
  return text.replace(UNSAFE, escaped);
}

/** Returns bytes that should be UTF-8 for showing: what is not is escaped byte by byte. */
export function escapeBytes(bytes: Uint8Array): string {
  let out = "";
  for (let at = 0; at < bytes.length;) {
    const length = sequenceLength(bytes, at);
    if (length === 0) {
      out += `\\x${bytes[at]!.toString(16).padStart(2, "0")}`;
      at++;
    } else {
      out += new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes.subarray(at, at + length));
      at += length;
    }
  }
  return escapeForTerminal(out);
}

function escaped(character: string): string {
  const short = SHORT[character];
  if (short !== undefined) return short;
  const code = character.charCodeAt(0);
  return code < 0x100 ? `\\x${code.toString(16).padStart(2, "0")}` : `\\u{${code.toString(16)}}`;
}

/** Returns the length of the valid UTF-8 sequence at `at`, or 0. */
function sequenceLength(bytes: Uint8Array, at: number): number {
  const first = bytes[at]!;
  const length = first < 0x80
    ? 1
    : first < 0xc2
    ? 0
    : first < 0xe0
    ? 2
    : first < 0xf0
    ? 3
    : first < 0xf5
    ? 4
    : 0;
  if (length === 0 || at + length > bytes.length) return 0;
  try {
    new TextDecoder("utf-8", { fatal: true }).decode(bytes.subarray(at, at + length));
    return length;
  } catch {
    return 0;
  }
}
