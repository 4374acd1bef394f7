/**
 * How a write whose answer was lost is recognised.
 *
 * Each write gives the record a random version of 16 bytes, drawn before its first attempt and kept for the others, and notes
 * the version that it replaced. Versions never come back, so what a record says now tells what became of a write of version
 * `ours` that was to replace `expected`:
 *
 * ```
 * record's version = ours                  it landed
 * record's replaced version = ours         it landed, and one other write followed
 * record's replaced version = expected     another write took its place: it never landed, and never can
 * anything else                            it cannot be told
 * ```
 *
 * In the last case a compare-and-set is not called refused, since the caller would then do again what may be done: it fails
 * with `kv_unavailable`, and whoever reads again sees the truth.
 */

import { equalBytes } from "../base/bytes.ts";
import { CodedError } from "../base/errors.ts";
import type { Randomness } from "../base/randomness.ts";
import type { Predicate } from "./store.ts";

const VERSION_BYTES = 16;

/** What a record says of its writes. */
export interface RecordVersions {
  readonly version: Uint8Array;
  /** Of the write that it followed; `undefined` when it made the record. */
  readonly replaced: Uint8Array | undefined;
}

export type Verdict = "landed" | "refused" | "unknown";

/** Returns a version that no write has had. */
export function newVersion(randomness: Randomness): Uint8Array {
  return randomness.bytes(VERSION_BYTES);
}

/** Returns what became of a write whose answer was lost, by the record as it is now. */
export function verdictOf(
  now: RecordVersions | undefined,
  { ours, expected }: { ours: Uint8Array; expected?: Uint8Array },
): Verdict {
  if (!now) return "unknown";
  if (equalBytes(now.version, ours)) return "landed";
  if (!now.replaced) return "unknown";
  if (equalBytes(now.replaced, ours)) return "landed";
  return expected && equalBytes(now.replaced, expected) ? "refused" : "unknown";
}

/** Returns after a compare-and-set that landed; throws what the verdict on any other one is. */
export function settle(verdict: Verdict): void {
  if (verdict === "landed") return;
  if (verdict === "refused") throw predicateFailed();
  throw new CodedError(
    "unavailable",
    "kv_unavailable",
    "Cannot tell whether the value was stored: the answer was lost, and the key has changed since",
  );
}

/** A predicate of a driver that compares versions. */
export interface VersionPredicate extends Predicate {
  readonly kvPredicate: Uint8Array;
}

/** Returns the version that a predicate was read from. */
export function versionOf(predicate: Predicate | undefined): Uint8Array | undefined {
  return (predicate as VersionPredicate | undefined)?.kvPredicate;
}

/** Returns the error of a `setIf` that found something else. */
export function predicateFailed(): CodedError {
  return new CodedError("precondition", "predicate_failed", "Cannot store the value: the key has changed");
}
