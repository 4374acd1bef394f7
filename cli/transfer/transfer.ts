/** A copy or move, and how its outcome is shown. */

import { objectJson } from "../../drivers/store.ts";
import type { ObjectStats } from "../../drivers/store.ts";
import type { Context } from "../context.ts";
import { EXIT_OK, EXIT_PARTIAL } from "../exit_codes.ts";
import type { Failure, Failures } from "../folders/failures.ts";
import { counted, grouped, humanSize } from "../render/sizes.ts";

export interface Transfer {
  readonly kind: "copy" | "move";
  /** As the user wrote them. */
  readonly source: string;
  readonly destination: string;
  readonly isRecursive: boolean;
}

/** What became of many objects or files. */
export interface Transferred {
  readonly count: number;
  readonly unchanged?: number;
  readonly ignored?: number;
  readonly sizeBytes: number;
  readonly failed: number;
  readonly failures: readonly Failure[];
}

/** Adds the failures of taking sources away. */
export function withFailures(done: Transferred, ...more: readonly Failures[]): Transferred {
  return {
    ...done,
    failed: more.reduce((sum, { count }) => sum + count, done.failed),
    failures: [...done.failures, ...more.flatMap(({ kept }) => kept)],
  };
}

/** Shows what was done with one object. */
export function showObject({ output }: Context, stats: ObjectStats, place: string): number {
  output.result(objectJson(stats), output.shown(place));
  return EXIT_OK;
}

/** Shows what was done with many; `noun` is what they were. */
export function showMany(
  { output }: Context,
  kind: Transfer["kind"],
  done: Transferred & { noun: string },
): number {
  const { count, unchanged, ignored, sizeBytes, failed, failures, noun } = done;
  const [verb, field] = kind === "copy" ? ["Copied", "copied"] : ["Moved", "moved"];
  const parts = [`${verb} ${counted(count, noun)} (${humanSize(sizeBytes)})`];
  if (unchanged) parts.push(`${grouped(unchanged)} unchanged`);
  if (ignored) parts.push(`${grouped(ignored)} ignored`);
  if (failed > 0) parts.push(`${grouped(failed)} left out`);
  output.result(
    { [field!]: count, unchanged, ignored, failed, size_bytes: sizeBytes, failures },
    parts.join(", "),
  );
  return failed > 0 ? EXIT_PARTIAL : EXIT_OK;
}
