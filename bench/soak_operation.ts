/** An operation of the soak, and what each end of it means for what must be there. */

import type { Commands, Ended } from "./soak_process.ts";

/** A path and the MD5 sum of what is there now; `undefined` for nothing. */
export type Change = readonly [path: string, version: string | undefined];

export interface Operation {
  /** What it is counted under. */
  readonly name: string;
  readonly args: readonly string[];
  readonly stdin?: string;
  /** It was acknowledged. */
  done(ended: Ended): void | Promise<void>;
  /** It may be done or not: looks, and fails if it is neither. */
  doubt(): Promise<void>;
  /** It was refused; absent if it must not be. */
  refused?(ended: Ended): void | Promise<void>;
}

/** What the operations know of their worker. */
export interface Hands {
  readonly name: string;
  readonly commands: Commands;
  label(): string;
  object(folder: string): { change: Change; content: string };
  files(folder: string): { changes: Change[]; local: string };
}

/** Returns the ID of the commit that a command with `--json` made. */
export function madeCommit({ stdout }: Ended): string {
  const { id, reference } = JSON.parse(stdout) as { id?: string; reference?: string };
  return (id ?? reference)!;
}
