/** What work on many objects would do, shown and not done. */

import * as fs from "node:fs";
import { hex } from "../../base/bytes.ts";
import type { AlikeNames } from "../../base/placement.ts";
import type { Context } from "../context.ts";
import { EXIT_OK, EXIT_PARTIAL } from "../exit_codes.ts";
import { objectUri } from "../locations.ts";
import type { ListForm, Output } from "../output.ts";
import { counted, humanSize } from "../render/sizes.ts";
import { Failures } from "./failures.ts";
import { contentHash, localError, openRegular } from "./local_files.ts";
import { AlikeNotes } from "./alike_names.ts";
import { openIndex } from "./put_folder.ts";
import { baseVersion, couldBe, type FileToRead, type FolderToPut, planPut } from "./put_plan.ts";
import type { LeftOut } from "./walk.ts";

/** One thing that would be done to a path, or not. */
export interface PlannedAction {
  readonly action: "put" | "get" | "copy" | "move" | "remove" | "unchanged" | "ignored" | "left_out";
  /** A path below the folder or prefix that is worked on, or a key. */
  readonly path: string;
  /** Where it would go: a URI or a local path. */
  readonly to?: string;
  readonly sizeBytes?: number;
}

/** Returns the form of a plan: `ACTION\\tPATH\\tTO` where nobody reads along. */
function plannedForm(output: Output): ListForm<PlannedAction> {
  return {
    json: ({ action, path, to, sizeBytes }) => ({ action, path, to, size_bytes: sizeBytes }),
    line: ({ action, path, to }) => {
      const parts = [output.terminal ? action.padEnd(9) : action, output.shown(path)];
      if (to !== undefined) parts.push(output.terminal ? `-> ${output.shown(to)}` : to);
      return parts.join(output.terminal ? " " : "\t");
    },
  };
}

/** Shows a plan as it is made, then what it comes to; returns how many actions there are. */
export async function showPlan(
  { output, messages }: Context,
  plan: AsyncIterable<readonly PlannedAction[]>,
): Promise<number> {
  const counts = new Map<string, number>();
  let bytes = 0;
  async function* counting(): AsyncGenerator<readonly PlannedAction[]> {
    for await (const page of plan) {
      for (const { action, sizeBytes = 0 } of page) {
        counts.set(action, (counts.get(action) ?? 0) + 1);
        if (action !== "unchanged") bytes += sizeBytes;
      }
      yield page;
    }
  }
  const count = await output.list(counting(), plannedForm(output));
  await output.drain();
  const parts = [...counts].map(([action, number]) =>
    `${counted(number, "path")} ${SUMMARY[action] ?? action}`
  );
  messages.note(`Dry run, nothing was changed: ${parts.join(", ") || "nothing to do"} (${humanSize(bytes)})`);
  return count;
}

const SUMMARY: Readonly<Record<string, string>> = {
  put: "to put",
  get: "to get",
  copy: "to copy",
  move: "to move",
  remove: "to remove",
  left_out: "left out",
};

/** Shows what a put of a folder would do; `action` is what it does with a file beside putting it. */
export async function showPut(
  context: Context,
  what: FolderToPut,
  action: "put" | "move" = "put",
): Promise<number> {
  const failures = new Failures(context.messages, action);
  await showPlan(context, plannedPut(context, what, { failures, action }));
  return failures.count > 0 ? EXIT_PARTIAL : EXIT_OK;
}

const PAGE = 256;

async function* plannedPut(
  context: Context,
  what: FolderToPut,
  { failures, action }: { failures: Failures; action: "put" | "move" },
): AsyncGenerator<readonly PlannedAction[]> {
  const index = await openIndex(context, what);
  let page: PlannedAction[] = [];
  const alike = new AlikeNotes();
  const events = {
    alike: (names: AlikeNames) => alike.add(names),
    unchanged: ({ key, state }: { key: string; state?: { size: number } }) =>
      void page.push(...sameFile({ action, key, size: state?.size ?? 0 })),
    ignored: (key: string) => void page.push({ action: "ignored", path: key }),
    leftOut: ({ shown, code, why }: LeftOut) => {
      failures.leaveOut(shown, code, why);
      page.push({ action: "left_out", path: shown });
    },
  };
  try {
    const base = await baseVersion(what);
    for await (const item of planPut(what, { index, base, events })) {
      page.push(...await plannedFile(what, item, { failures, action }));
      if (page.length >= PAGE) {
        yield page;
        page = [];
      }
    }
  } finally {
    index.discard();
  }
  yield page;
  alike.tell(context.messages);
}

/** A move takes away also those files whose content is there already. */
function sameFile(
  { action, key, size }: { action: "put" | "move"; key: string; size: number },
): readonly PlannedAction[] {
  return [{ action: action === "put" ? "unchanged" : action, path: key, sizeBytes: size }];
}

async function plannedFile(
  { repository, branch, prefix, options }: FolderToPut,
  { file, existing }: FileToRead,
  { failures, action }: { failures: Failures; action: "put" | "move" },
): Promise<readonly PlannedAction[]> {
  try {
    const open = openRegular(file.path);
    try {
      const { size } = open.stat;
      if (couldBe(existing, size, options) && existing!.sha256 === hex(await contentHash(open))) {
        return sameFile({ action, key: file.key, size });
      }
      const to = objectUri(repository, branch, prefix + file.key);
      return [{ action, path: file.key, to, sizeBytes: size }];
    } finally {
      fs.closeSync(open.descriptor);
    }
  } catch (error) {
    failures.take(file.key, localError(error, `Cannot read "${file.path}"`));
    return [{ action: "left_out", path: file.key }];
  }
}
