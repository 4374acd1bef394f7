/** Showing what a merge would do. */

import type { ChangeType, MergePreviewItem } from "../../drivers/store.ts";
import { addChange, emptyTally, type Fold, type FoldedChanges, foldedPath } from "../folding.ts";
import type { ListForm, Output } from "../output.ts";
import { changeJson, countsText, foldedForm } from "../render/changes.ts";
import { conflictJson, conflictLine } from "../render/conflicts.ts";

type Summary = Record<ChangeType, number>;

/** Shows the changes of a merge, folded, and every conflict; returns how many conflicts there are. */
export async function showPreview(
  output: Output,
  pages: AsyncIterable<readonly MergePreviewItem[]>,
  fold: Fold,
): Promise<number> {
  const summary: Summary = { added: 0, removed: 0, changed: 0, conflict: 0 };
  const counted = counting(pages, summary);
  if (output.json === "document") await writeDocument(output, counted, summary);
  else if (output.json === "lines") {
    await output.list(counted, { json: itemJson, line: ({ path }) => path });
    output.document({ summary });
  } else {
    await output.list(foldAround(counted, fold), textForm(output));
    output.line(countsText(summary));
  }
  return summary.conflict;
}

async function* counting(
  pages: AsyncIterable<readonly MergePreviewItem[]>,
  summary: Summary,
): AsyncGenerator<readonly MergePreviewItem[]> {
  for await (const page of pages) {
    for (const { type } of page) summary[type]++;
    yield page;
  }
}

/** The summary comes last, since only then it is known: no list is held. */
async function writeDocument(
  output: Output,
  pages: AsyncIterable<readonly MergePreviewItem[]>,
  summary: Summary,
): Promise<void> {
  output.line('{\n  "conflicts": [');
  let before = "";
  for await (const page of pages) {
    for (const { conflict } of page) {
      if (!conflict) continue;
      if (before !== "") output.line(`${before},`);
      before = `    ${JSON.stringify(conflictJson(conflict))}`;
    }
    await output.makeRoom();
  }
  if (before !== "") output.line(before);
  output.line(`  ],\n  "summary": ${JSON.stringify(summary)}\n}`);
}

function itemJson(item: MergePreviewItem): Record<string, unknown> {
  return item.conflict ? { type: "conflict", ...conflictJson(item.conflict) } : changeJson(item);
}

function textForm(output: Output): ListForm<MergePreviewItem | FoldedChanges> {
  const form = foldedForm(output);
  return {
    json: (item) => form.json(item),
    line: (item) =>
      "conflict" in item && item.conflict ? conflictLine(output, item.conflict) : form.line(item),
  };
}

/** Yields changes folded and conflicts as they are: they come sorted, so one fold is open at a time. */
async function* foldAround(
  pages: AsyncIterable<readonly MergePreviewItem[]>,
  fold: Fold,
): AsyncGenerator<readonly (MergePreviewItem | FoldedChanges)[]> {
  let open: FoldedChanges | undefined;
  for await (const page of pages) {
    const out: (MergePreviewItem | FoldedChanges)[] = [];
    for (const item of page) {
      const path = foldedPath(item.path, fold);
      if (open && path !== open.path) {
        out.push(open);
        open = undefined;
      }
      if (item.conflict || path === undefined) out.push(item);
      else addChange(open ??= { path, ...emptyTally() }, item);
    }
    yield out;
  }
  if (open) yield [open];
}
