/**
 * The server under `load` (Go, keep-alive clients that compare every answer), beside the goals, what a real lakeFS did on such
 * a machine with its batching delay off (24 clients: as it comes), and an empty answer of the same server in the same round.
 */

import { type ChildProcess, spawn } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { newFileSeconds } from "./machine.ts";
import { type Bench, median, run } from "./measuring.ts";
import { measureLarge, measureLargeAgain, type RunLoad } from "./serve_large.ts";
import { duration } from "./table.ts";
import { buildPeer } from "./tables.ts";

const LOAD = fileURLToPath(new URL("./load", import.meta.url));
const OBJECTS = 10_000;
/** Those of a smaller repository: a commit writes the range anew in which its object lies. */
const FEW_OBJECTS = 1000;
/** What the range of so many objects is. */
const RANGE_BYTES = 1_400_000;
const ROUND_SECONDS = 2;

type Durability = "strict" | "relaxed";
/** `few` is strict, and has few objects. */
type ServerName = Durability | "few";

interface Figure {
  readonly figure: string;
  readonly work: string;
  readonly clients: number;
  readonly server: ServerName;
  /** Answers a second. */
  readonly goal?: number;
  readonly lakefs?: number;
}

const strict = { server: "strict" } as const, relaxed = { server: "relaxed" } as const;

const FIGURES: readonly Figure[] = [
  { figure: "stat", work: "stat", clients: 1, ...strict, goal: 6000, lakefs: 3600 },
  { figure: "get committed", work: "get", clients: 1, ...strict, goal: 5000, lakefs: 2000 },
  { figure: "list page of 1,000", work: "list", clients: 1, ...strict, goal: 400, lakefs: 190 },
  { figure: "upload, relaxed", work: "upload", clients: 1, ...relaxed, goal: 3500, lakefs: 2100 },
  { figure: "upload, strict", work: "upload", clients: 1, ...strict },
  { figure: "create branch", work: "branch", clients: 1, ...strict, goal: 2000, lakefs: 2800 },
  { figure: "upload + commit of one", work: "commit", clients: 1, ...strict, goal: 250, lakefs: 196 },
  { figure: "the same among 1,000", work: "commit", clients: 1, server: "few", goal: 250, lakefs: 196 },
  { figure: "stat", work: "stat", clients: 24, ...strict, goal: 10_000, lakefs: 4700 },
  { figure: "get committed", work: "get", clients: 24, ...strict, goal: 10_000, lakefs: 4700 },
  { figure: "upload, strict", work: "upload", clients: 24, ...strict, goal: 2000, lakefs: 2050 },
  { figure: "upload, relaxed", work: "upload", clients: 24, ...relaxed, goal: 5000, lakefs: 2050 },
];

interface Result {
  readonly rate: number;
  readonly median_ms: number;
  readonly p99_ms: number;
}

export async function measureServe(bench: Bench): Promise<string[]> {
  const folder = bench.fresh("serve");
  const built = buildPeer(folder, LOAD);
  if ("why" in built) return ["", `serve: skipped, ${built.why}`];
  const files = join(folder, "files"), many = join(folder, "many");
  run([built.program, "files", files, String(OBJECTS)]);
  run([built.program, "files", many, String(bench.files)]);
  const few = join(folder, "few");
  run([built.program, "files", few, String(FEW_OBJECTS)]);
  const servers: Record<ServerName, Server> & { fresh?: Server } = {
    strict: await openServer(bench, "strict", files),
    relaxed: await openServer(bench, "relaxed", files),
    few: await openServer(bench, "strict", few),
  };
  try {
    const lines = [...loadTable(bench, (figure) => ask(built.program, servers[figure.server], figure))];
    const commits = await commitSeconds(servers.strict, { files: many, rounds: bench.rounds });
    const count = bench.files.toLocaleString("en");
    lines.push("", `commit of ${count} staged objects: ${duration(commits)} (goal 500 ms, lakeFS 350 ms)`);
    const loadOf = (server: Server): RunLoad => (work, ...flags) =>
      loadOutput(built.program, server, [work, ...flags]);
    const fresh = servers.fresh = await openServer(bench, "strict", files);
    lines.push(
      ...measureLarge(fresh.process, loadOf(fresh)),
      measureLargeAgain(servers.strict.process, loadOf(servers.strict)),
      `(fdatasync after 4 KiB: ${duration(bench.flushSeconds)})`,
    );
    return lines;
  } finally {
    for (const { process } of Object.values(servers)) process.kill("SIGTERM");
  }
}

