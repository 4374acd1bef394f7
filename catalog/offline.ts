/** What `--offline` forbids. */

import { CodedError } from "../base/errors.ts";

/** Returns the error for what only the network could do; `action` is such as `change "s3://b/x"`. */
export function offline(action: string, why: string): CodedError {
  return new CodedError("unavailable", "offline", `Cannot ${action} in offline mode: ${why}`);
}
