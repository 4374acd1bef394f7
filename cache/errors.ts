/** What goes wrong with a cache, in words that name what was asked for and no path of this machine. */

import { CodedError } from "../base/errors.ts";

/** Returns the error for what only the network could answer. */
export function notCached(action: string, what: string): CodedError {
  return new CodedError(
    "unavailable",
    "not_cached",
    `Cannot ${action} "${what}" in offline mode: it is not in the cache`,
    { details: { uri: what } },
  );
}

/** Returns the error for two keys of which one would be a file and the other a folder of the same name. */
export function cacheClash(what: string, why: string, cause?: unknown): CodedError {
  return new CodedError("conflict", "cache_clash", `Cannot fetch "${what}": ${why}`, {
    details: { uri: what },
    cause,
  });
}
