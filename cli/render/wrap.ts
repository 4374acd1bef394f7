/** Lines for a terminal that end between words: it would break them within. */

import { displayWidth } from "./width.ts";

/** Returns the lines of a text; those after the first begin with `indent`. A word that is wider stays whole. */
export function wrapped(text: string, width: number, indent = ""): string[] {
  return wrappedWords(text.split(" "), width, { indent });
}

/** Returns the lines of a command, each but the last with a backslash at its end: a shell takes them as one. */
export function wrappedCommand(command: string, width: number, indent: string): string[] {
  const words = command.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return wrappedWords(words, width, { indent, end: " \\" });
}

function wrappedWords(
  words: readonly string[],
  width: number,
  { indent, end = "" }: { indent: string; end?: string },
): string[] {
  const lines: string[] = [];
  let line = words[0] ?? "";
  for (const [index, word] of words.entries()) {
    if (index === 0) continue;
    const longer = `${line} ${word}`;
    const room = index === words.length - 1 ? width : width - end.length;
    if (line.trim() === "" || displayWidth(longer) <= room) line = longer;
    else {
      lines.push(line + end);
      line = indent + word;
    }
  }
  return [...lines, line];
}
