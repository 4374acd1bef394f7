/**
 * A program that is asked by lines: one line of JSON on its standard input, one on its standard output, in order.
 *
 * It runs without a shell, with a bare environment, from the first question to the end of the session, and apart from the
 * terminal: a key that interrupts us leaves it at its work, and we say when it ends. It has a time for each answer, and an
 * answer may not be larger than so many bytes. Whatever else it does, ending too early included, fails every later question:
 * a guard that is gone lets nobody through.
 */

import { type ChildProcess, spawn } from "node:child_process";
import process from "node:process";
import { concatBytes, lossyText, tryUtf8Text } from "../../base/bytes.ts";
import { hookFailed } from "./failures.ts";

const TIME_LIMIT_MS = 30_000;
/** A block in base64 fits into it. */
const MOST_ANSWER_BYTES = 8 * 1024 * 1024;
const MOST_SAID_BYTES = 4096;
/** How long a program may take to end by itself once its standard input has ended. */
const LAST_WORDS_MS = 2000;
const ENVIRONMENT = { PATH: "/usr/local/bin:/usr/bin:/bin", LANG: "C.UTF-8" };
const NEWLINE = 0x0a;
const IS_POSIX = process.platform !== "win32";

export interface CoprocessOptions {
  readonly timeLimitMs?: number;
  readonly maxAnswerBytes?: number;
}

interface Waiting {
  readonly resolve: (line: string) => void;
  readonly reject: (error: unknown) => void;
}

export class Coprocess {
  readonly #name: string;
  readonly #timeLimitMs: number;
  readonly #maxAnswerBytes: number;
  readonly #child: ChildProcess;
  readonly #ended: Promise<void>;
  #pieces: Uint8Array[] = [];
  #length = 0;
  #said = "";
  #failure: unknown;
  #waiting: Waiting | undefined;
  /** Questions wait for those before them. */
  #turn: Promise<unknown> = Promise.resolve();

  /** `name` is how messages name the program. Fails with `hook_failed` when it cannot be started. */
  constructor(name: string, program: string, options: CoprocessOptions = {}) {
    this.#name = name;
    this.#timeLimitMs = options.timeLimitMs ?? TIME_LIMIT_MS;
    this.#maxAnswerBytes = options.maxAnswerBytes ?? MOST_ANSWER_BYTES;
    try {
      this.#child = spawn(program, [], {
        cwd: "/",
        env: ENVIRONMENT,
        stdio: ["pipe", "pipe", "pipe"],
        detached: IS_POSIX,
      });
    } catch (error) {
      throw hookFailed(name, `cannot be run: ${whyNot(error)}`, error);
    }
    this.#ended = this.#listen(this.#child);
  }

  /** Asks, and returns what the program answers. Fails with `hook_failed`. */
  async ask(question: unknown): Promise<unknown> {
    const turn = this.#turn.then(() => this.#askNow(`${JSON.stringify(question)}\n`));
    this.#turn = turn.catch(() => {});
    const line = await turn;
    try {
      return JSON.parse(line);
    } catch (error) {
      throw this.#fail("answered with a line that is no JSON", error);
    }
  }

  /** Ends the program: its standard input ends, and if it does not take that for the end it is killed. */
  async close(): Promise<void> {
    await this.#turn;
    this.#failure ??= hookFailed(this.#name, "has ended with its session");
    this.#child.stdin?.end();
    const timer = setTimeout(this.#kill, LAST_WORDS_MS);
    await this.#ended;
    clearTimeout(timer);
  }

  /** What it has started itself hears nothing of the terminal, either, and goes with it. */
  readonly #kill = (): void => {
    const { pid } = this.#child;
    try {
      if (IS_POSIX && pid !== undefined) process.kill(-pid, "SIGKILL");
      else this.#child.kill("SIGKILL");
    } catch {
      // It is gone.
    }
  };

  #listen(child: ChildProcess): Promise<void> {
    // An interrupt of ours must not leave it behind.
    process.on("exit", this.#kill);
    child.stdout!.on("data", (piece: Uint8Array) => this.#take(piece));
    child.stderr!.on("data", (piece: Uint8Array) => {
      this.#said = (this.#said + lossyText(piece)).slice(-MOST_SAID_BYTES);
    });
    // It may end before it has read all; its end tells more than that.
    child.stdin!.on("error", () => {});
    return new Promise((resolve) => {
      child.once("error", (error) => {
        this.#fail(`cannot be run: ${whyNot(error)}`, error);
        process.off("exit", this.#kill);
        resolve();
      });
      child.once("close", (code, signal) => {
        const said = this.#said.trim().split("\n").at(-1);
        this.#fail(`ended with ${code ?? signal}${said ? `: ${said}` : ""}`);
        process.off("exit", this.#kill);
        resolve();
      });
    });
  }

  async #askNow(line: string): Promise<string> {
    if (this.#failure) throw this.#failure;
    let timer: ReturnType<typeof setTimeout> | undefined;
    try {
      return await new Promise<string>((resolve, reject) => {
        this.#waiting = { resolve, reject };
        timer = setTimeout(() => {
          this.#fail(`did not answer within ${this.#timeLimitMs / 1000} s`);
          this.#kill();
        }, this.#timeLimitMs);
        this.#child.stdin!.write(line);
      });
    } finally {
      clearTimeout(timer);
      this.#waiting = undefined;
    }
  }

  #take(piece: Uint8Array): void {
    const end = piece.indexOf(NEWLINE);
    const rest = end < 0 ? piece : piece.subarray(0, end);
    this.#length += rest.length;
    if (!this.#waiting) return this.#stop("wrote without being asked");
    if (this.#length > this.#maxAnswerBytes) {
      return this.#stop(`answered with more than ${this.#maxAnswerBytes} bytes`);
    }
    this.#pieces.push(rest.slice());
    if (end < 0) return;
    if (end + 1 < piece.length) return this.#stop("answered with more than one line");
    const line = tryUtf8Text(concatBytes(...this.#pieces));
    this.#pieces = [];
    this.#length = 0;
    if (line === undefined) return this.#stop("answered with a line that is not UTF-8");
    this.#waiting.resolve(line);
    this.#waiting = undefined;
  }

  #stop(why: string): void {
    this.#fail(why);
    this.#kill();
  }

  /** The first failure is the one that counts. */
  #fail(why: string, cause?: unknown): unknown {
    this.#failure ??= hookFailed(this.#name, why, cause);
    this.#waiting?.reject(this.#failure);
    this.#waiting = undefined;
    return this.#failure;
  }
}

function whyNot(error: unknown): string {
  const { code, message } = error as { readonly code?: string; readonly message?: string };
  if (code === "ENOENT") return "there is no such program";
  if (code === "EACCES") return "it may not be run";
  if (code === "ENOEXEC") return "it is no program; a script must begin with #! and what runs it";
  return code ?? message ?? String(error);
}
