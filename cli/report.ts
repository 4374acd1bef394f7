/** How an error is shown: one line that says what failed and why, one with the way out; or one JSON object. */

import { CodedError, type ErrorDetails } from "../base/errors.ts";
import type { MergeConflict } from "../drivers/store.ts";
import { hintFor } from "./hints.ts";
import { conflictJson } from "./render/conflicts.ts";
import { escapeForTerminal } from "./render/escape.ts";
import { wrapped } from "./render/wrap.ts";

/** A person is shown the first conflicts; there are commands to see them all. */
const CONFLICTS_ON_TERMINAL = 20;

const NAME = "tarn:";

/** Returns what goes to standard error for an error that ends the program; `columns` are those of a terminal, and `verb` the one that failed. */
export function describeError(
  error: unknown,
  form: {
    json: boolean;
    debug: boolean;
    color?: boolean;
    terminal?: boolean;
    columns?: number;
    verb?: string;
  },
): string {
  const coded = asCoded(error);
  const hint = hintFor(coded, form.verb);
  if (form.json) {
    const details = Object.keys(coded.details).length > 0 ? { details: detailsJson(coded.details) } : {};
    const stack = form.debug ? { stack: stackOf(error) } : {};
    const { kind, code, message } = coded;
    return `${JSON.stringify({ kind, code, message, hint: hint ?? "", ...details, ...stack })}\n`;
  }
  const columns = form.columns ?? Infinity;
  const lines = wrapped(`${NAME} ${escapeForTerminal(coded.message)}`, columns, " ".repeat(NAME.length + 1));
  if (form.color) lines[0] = lines[0]!.replace(NAME, `\x1b[31m${NAME}\x1b[0m`);
  if (hint !== undefined) lines.push(...wrapped(`  ${escapeForTerminal(hint)}`, columns, "  "));
  lines.push(...conflictLines(coded, form.terminal ? CONFLICTS_ON_TERMINAL : Infinity));
  if (form.debug) lines.push(stackOf(error));
  return `${lines.join("\n")}\n`;
}

/** What is no {@link CodedError} is a bug, or a failure of the system that nobody translated. */
function asCoded(error: unknown): CodedError {
  if (error instanceof CodedError) return error;
  const text = error instanceof Error ? error.message : String(error);
  return new CodedError("internal", "internal", `Unexpected failure: ${text.split("\n")[0]}`, {
    cause: error,
  });
}

/** Details as they are, but for the sides of conflicts, which are objects in the words of the lakeFS API. */
function detailsJson(details: ErrorDetails): ErrorDetails {
  const { conflicts } = details as { conflicts?: readonly MergeConflict[] };
  if (!Array.isArray(conflicts)) return details;
  return { ...details, conflicts: (conflicts as readonly MergeConflict[]).map(conflictJson) };
}

/** The paths of a merge's conflicts, as far as the error names them. */
function conflictLines(error: CodedError, most: number): string[] {
  const { conflicts, count } = error.details as { conflicts?: readonly MergeConflict[]; count?: number };
  if (!Array.isArray(conflicts)) return [];
  const lines = (conflicts as readonly MergeConflict[]).slice(0, most).map(({ path }) =>
    `  conflict: ${escapeForTerminal(path)}`
  );
  if (count !== undefined && count > lines.length) lines.push(`  and ${count - lines.length} more`);
  return lines;
}

function stackOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const own = error.stack ?? `${error.name}: ${error.message}`;
  return error.cause === undefined ? own : `${own}\nCaused by: ${stackOf(error.cause)}`;
}
