/** The table that a run prints. */

export interface Row {
  readonly figure: string;
  readonly seconds: number;
  readonly peer: string;
  readonly peerSeconds: number;
  /** The greatest ratio that is wanted. */
  readonly goal?: number;
  readonly peakBytes?: number;
}

/** What could not be measured, and why. */
export interface Skipped {
  readonly figure: string;
  readonly why: string;
}

/** Returns the table as lines of Markdown. */
export function tableOf(rows: readonly (Row | Skipped)[]): string[] {
  return [
    "| figure | tarn | peer | peer's | ratio | goal | peak memory |",
    "| --- | ---: | --- | ---: | ---: | ---: | ---: |",
    ...rows.map((row) => "why" in row ? skippedLine(row) : lineOf(row)),
  ];
}

function lineOf({ figure, seconds, peer, peerSeconds, goal, peakBytes }: Row): string {
  const ratio = seconds / peerSeconds;
  const wanted = goal === undefined ? "" : `≤ ${goal}${ratio > goal ? " missed" : ""}`;
  const memory = peakBytes === undefined ? "" : `${Math.round(peakBytes / 1e6)} MB`;
  const cells = [figure, duration(seconds), peer, duration(peerSeconds), ratio.toFixed(2), wanted, memory];
  return `| ${cells.join(" | ")} |`;
}

function skippedLine({ figure, why }: Skipped): string {
  return `| ${figure} | skipped: ${why} | | | | | |`;
}

/** Returns a time with three digits that mean something. */
export function duration(seconds: number): string {
  if (seconds >= 1) return `${seconds.toFixed(2)} s`;
  if (seconds >= 0.001) return `${(seconds * 1000).toFixed(1)} ms`;
  return `${(seconds * 1e6).toFixed(0)} µs`;
}
