/**
 * The engine in process, each figure in a process of its own (`engine_program.ts`), beside the goals and what a real lakeFS
 * took for the same work on such a machine; then the same at ten times the entries.
 */

import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { type Bench, median, run, settle } from "./measuring.ts";
import { duration } from "./table.ts";
import { buildPeer } from "./tables.ts";

const PROGRAM = fileURLToPath(new URL("./engine_program.ts", import.meta.url));

/** What `engine_program.ts` prints. */
interface Answer {
  readonly seconds: readonly number[];
  readonly answer?: unknown;
  readonly counts?:
    & Readonly<Record<string, number>>
    & readonly (readonly [written: number, reused: number])[];
  readonly peakBytes: number;
}

interface Figure {
  readonly figure: string;
  readonly command: readonly string[];
  /** Seconds, for a million entries where the figure is about all of them. */
  readonly goal: number;
  readonly lakefs?: number;
  /** A command of the Pebble peer for the part of it that is tables alone. */
  readonly peer?: string;
}

const FIGURES: readonly Figure[] = [
  {
    figure: "get at a commit, all cached",
    command: ["get", "cached"],
    goal: 1 / 400_000,
    lakefs: 1 / 9_000,
    peer: "get-cached",
  },
  {
    figure: "get at a commit, block not cached",
    command: ["get", "uncached"],
    goal: 1 / 60_000,
    lakefs: 1 / 9_000,
    peer: "get-uncached",
  },
  { figure: "get on a branch", command: ["get-on-branch"], goal: 1 / 100_000 },
  { figure: "write all entries, flushed", command: ["write"], goal: 2, lakefs: 3.03, peer: "write" },
  { figure: "scan, raw records", command: ["scan-raw"], goal: 0.4, lakefs: 0.83, peer: "scan" },
  { figure: "scan, entries", command: ["scan-entries"], goal: 0.67, lakefs: 1.67 },
  { figure: "commit of 100 random changes", command: ["commit", "random"], goal: 0.2, lakefs: 1.9 },
  { figure: "commit of 100 adjacent changes", command: ["commit", "adjacent"], goal: 0.035, lakefs: 0.3 },
  { figure: "diff of 100 random changes", command: ["diff", "random"], goal: 0.01, lakefs: 1.85 },
  { figure: "diff of 100 adjacent changes", command: ["diff", "adjacent"], goal: 0.002, lakefs: 0.19 },
  { figure: "merge, 100 random on each side", command: ["merge", "random"], goal: 0.25, lakefs: 3.8 },
  { figure: "merge, 100 adjacent on each side", command: ["merge", "adjacent"], goal: 0.04, lakefs: 3.8 },
  { figure: "list 1,000 folders", command: ["list"], goal: 0.03 },
];

/** Returns the table of one million entries. */
export function measureEngine(bench: Bench): string[] {
  const home = prepare(bench, bench.entries);
  const folder = bench.fresh("engine-peer");
  const peer = buildPeer(folder);
  const table = join(folder, "pebble.sst");
  // The peer's look-ups need a table to look into.
  if ("program" in peer) askPeer(peer.program, "write", { table, bench });
  const lines = [
    "",
    `| engine, ${
      bench.entries.toLocaleString("en")
    } entries | tarn | goal | lakeFS | Pebble | read | written | peak memory |`,
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
  ];
  for (const { figure, command, goal, lakefs, peer: peerCommand } of FIGURES) {
    settle();
    const answer = ask(home, bench.entries, command);
    const seconds = median(answer.seconds);
    const peerSeconds = peerCommand && "program" in peer
      ? askPeer(peer.program, peerCommand, { table, bench })
      : undefined;
    const cells = [
      figure,
      duration(seconds),
      `${duration(goal)}${seconds > goal ? " missed" : ""}`,
      lakefs === undefined ? "" : duration(lakefs),
      peerSeconds === undefined ? "" : duration(peerSeconds),
      megabytes(answer.counts?.["bytesRead"]),
      megabytes(answer.counts?.["bytesWritten"]),
      megabytes(answer.peakBytes),
    ];
    lines.push(`| ${cells.join(" | ")} |`);
  }
  return lines;
}

/** Returns the table of what ten times the entries cost beside once. */
export function measureScale(bench: Bench): string[] {
  const sizes = [bench.entries, bench.entries * 10];
  const homes = sizes.map((entries) => prepare(bench, entries));
  const lines = [
    "",
    `| scale | ${
      sizes.map((size) => size.toLocaleString("en")).join(" | ")
    } | ratio | bytes written, ratio | peak memory |`,
    "| --- | ---: | ---: | ---: | ---: | ---: |",
  ];
  const commands = [
    ["commit", "random"],
    ["commit", "adjacent"],
    ["diff", "random"],
    ["diff", "adjacent"],
    [
      "merge",
      "random",
    ],
    ["merge", "adjacent"],
    ["list"],
  ];
  for (const command of commands) {
    settle();
    const answers = homes.map((home, i) => ask(home, sizes[i]!, command));
    const [small, large] = answers.map(({ seconds }) => median(seconds)) as [number, number];
    const [less, more] = answers.map(({ counts }) => counts?.["bytesWritten"] ?? 0) as [number, number];
    const cells = [
      command.join(", "),
      duration(small),
      duration(large),
      (large / small).toFixed(2),
      less > 0 ? (more / less).toFixed(2) : "",
      megabytes(answers[1]!.peakBytes),
    ];
    lines.push(`| ${cells.join(" | ")} |`);
  }
  const hourly = ask(homes[1]!, sizes[1]!, ["hourly"]);
  const written = hourly.counts!.map(([tables]) => tables);
  const reused = hourly.counts!.map(([tables, ranges]) => ranges / (ranges + tables - 1));
  lines.push(
    "",
    `24 hourly commits of 1,000 files on ${sizes[1]!.toLocaleString("en")} entries: median ${
      duration(median(hourly.seconds))
    }, at most ${Math.max(...written) - 1} ranges and the metarange written, at least ${
      (100 * Math.min(...reused)).toFixed(1)
    } % of the ranges reused`,
  );
  return lines;
}

function prepare(bench: Bench, entries: number): string {
  const home = bench.fresh(`engine-${entries}`);
  ask(home, entries, ["prepare"]);
  return home;
}

function ask(home: string, entries: number, [command = "", how = ""]: readonly string[]): Answer {
  const { output } = run([process.execPath, PROGRAM, command, home, String(entries), how]);
  return JSON.parse(output);
}

function askPeer(
  program: string,
  command: string,
  { table, bench }: { table: string; bench: Bench },
): number {
  const [seconds] = run([program, command, table, String(bench.entries)]).output.trim().split(" ");
  return command.startsWith("get") ? Number(seconds) / PEER_GETS : Number(seconds);
}

/** How many keys the peer looks up. */
const PEER_GETS = 100_000;

function megabytes(bytes: number | undefined): string {
  return bytes === undefined ? "" : `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`;
}
