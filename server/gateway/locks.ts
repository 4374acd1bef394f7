/** Locks on objects: no bucket has them, and who asks for one is told so as S3 tells it of such a bucket. */

import { invalidArgument } from "./encoding.ts";
import { S3Error } from "./errors.ts";

const MODE = "x-amz-object-lock-mode";
const UNTIL = "x-amz-object-lock-retain-until-date";
const HOLD = "x-amz-object-lock-legal-hold";

/** Refuses a write that asks for a lock. Fails with `InvalidArgument`, `InvalidRequest`. */
export function checkLocks(headers: Headers, nowMs: number): void {
  const mode = headers.get(MODE), until = headers.get(UNTIL), hold = headers.get(HOLD);
  if (mode === null && until === null && hold === null) return;
  if (mode === null || until === null) {
    if (mode !== null || until !== null) {
      throw invalidArgument(mode === null ? MODE : UNTIL, "", `${UNTIL} and ${MODE} must both be supplied.`);
    }
  } else checkRetention(mode, until, nowMs);
  if (hold !== null && hold !== "ON" && hold !== "OFF") {
    throw invalidArgument(HOLD, hold, "Legal Hold must be either of 'ON' or 'OFF'");
  }
  throw new S3Error("InvalidRequest", "Bucket is missing ObjectLockConfiguration");
}

function checkRetention(mode: string, until: string, nowMs: number): void {
  if (mode !== "GOVERNANCE" && mode !== "COMPLIANCE") {
    throw invalidArgument(MODE, mode, "Unknown wormMode directive.");
  }
  const untilMs = Date.parse(until);
  if (Number.isNaN(untilMs)) {
    throw invalidArgument(UNTIL, until, "The retain until date must be provided in ISO 8601 format");
  }
  if (untilMs <= nowMs) throw invalidArgument(UNTIL, until, "The retain until date must be in the future!");
}

/** What is said to who asks for the lock of an object. */
export function noLocks(): S3Error {
  return new S3Error("InvalidRequest", "Bucket is missing Object Lock Configuration");
}
