/** Short commands on a repository of many entries, beside an empty program and beside what the disk takes. */

import { readdirSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { commitEntries, entryOf, pathOf } from "./large_repository.ts";
import { type Bench, interleaved, median, run, same, settle } from "./measuring.ts";
import type { Row } from "./table.ts";

const EMPTY_PROGRAM = fileURLToPath(new URL("./peers/empty.ts", import.meta.url));
const REPOSITORY = "lakefs://large";

export async function measureCommands(bench: Bench): Promise<Row[]> {
  const commands = await Commands.prepare(bench);
  settle(2);
  const starting = interleaved(Math.max(21, bench.rounds), {
    empty: () => commands.empty(),
    version: () => commands.version(),
    stat: (round) => commands.stat(round),
  });
  const writing = interleaved(Math.max(9, bench.rounds), {
    stat: (round) => commands.stat(round),
    put: (round) => commands.put(round),
    commit: () => commands.commit(),
  });
  const many = `${bench.entries.toLocaleString("en")} entries`;
  const { flushSeconds, writeRate } = bench;
  const rangeBytes = median(commands.newRangeBytes);
  return [
    { figure: "version", seconds: starting.version, peer: "an empty program", peerSeconds: starting.empty },
    {
      figure: `stat of one object among ${many}`,
      seconds: starting.stat,
      peer: "an empty program",
      peerSeconds: starting.empty,
      goal: 4,
    },
    {
      figure: `put of one object among ${many}`,
      seconds: writing.put,
      peer: "stat + 3 flushes",
      peerSeconds: writing.stat + 3 * flushSeconds,
      goal: 2,
    },
    {
      figure: `commit of one object among ${many}`,
      seconds: writing.commit,
      peer: "stat + 8 flushes + twice its range's bytes",
      peerSeconds: writing.stat + 8 * flushSeconds + 2 * rangeBytes / writeRate,
      goal: 2,
    },
  ];
}

class Commands {
  readonly #bench: Bench;
  readonly #home: string;
  readonly #program: string;
  readonly newRangeBytes: number[] = [];
  #ranges = new Set<string>();
  #version = "";

  private constructor(bench: Bench, home: string, program: string) {
    this.#bench = bench;
    this.#home = home;
    this.#program = program;
    this.#tarn("repo", "create", REPOSITORY);
  }

  static async prepare(bench: Bench): Promise<Commands> {
    const program = join(bench.fresh("empty"), "empty");
    const flags = ["--compile", "--minify", "--bytecode", "--format=cjs"];
    run([process.execPath, "build", ...flags, EMPTY_PROGRAM, "--outfile", program], { folder: bench.folder });
    const home = bench.fresh("large-home");
    const commands = new Commands(bench, home, program);
    const storage = (namespace: string) => join(home, "storage", namespace.slice("local://".length));
    await commitEntries(
      { kv: join(home, "kv"), cache: join(home, "cache"), storage },
      REPOSITORY.slice("lakefs://".length),
      bench.entries,
    );
    commands.#lookAtRanges();
    return commands;
  }

  empty(): number {
    // The runtime lists the folder that such a program is started in, and those above it: here they hold little.
    const { seconds, output } = run([this.#program], { folder: this.#bench.folder });
    same("what the empty program prints", output, "");
    return seconds;
  }

  version(): number {
    const { seconds, output } = this.#tarn("version");
    this.#version ||= output;
    same("the version", output.startsWith("tarn ") && output, this.#version);
    return seconds;
  }

  stat(round: number): number {
    const i = (round * 7919 + 13) % this.#bench.entries;
    const { seconds, output } = this.#tarn("stat", `${REPOSITORY}/main/${pathOf(i)}`, "--json");
    const { path, size_bytes, checksum } = JSON.parse(output);
    const { sizeBytes, etag } = entryOf(i);
    same("stat", { path, size_bytes, checksum }, { path: pathOf(i), size_bytes: sizeBytes, checksum: etag });
    return seconds;
  }

  put(round: number): number {
    const file = join(this.#bench.folder, "one");
    writeFileSync(file, `content ${round}`);
    const uri = `${REPOSITORY}/main/${pathOf(round * 100_003 % this.#bench.entries)}-new`;
    const { seconds } = this.#tarn("put", uri, file);
    same("the object that was put", this.#tarn("cat", uri).output, `content ${round}`);
    return seconds;
  }

  commit(): number {
    const { seconds } = this.#tarn("commit", `${REPOSITORY}/main`, "-m", "one more");
    const { output } = this.#tarn("diff", `${REPOSITORY}/main~1`, `${REPOSITORY}/main@`, "--json");
    same("changes of the commit", JSON.parse(output).length, 1);
    this.newRangeBytes.push(this.#lookAtRanges());
    return seconds;
  }

  /** Returns the bytes of ranges and metaranges that are new since the last look. */
  #lookAtRanges(): number {
    // The one repository's storage namespace is the one folder there.
    const [namespace] = readdirSync(join(this.#home, "storage"));
    const folder = join(this.#home, "storage", namespace!, "_lakefs");
    const fresh = readdirSync(folder).filter((name) => !this.#ranges.has(name));
    for (const name of fresh) this.#ranges.add(name);
    return fresh.reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  }

  #tarn(...args: readonly string[]): { seconds: number; output: string } {
    return run([this.#bench.tarn, ...args], {
      folder: this.#bench.folder,
      environment: { TARN_HOME: this.#home, TARN_USER: "bench" },
    });
  }
}
