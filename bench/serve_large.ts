/** One object of 1 GB up to a server and down again, and what memory the server has before, meanwhile and after. */

import type { ChildProcess } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";

const SMALL_WORKS = ["stat", "get", "upload"];

/** Runs a work of the load program on the server; returns what it prints. */
export type RunLoad = (work: string, ...flags: string[]) => string;

/** Measures a server that has done nothing yet. */
export function measureLarge(process: ChildProcess, load: RunLoad): string[] {
  const idle = resident(process);
  const small = SMALL_WORKS.map((work) => JSON.parse(load(work, "-clients", "4", "-seconds", "2")).done);
  const requests = small.reduce((sum, done) => sum + done, 0);
  const afterSmall = resident(process);
  const up = move(process, () => load("large-up")), down = move(process, () => load("large-down"));
  return [
    `1 GB up ${up.rate} MB/s (strict), down ${down.rate} MB/s (goal 250 MB/s)`,
    `memory of the server: idle ${idle}, after ${
      requests.toLocaleString("en")
    } small requests ${afterSmall}, ` +
    `after 1 GB up ${up.after} (at most ${up.most}), after 1 GB down ${down.after} (at most ${down.most}; goal 150 MB)`,
  ];
}

/** Measures a server that has done all kinds of things before. */
export function measureLargeAgain(process: ChildProcess, load: RunLoad): string {
  const before = resident(process);
  const up = move(process, () => load("large-up")), down = move(process, () => load("large-down"));
  return `the same on the server of all the figures above: up ${up.rate} MB/s, down ${down.rate} MB/s; ` +
    `memory before ${before}, at most ${up.most} and ${down.most}`;
}

function move(process: ChildProcess, run: () => string): { rate: number; most: string; after: string } {
  forgetPeak(process);
  const { rate } = JSON.parse(run()) as { rate: number };
  return { rate: Math.round(rate / 1e6), most: peak(process), after: resident(process) };
}

function resident(process: ChildProcess): string {
  return statusOf(process, "VmRSS");
}

/** The most since {@link forgetPeak}. */
function peak(process: ChildProcess): string {
  return statusOf(process, "VmHWM");
}

function forgetPeak({ pid }: ChildProcess): void {
  try {
    writeFileSync(`/proc/${pid}/clear_refs`, "5");
  } catch {
    // Then the peak is that of all its life.
  }
}

function statusOf({ pid }: ChildProcess, name: string): string {
  try {
    const kilobytes = new RegExp(`${name}:\\s+(\\d+)`).exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return `${Math.round(Number(kilobytes) * 1024 / 1e6)} MB`;
  } catch {
    return "unknown";
  }
}
