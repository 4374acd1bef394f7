/** What goes wrong with hooks. */

import { CodedError } from "../../base/errors.ts";

/** Returns the error for a hook that cannot be used, or did not answer as its spot answers: the call does not happen. */
export function hookFailed(hook: string, why: string, cause?: unknown): CodedError {
  return new CodedError("unavailable", "hook_failed", `Cannot go on: the hook "${hook}" ${why}`, {
    details: { hook },
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Returns the error for what a hook does not allow. */
export function hookRefused(
  hook: string,
  uri: string | undefined,
  why: string,
  cause?: unknown,
): CodedError {
  const what = uri === undefined ? "go on" : `use "${uri}"`;
  return new CodedError("forbidden", "hook_refused", `Cannot ${what}: ${why}`, {
    details: { hook, ...(uri === undefined ? {} : { uri }) },
    ...(cause === undefined ? {} : { cause }),
  });
}
