/** What goes wrong with hooks. */

import { CodedError } from "../../base/errors.ts";
import type { HookRequest, Spot } from "./spots.ts";

/** Returns the error for a hook that cannot be used, or did not answer as its spot answers: the call does not happen. */
export function hookFailed(hook: string, why: string, cause?: unknown): CodedError {
  return new CodedError("unavailable", "hook_failed", `Cannot go on: the hook "${hook}" ${why}`, {
    details: { hook, why: `the hook "${hook}" ${why}` },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** What a call of each spot does with its URI. */
const ACTIONS: Readonly<Record<Spot, string>> = {
  session: "use",
  resolve: "resolve",
  pin: "pin",
  stat: "look at",
  list: "list",
  fetch: "fetch",
  put: "put",
  delete: "delete",
  commit: "commit",
  branch: "make branch",
  merge: "merge into",
  snapshot: "take a snapshot of",
  open: "open",
  read_block: "read",
  close: "close",
};

/** What a call of each spot that changes something has done with its URI. */
const DONE: Readonly<Partial<Record<Spot, string>>> = {
  put: "written",
  delete: "deleted",
  commit: "committed",
  branch: "made",
  merge: "merged into",
};

/** Returns the error for a hook that failed, or refused, when what it was asked about was done: nobody is to do it again. */
export function failedAfter(error: CodedError, { spot, uri, phase }: HookRequest): CodedError {
  const { kind, code, details, cause } = error;
  const why = details["why"] ?? error.message;
  if (spot === "session" && phase === "end") {
    return new CodedError(kind, code, `Cannot end the session: ${why}`, {
      details: { ...details, is_session_end: true },
      cause,
    });
  }
  const done = DONE[spot];
  if (done === undefined) return error;
  return new CodedError(kind, code, `Cannot go on after "${uri}" was ${done}: ${why}`, {
    details: { ...details, uri, is_done: true },
    cause,
  });
}

/** Returns the error for what a hook does not allow. */
export function hookRefused(
  hook: string,
  { spot, uri }: Pick<HookRequest, "spot" | "uri">,
  why: string,
  cause?: unknown,
): CodedError {
  const what = uri === undefined ? "go on" : `${ACTIONS[spot]} "${uri}"`;
  return new CodedError("forbidden", "hook_refused", `Cannot ${what}: ${why}`, {
    details: { hook, why, ...(uri === undefined ? {} : { uri }) },
    ...(cause === undefined ? {} : { cause }),
  });
}
