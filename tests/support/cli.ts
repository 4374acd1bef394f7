/** Runs the compiled binary as a user does: fed by a stream, killed half-way, several at once. */

import { Buffer } from "node:buffer";
import { spawn } from "node:child_process";
import { binaryPath } from "./binary.ts";

export interface CliOptions {
  readonly cwd?: string;
  /** The whole environment: nothing is inherited. */
  readonly env?: Readonly<Record<string, string>>;
  /** What the command reads on standard input; default nothing. */
  readonly stdin?: string | Uint8Array | AsyncIterable<Uint8Array>;
  /** Kills the command, as `kill -9` does, after this time unless it has ended. */
  readonly killAfterMs?: number;
  /** Fails, and kills the command, after this time; default a quarter of an hour: a loaded machine is no failure. */
  readonly timeoutMs?: number;
  /** Another executable than the compiled one. */
  readonly binary?: string;
}

export interface CliResult {
  /** The exit code, or `null` when a signal ended the command. */
  readonly code: number | null;
  readonly signal: string | null;
  readonly stdout: Buffer;
  readonly stderr: string;
}

/** Runs one command to its end. */
export async function runTarn(args: readonly string[], options: CliOptions = {}): Promise<CliResult> {
  const { cwd, env = {}, killAfterMs, timeoutMs = 900_000 } = options;
  const child = spawn(options.binary ?? binaryPath(), args, { cwd, env: { ...env }, stdio: "pipe" });
  const stdout: Buffer[] = [];
  const stderr: Buffer[] = [];
  child.stdout.on("data", (piece: Buffer) => stdout.push(piece));
  child.stderr.on("data", (piece: Buffer) => stderr.push(piece));
  const ended = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.on("error", reject);
    child.on("close", (code, signal) => resolve({ code, signal }));
  });
  let isLate = false;
  const killer = killAfterMs === undefined ? undefined : setTimeout(() => child.kill("SIGKILL"), killAfterMs);
  const guard = setTimeout(() => {
    isLate = true;
    child.kill("SIGKILL");
  }, timeoutMs);
  try {
    // Whoever does not read its input to the end breaks the pipe; that is not this test's failure.
    child.stdin.on("error", () => {});
    const [result] = await Promise.all([ended, feed(child.stdin, options.stdin)]);
    if (isLate) throw new Error(`tarn ${args.join(" ")} had not ended after ${timeoutMs} ms`);
    return { ...result, stdout: Buffer.concat(stdout), stderr: Buffer.concat(stderr).toString() };
  } finally {
    clearTimeout(killer);
    clearTimeout(guard);
  }
}

async function feed(
  pipe: NodeJS.WritableStream & { destroyed: boolean },
  input: CliOptions["stdin"],
): Promise<void> {
  if (input === undefined || typeof input === "string" || input instanceof Uint8Array) {
    pipe.end(input ?? "");
    return;
  }
  for await (const piece of input) {
    if (pipe.destroyed) return;
    // A copy, since the source may use the piece's memory again before the pipe has taken it.
    await new Promise<void>((resolve) => pipe.write(Buffer.from(piece), () => resolve()));
  }
  pipe.end();
}
