/** What goes wrong with hooks. */

import { CodedError } from "../../base/errors.ts";
import type { HookRequest, Spot } from "./spots.ts";

/** Returns the error for a hook that cannot be used, or did not answer as its spot answers: the call does not happen. */
export function hookFailed(hook: string, why: string, cause?: unknown): CodedError {
  return new CodedError("unavailable", "hook_failed", `Cannot go on: the hook "${hook}" ${why}`, {
    details: { hook },
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

/** Returns the error for what a hook does not allow. */
export function hookRefused(
  hook: string,
  { spot, uri }: Pick<HookRequest, "spot" | "uri">,
  why: string,
  cause?: unknown,
): CodedError {
  const what = uri === undefined ? "go on" : `${ACTIONS[spot]} "${uri}"`;
  return new CodedError("forbidden", "hook_refused", `Cannot ${what}: ${why}`, {
    details: { hook, ...(uri === undefined ? {} : { uri }) },
    ...(cause === undefined ? {} : { cause }),
  });
}