function loadTable(bench: Bench, measure: (figure: Figure) => Result): string[] {
  const results = new Map<Figure, Result[]>(FIGURES.map((figure) => [figure, []]));
  const empty = new Map<number, number[]>([[1, []], [24, []]]);
  const newFiles: number[] = [], folder = bench.fresh("new-files");
  for (let round = 0; round < bench.rounds; round++) {
    for (const [clients, rates] of empty) {
      rates.push(measure({ figure: "", work: "empty", clients, ...strict }).rate);
    }
    for (const [figure, seen] of results) {
      const isCommit = figure.work === "commit",
        look = () => newFileSeconds(folder, RANGE_BYTES, newFiles.length);
      if (isCommit) newFiles.push(look());
      seen.push(measure(figure));
      if (isCommit) newFiles.push(look());
    }
  }
  const rows = [...results].map(([{ figure, clients, goal, lakefs }, seen]) => {
    const middle = (name: keyof Result) => median(seen.map((one) => one[name]));
    const rate = middle("rate"), nothing = median(empty.get(clients)!);
    const cells = [
      `${figure}, ${clients === 1 ? "one client" : `${clients} clients`}`,
      number(rate),
      goal === undefined ? "" : `${number(goal)}${rate < goal ? " missed" : ""}`,
      lakefs === undefined ? "" : number(lakefs),
      number(nothing),
      (rate / nothing).toFixed(2),
      duration(middle("median_ms") / 1000),
      duration(middle("p99_ms") / 1000),
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    "",
    "| served, a second | tarn | goal | lakeFS | empty answer | ratio | median | 99 % |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ...rows,
    "",
    `(before and after commits: writing a new file of 1.4 MB, as each of those among 10,000 objects does, ${
      durations(newFiles)
    })`,
  ];
}

function durations(seconds: readonly number[]): string {
  const [least, most] = [Math.min(...seconds), Math.max(...seconds)];
  return `${duration(least)} to ${duration(most)}, median ${duration(median(seconds))}`;
}

function number(value: number): string {
  return Math.round(value).toLocaleString("en");
}

interface Server {
  readonly process: ChildProcess;
  readonly url: string;
  readonly key: string;
  readonly secret: string;
  tarn(...args: string[]): string;
}

/** Makes a home with the objects that are asked for, and serves it. */
async function openServer(bench: Bench, durability: Durability, files: string): Promise<Server> {
  const environment = { TARN_HOME: join(bench.fresh(`home-${durability}`), "home") };
  const tarn = (...args: string[]) => run([bench.tarn, ...args], { environment }).output;
  const credential = JSON.parse(tarn("auth", "setup", "admin", "--json"));
  tarn("repo", "create", "lakefs://bench");
  tarn("put", "-r", "lakefs://bench/main/", files);
  tarn("commit", "lakefs://bench/main", "-m", "objects");
  tarn("branch", "lakefs://bench/uploads", "--from", "main");
  const args = [
    "serve",
    "--listen",
    "127.0.0.1:0",
    "--json",
    "--log-level",
    "error",
    "--durability",
    durability,
  ];
  const process = spawn(bench.tarn, args, { env: environment, stdio: ["ignore", "pipe", "inherit"] });
  const { url } = await announced(process);
  return { process, url, key: credential.access_key_id, secret: credential.secret_access_key, tarn };
}

function announced(process: ChildProcess): Promise<{ url: string }> {
  return new Promise((resolve, reject) => {
    let text = "";
    process.stdout!.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      if (text.trimEnd().endsWith("}")) resolve(JSON.parse(text));
    });
    process.on("exit", () => reject(new Error("the server has ended")));
  });
}

function ask(program: string, server: Server, { work, clients, server: name }: Figure): Result {
  const objects = String(name === "few" ? FEW_OBJECTS : OBJECTS);
  const flags = ["-clients", String(clients), "-seconds", String(ROUND_SECONDS), "-objects", objects];
  return JSON.parse(loadOutput(program, server, [work, ...flags]));
}

function loadOutput(program: string, { url, key, secret }: Server, [work, ...flags]: string[]): string {
  return run([program, "run", work!, "-url", url, "-key", key, "-secret", secret, ...flags]).output;
}

/** Commits, by the API, what the command line has staged on branches of their own. */
async function commitSeconds(
  { tarn, url, key, secret }: Server,
  { files, rounds }: { files: string; rounds: number },
): Promise<number> {
  const seconds: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const branch = `staged-${round}`;
    tarn("branch", `lakefs://bench/${branch}`, "--from", "main~1");
    // Under names of its own: the same ranges once more would be compared with those that there are.
    tarn("put", "-r", `lakefs://bench/${branch}/${round}/`, files);
    const start = performance.now();
    const answer = await fetch(`${url}/api/v1/repositories/bench/branches/${branch}/commits`, {
      method: "POST",
      body: JSON.stringify({ message: "all" }),
      headers: { authorization: `Basic ${btoa(`${key}:${secret}`)}`, "content-type": "application/json" },
    });
    if (answer.status !== 201) throw new Error(`commit: ${answer.status} ${await answer.text()}`);
    seconds.push((performance.now() - start) / 1000);
  }
  return median(seconds);
}
