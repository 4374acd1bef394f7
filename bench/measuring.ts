/** Running programs for their time and memory, and putting several figures side by side. */

import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** Where a bench keeps its files, and how often it repeats what it measures. */
export interface Bench {
  /** An empty folder of its own; nothing in it is deleted before the end, since that slows the disk for a while. */
  readonly folder: string;
  readonly tarn: string;
  readonly rounds: number;
  readonly files: number;
  readonly entries: number;
  readonly records: number;
  /** Median seconds of one fdatasync, and bytes a second of writing and flushing a large file. */
  readonly flushSeconds: number;
  readonly writeRate: number;
  /** A folder that no other call has given. */
  fresh(name: string): string;
}

export interface Run {
  readonly seconds: number;
  /** The most memory it had at once; absent where it cannot be told. */
  readonly peakBytes: number | undefined;
  readonly output: string;
}

export interface RunOptions {
  readonly folder?: string;
  readonly environment?: Readonly<Record<string, string>>;
  /** Asks `/usr/bin/time` for the memory, which costs a millisecond. */
  readonly memory?: boolean;
}

const TIME = "/usr/bin/time";

export const canTellMemory = existsSync(TIME);

/** Runs a program that must succeed. */
export function run(command: readonly string[], options: RunOptions = {}): Run {
  const report = join(options.folder ?? process.cwd(), `.time-${process.pid}`);
  const asks = options.memory === true && canTellMemory;
  const [program, ...args] = asks ? [TIME, "-v", "-o", report, ...command] : command;
  const start = performance.now();
  const { status, stdout, stderr, error } = spawnSync(program!, args, {
    cwd: options.folder,
    // As a user's environment has them: without a home folder the system's list of users is asked.
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"], ...options.environment },
    encoding: "utf8",
    maxBuffer: 1024 ** 3,
  });
  const seconds = (performance.now() - start) / 1000;
  if (error || status !== 0) throw new Error(`${command.join(" ")}: ${error ?? `exit ${status}\n${stderr}`}`);
  const peak = asks ? /Maximum resident set size \(kbytes\): (\d+)/.exec(readFileSync(report, "utf8")) : null;
  return { seconds, peakBytes: peak ? Number(peak[1]) * 1024 : undefined, output: stdout };
}

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** Runs each piece of work in turn, A B A B, `rounds` times, so that all see the same weather; returns the medians. */
export function interleaved<Name extends string>(
  rounds: number,
  works: Readonly<Record<Name, (round: number) => number>>,
): Record<Name, number> {
  const names = Object.keys(works) as Name[];
  const seen = new Map<Name, number[]>(names.map((name) => [name, []]));
  for (let round = 0; round < rounds; round++) {
    for (const name of names) seen.get(name)!.push(works[name](round));
  }
  return Object.fromEntries(names.map((name) => [name, median(seen.get(name)!)])) as Record<Name, number>;
}

/** Fails unless what two programs answered is the same. */
export function same(what: string, ours: unknown, theirs: unknown): void {
  const [a, b] = [JSON.stringify(ours), JSON.stringify(theirs)];
  if (a !== b) throw new Error(`${what}: the answers differ: ${a?.slice(0, 300)} and ${b?.slice(0, 300)}`);
}

/** Lets the disk come to rest. */
export function settle(seconds = 1): void {
  spawnSync("sync");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, seconds * 1000);
}
