/**
 * Holds what clients read against what was there while they read: each path must show something that it showed at some
 * moment between call and return.
 *
 * One thing more may be seen: a record that came too late for its token and is not acknowledged. Who writes it will write
 * it again, or die; whoever looked at the branch before the token was dropped may meet it there.
 */

import type { DiffItem, ListItem, ReflogItem } from "../../drivers/store.ts";
import { firstParents } from "./merging.ts";
import type { Model, Shown, StagedText, Version } from "./model.ts";
import { fail, type Operation } from "./operation.ts";

/** What a ref expression stood for while an operation ran. */
export interface Window {
  readonly shown: readonly Shown[];
  /** The branch, if it is one with its staged changes. */
  readonly branch?: string;
  readonly versions: readonly Version[];
  /** Whether at some moment there was nothing of that name. */
  readonly wasMissing: boolean;
}

export function windowOf(model: Model, ref: string, by: Operation): Window {
  if (model.commits.has(ref)) return { shown: [model.commit(ref).shown], versions: [], wasMissing: false };
  const isCommitted = ref.endsWith("@");
  const name = isCommitted ? ref.slice(0, -1) : ref;
  const versions = model.during(name, by.startedAt, model.step);
  const live = versions.filter(({ record }) => record !== undefined);
  const shown = live.map((version) => {
    const { branch, tagCommitId } = version.record!;
    return isCommitted ? model.commit(branch?.commitId ?? tagCommitId!).shown : version.shown;
  });
  const isBranch = !isCommitted && live.some(({ record }) => record!.branch);
  return {
    shown,
    versions,
    wasMissing: live.length < versions.length,
    ...(isBranch ? { branch: name } : {}),
  };
}

/** Checks what one path was read as; `undefined` stands for "not there". */
export function checkRead(
  model: Model,
  window: Window,
  { path, text, by }: { path: string; text: string | undefined; by: Operation },
): void {
  if (window.shown.some((shown) => shown.get(path) === text)) return;
  if (lateTexts(model, window, { path, by }).includes(text ?? null)) return;
  const possible = [...new Set(window.shown.map((shown) => shown.get(path)))];
  fail(`${by.id} reads "${path}" as ${text}, but it was ${possible.join(", or ")}`);
}

/** Whether a path may have been seen without an object, or with any. */
export function couldBeMissing(
  model: Model,
  window: Window,
  { path, by }: { path: string; by: Operation },
): boolean {
  return window.shown.some((shown) => !shown.has(path)) ||
    lateTexts(model, window, { path, by }).includes(null);
}

function lateTexts(
  model: Model,
  { branch }: Window,
  { path, by }: { path: string; by: Operation },
): readonly StagedText[] {
  if (branch === undefined) return [];
  return model.lateWrites.filter(({ token, path: own }) =>
    own === path && token.branch === branch && (token.droppedAt ?? Infinity) >= by.startedAt
  ).map(({ text }) => text);
}

export interface ListedPage {
  readonly prefix: string;
  readonly delimiter: string;
  readonly amount: number;
  readonly after?: string;
}

/** Checks a page of a listing; returns the last name on it if there may be more. */
export function checkListing(
  model: Model,
  window: Window,
  { items, page, by }: { items: readonly ListItem[]; page: ListedPage; by: Operation },
): string | undefined {
  const names = items.map((item) => item.kind === "object" ? item.stats.path : item.path);
  const after = page.after ?? "";
  if (names.some((name, i) => name <= (names[i - 1] ?? after))) fail(`${by.id} lists out of order: ${names}`);
  if (names.length > page.amount) fail(`${by.id} lists more than was asked for`);
  const last = names.length === page.amount ? names.at(-1) : undefined;
  for (const item of items) {
    if (item.kind === "object") {
      checkRead(model, window, { path: item.stats.path, text: textBySha(model, item.stats.sha256), by });
    } else if (!window.shown.some((shown) => [...shown.keys()].some((path) => path.startsWith(item.path)))) {
      const isLate = model.lateWrites.some(({ path }) => path.startsWith(item.path));
      if (!isLate) fail(`${by.id} lists "${item.path}", under which nothing was`);
    }
  }
  for (const path of new Set(window.shown.flatMap((shown) => [...shown.keys()]))) {
    const name = foldedName(path, page);
    if (name === undefined || name <= after || (last !== undefined && name > last)) continue;
    if (names.includes(name) || couldBeMissing(model, window, { path, by })) continue;
    fail(`${by.id} does not list "${path}", which was there all the time`);
  }
  return last;
}

function foldedName(path: string, { prefix, delimiter }: ListedPage): string | undefined {
  if (!path.startsWith(prefix)) return undefined;
  const at = delimiter === "" ? -1 : path.indexOf(delimiter, prefix.length);
  return at < 0 ? path : path.slice(0, at + delimiter.length);
}

export function textBySha(model: Model, sha256: string | undefined): string {
  return model.texts.get(sha256 ?? "") ?? fail("an object is shown that nobody wrote");
}

/** Whether what was staged at some moment is no change of the commit that the branch was at at some other moment. */
function isNoChange(model: Model, live: readonly Version[], path: string): boolean {
  const committed = live.map(({ record }) => model.commit(record!.branch!.commitId).shown.get(path) ?? null);
  return live.some(({ staged }) => committed.includes(staged.get(path) ?? null));
}

export function checkStatus(model: Model, window: Window, items: readonly DiffItem[], by: Operation): void {
  const listed = new Map(items.map((item) => [item.path, item]));
  const live = window.versions.filter(({ record }) => record);
  for (const { path, right } of items) {
    const text = right ? textBySha(model, right.sha256) : null;
    // The branch may have moved to a commit in which it was no change, without its token having been sealed.
    if (live.some(({ staged, shown }) => staged.get(path) === text || (shown.get(path) ?? null) === text)) {
      continue;
    }
    if (lateTexts(model, window, { path, by }).includes(text)) continue;
    fail(`${by.id} shows "${path}" as staged: ${text}, which it never was meanwhile`);
  }
  for (const path of new Set(live.flatMap(({ staged }) => [...staged.keys()]))) {
    if (listed.has(path) || live.some(({ staged }) => !staged.has(path))) continue;
    if (isNoChange(model, live, path)) continue;
    if (lateTexts(model, window, { path, by }).length > 0) continue;
    fail(`${by.id} does not show "${path}" as staged, which it was all the time`);
  }
}

/** A log is the first parents of a commit that the branch was at. */
export function checkLog(model: Model, window: Window, ids: readonly string[], by: Operation): void {
  const heads = window.versions.flatMap(({ record }) => record?.branch ? [record.branch.commitId] : []);
  if (heads.some((head) => firstParents(model, head).join() === ids.join())) return;
  fail(`${by.id} shows a history that the branch never had: ${ids.join()}`);
}

export function checkReflog(model: Model, ref: string, items: readonly ReflogItem[], by: Operation): void {
  const { moves } = model.ref(ref);
  const isPrefix = items.every(({ id }, i) => id === moves[i]?.id);
  const isLong = model.during(ref, by.startedAt, model.step).some((version) =>
    version.moves === items.length
  );
  if (isPrefix && isLong) return;
  fail(`${by.id} shows ${items.length} moves of "${ref}" that are not its ${moves.length}`);
}
