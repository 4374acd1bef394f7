/** Commands of the executable as the soak runs them: each a process, ended by itself or by a signal at a drawn moment. */

import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";

export type Signal = "SIGKILL" | "SIGINT" | "SIGTERM";

export interface Kill {
  readonly signal: Signal;
  readonly afterMs: number;
}

export interface RunOptions {
  readonly stdin?: string;
  readonly kill?: Kill;
}

export interface Ended {
  /** The exit code, or `null` when a signal ended the process. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: string;
  readonly stderr: string;
  readonly milliseconds: number;
}

/** What was promised is not there, or what must not happen did. */
export class Lost extends Error {}

/**
 * What an operation's exit says: it is done; it may be done or not, since it was killed, or had no answer from its store (exit
 * code 8); or it is not done, since it was refused.
 */
export type Outcome = "acknowledged" | "killed" | "unanswered" | "refused";

const CANCELED = [129, 130, 143];
const UNAVAILABLE = 8;
/** The errors that commands which race, or find nothing to do, may end with. */
const REFUSALS = ["try_again", "no_changes", "nothing_to_merge", "nothing_staged"];
/** Whatever takes longer hangs. */
const MOST_MS = 300_000;

/** Runs commands with one environment. */
export class Commands {
  readonly #binary: string;
  readonly #folder: string;
  readonly #environment: Readonly<Record<string, string>>;

  constructor(binary: string, options: { folder: string; environment: Readonly<Record<string, string>> }) {
    this.#binary = binary;
    this.#folder = options.folder;
    this.#environment = options.environment;
  }

  /** Runs one command to its end, whatever that is. */
  async run(args: readonly string[], { stdin = "", kill }: RunOptions = {}): Promise<Ended> {
    const start = performance.now();
    const child = spawn(this.#binary, args, {
      cwd: this.#folder,
      env: { ...this.#environment },
      stdio: "pipe",
    });
    const stdout: Buffer[] = [], stderr: Buffer[] = [];
    child.stdout.on("data", (piece: Buffer) => stdout.push(piece));
    child.stderr.on("data", (piece: Buffer) => stderr.push(piece));
    // Whoever is killed does not read its input to the end.
    child.stdin.on("error", () => {});
    child.stdin.end(stdin);
    const killer = kill && setTimeout(() => child.kill(kill.signal), kill.afterMs);
    let hangs = false;
    const guard = setTimeout(() => {
      hangs = true;
      child.kill("SIGKILL");
    }, MOST_MS);
    const [code, signal] = await new Promise<[number | null, string | null]>((resolve, reject) => {
      child.on("error", reject);
      child.on("close", (code, signal) => resolve([code, signal]));
    });
    clearTimeout(killer);
    clearTimeout(guard);
    if (hangs) throw new Lost(`tarn ${args.join(" ")} had not ended after ${MOST_MS} ms`);
    return {
      code,
      signal,
      stdout: Buffer.concat(stdout).toString(),
      stderr: Buffer.concat(stderr).toString(),
      milliseconds: performance.now() - start,
    };
  }

  /** Runs a command that must succeed; returns what it prints. */
  async text(args: readonly string[], options: RunOptions = {}): Promise<string> {
    const ended = await this.run(args, options);
    if (ended.code !== 0) throw new Lost(`tarn ${args.join(" ")}: ${endOf(ended)}`);
    return ended.stdout;
  }

  /** Runs a command with `--json` that must succeed; returns the document. */
  // deno-lint-ignore no-explicit-any
  async json(args: readonly string[]): Promise<any> {
    return JSON.parse(await this.text([...args, "--json"]));
  }

  /** Returns the MD5 sums of the objects under a URI that ends in a slash, or of a whole ref, by path. */
  async list(uri: string): Promise<Map<string, string>> {
    const ended = await this.run(["ls", "-r", uri, "--json"]);
    if (errorCodeOf(ended) === "object_not_found") return new Map();
    if (ended.code !== 0) throw new Lost(`tarn ls -r ${uri}: ${endOf(ended)}`);
    const objects = JSON.parse(ended.stdout) as { path: string; checksum: string }[];
    const sums = new Map(objects.map(({ path, checksum }) => [path, checksum]));
    if (sums.size !== objects.length) throw new Lost(`${uri} lists an object twice`);
    return sums;
  }

  /** Returns whether a branch or tag is there. */
  async has(kind: "branch" | "tag", uri: string): Promise<boolean> {
    const ended = await this.run([kind, "show", uri]);
    if (ended.code !== 0 && ended.code !== 3) throw new Lost(`tarn ${kind} show ${uri}: ${endOf(ended)}`);
    return ended.code === 0;
  }
}

/** Tells what the end of a process with `--json` means; an end that no signal of ours explains is a failure. */
export function outcomeOf(ended: Ended, kill: Kill | undefined): Outcome {
  const { code, signal } = ended;
  if (code === 0) return "acknowledged";
  if (kill && (signal === kill.signal || (CANCELED.includes(code ?? 0) && kill.signal !== "SIGKILL"))) {
    return "killed";
  }
  if (code === UNAVAILABLE) return "unanswered";
  if (REFUSALS.includes(errorCodeOf(ended))) return "refused";
  throw new Lost(`ended unexpectedly: ${endOf(ended)}`);
}

/** Returns the stable code of the error that a command with `--json` ended with, or an empty string. */
export function errorCodeOf({ stderr }: Ended): string {
  return /"code":\s*"([a-z_]+)"/.exec(stderr)?.[1] ?? "";
}

export function endOf({ code, signal, stderr }: Ended): string {
  return `${signal === null ? `exit code ${code}` : signal}\n${stderr}`;
}
