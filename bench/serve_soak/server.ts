/** The server that is soaked: started on a home, killed and started again on the same port, its memory looked at. */

import { Buffer } from "node:buffer";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { Lost } from "../soak_process.ts";

/** Whatever takes longer to start or to stop hangs. */
const MOST_MS = 60_000;

export interface SoakServerOptions {
  readonly binary: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Of `tarn serve`. */
  readonly args: readonly string[];
}

export class SoakServer {
  readonly authorization: string;
  /** How often it was killed; counted just before each. */
  kills = 0;
  /** What it has written to standard error. */
  log = "";
  readonly #options: SoakServerOptions;
  #process!: ChildProcess;
  #url = "";
  #port = 0;
  #up: Promise<void> = Promise.resolve();

  private constructor(options: SoakServerOptions, authorization: string) {
    this.#options = options;
    this.authorization = authorization;
  }

  /** Makes a first user in an empty home, and serves it. */
  static async start(options: SoakServerOptions): Promise<SoakServer> {
    const made = JSON.parse(command(options, ["auth", "setup", "soak", "--json"]).stdout);
    const pair = `${made.access_key_id}:${made.secret_access_key}`;
    const server = new SoakServer(options, `Basic ${Buffer.from(pair).toString("base64")}`);
    await server.#start();
    return server;
  }

  get url(): string {
    return this.#url;
  }

  /** Settles when the server is there; fails when it does not come up again. */
  isUp(): Promise<void> {
    return this.#up;
  }

  /** Kills it and starts it again; returns how long it took until it served, in milliseconds. */
  async kill(): Promise<number> {
    const begun = performance.now();
    this.kills++;
    this.#up = (async () => {
      const ended = endOf(this.#process);
      this.#process.kill("SIGKILL");
      await ended;
      await this.#start();
    })();
    this.#up.catch(() => {});
    await this.#up;
    return performance.now() - begun;
  }

  /** Stops it as its user would. Fails unless it ends well. */
  async stop(): Promise<void> {
    const ended = endOf(this.#process);
    this.#process.kill("SIGTERM");
    const code = await within(ended, "the server had not stopped");
    if (code !== 0) throw new Lost(`the server ended with ${code}: ${this.log}`);
  }

  /** Ends it for good, however things are. */
  abandon(): void {
    this.#process.kill("SIGKILL");
  }

  /** Returns the resident memory in bytes, and how much of that is not a file's; `undefined` where the system does not tell. */
  memory(): { resident: number; anonymous: number } | undefined {
    try {
      const status = readFileSync(`/proc/${this.#process.pid}/status`, "utf8");
      const bytes = (name: string) =>
        Number(new RegExp(`^${name}:\\s+([0-9]+) kB`, "m").exec(status)![1]) * 1024;
      return { resident: bytes("VmRSS"), anonymous: bytes("RssAnon") };
    } catch {
      return undefined;
    }
  }

  /** Fails unless `tarn doctor` finds nothing wrong in the home; nothing may serve it. */
  checkHome(): void {
    const { status, stdout } = command(this.#options, ["doctor", "--json"], [0, 1]);
    if (status !== 0) throw new Lost(`doctor: ${stdout}`);
  }

  async #start(): Promise<void> {
    const { binary, environment, args } = this.#options;
    const child = spawn(binary, ["serve", "--json", "--listen", `127.0.0.1:${this.#port}`, ...args], {
      env: { ...environment },
      stdio: ["ignore", "pipe", "pipe"],
    });
    this.#process = child;
    child.stderr!.setEncoding("utf8").on("data", (text: string) => this.log += text);
    this.#url = await within(announced(child, () => this.log), "the server did not serve");
    this.#port = Number(/:([0-9]+)$/.exec(this.#url)![1]);
  }
}

function command(
  { binary, environment }: SoakServerOptions,
  args: readonly string[],
  codes: readonly number[] = [0],
): { status: number | null; stdout: string } {
  const { status, stdout, stderr } = spawnSync(binary, args, { env: { ...environment }, encoding: "utf8" });
  if (status === null || !codes.includes(status)) {
    throw new Lost(`tarn ${args.join(" ")}: exit code ${status}\n${stderr}`);
  }
  return { status, stdout };
}

function endOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) resolve(child.exitCode);
    else child.once("close", resolve);
  });
}

function announced(child: ChildProcess, log: () => string): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout!.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      if (text.trimEnd().endsWith("}")) resolve(JSON.parse(text).url);
    });
    child.once("error", reject);
    child.once("close", (code, signal) => reject(new Lost(`the server ended: ${signal ?? code} ${log()}`)));
  });
}

async function within<T>(promise: Promise<T>, otherwise: string): Promise<T> {
  let timer;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Lost(`${otherwise} after ${MOST_MS} ms`)), MOST_MS);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    clearTimeout(timer);
  }
}
