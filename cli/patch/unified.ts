/** A unified diff of two texts: the changed lines with some around them, as `patch` and `git apply` read it. */

import { diffLines } from "./line_diff.ts";

const CONTEXT_LINES = 3;

/** `@` is the head of a hunk, `\` says that the line before it has no end. */
export interface PatchLine {
  readonly mark: "@" | " " | "-" | "+" | "\\";
  readonly text: string;
}

/** Returns the hunks of a diff, line by line; nothing when the texts are equal. */
export function unifiedDiff(older: string, newer: string): PatchLine[] {
  const left = linesOf(older), right = linesOf(newer);
  const edits = editsOf(left, right);
  const lines: PatchLine[] = [];
  for (let at = 0; at < edits.length;) {
    // Changes whose context would touch are shown together.
    let end = at + 1;
    while (end < edits.length && edits[end]!.left - edits[end - 1]!.leftEnd <= 2 * CONTEXT_LINES) end++;
    addHunk(lines, { left, right, edits: edits.slice(at, end) });
    at = end;
  }
  return lines;
}

/** A stretch of lines of one text, ends excluded, that stands in place of one of the other. */
interface Edit {
  readonly left: number;
  readonly leftEnd: number;
  readonly right: number;
  readonly rightEnd: number;
}

/** Returns the lines with their ends; the last one may have none. */
function linesOf(text: string): string[] {
  return text === "" ? [] : text.match(/[^\n]*\n|[^\n]+$/g)!;
}

function editsOf(left: readonly string[], right: readonly string[]): Edit[] {
  const { removed, added } = diffLines(left, right);
  const edits: Edit[] = [];
  let a = 0, b = 0;
  while (a < left.length || b < right.length) {
    const edit = { left: a, right: b };
    while (removed[a] === 1) a++;
    while (added[b] === 1) b++;
    if (a > edit.left || b > edit.right) edits.push({ ...edit, leftEnd: a, rightEnd: b });
    else {
      a++;
      b++;
    }
  }
  return edits;
}

function addHunk(
  lines: PatchLine[],
  { left, right, edits }: { left: readonly string[]; right: readonly string[]; edits: readonly Edit[] },
): void {
  const first = edits[0]!, last = edits.at(-1)!;
  const before = Math.min(CONTEXT_LINES, first.left);
  const end = Math.min(left.length, last.leftEnd + CONTEXT_LINES);
  const leftCount = end - (first.left - before);
  const rightCount = last.rightEnd + (end - last.leftEnd) - (first.right - before);
  const ranges = `-${rangeText(first.left - before, leftCount)} +${
    rangeText(first.right - before, rightCount)
  }`;
  lines.push({ mark: "@", text: `@@ ${ranges} @@` });
  let at = first.left - before;
  for (const edit of edits) {
    addLines(lines, " ", left.slice(at, edit.left));
    addLines(lines, "-", left.slice(edit.left, edit.leftEnd));
    addLines(lines, "+", right.slice(edit.right, edit.rightEnd));
    at = edit.leftEnd;
  }
  addLines(lines, " ", left.slice(at, end));
}

/** Lines count from 1; an empty stretch names the line before it. */
function rangeText(start: number, count: number): string {
  return count === 1 ? String(start + 1) : `${count === 0 ? start : start + 1},${count}`;
}

function addLines(lines: PatchLine[], mark: " " | "-" | "+", texts: readonly string[]): void {
  for (const text of texts) {
    const hasEnd = text.endsWith("\n");
    lines.push({ mark, text: mark + (hasEnd ? text.slice(0, -1) : text) });
    if (!hasEnd) lines.push({ mark: "\\", text: "\\ No newline at end of file" });
  }
}
