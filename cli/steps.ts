/** Commands that are run one after the other in one session, each shown before its output. */

import { concatBytes, lossyText } from "../base/bytes.ts";
import { CodedError, isCoded } from "../base/errors.ts";
import type { Context } from "./context.ts";
import { exitCodeOf } from "./exit_codes.ts";
import { quoted } from "./quoting.ts";
import { describeError } from "./report.ts";
import type { Sink } from "./streams.ts";

/** What a step was and brought, for JSON. */
interface StepJson {
  readonly title: string;
  readonly command: string;
  readonly exit_code: number;
  /** The command's own document, or its text where it has none. */
  readonly output: unknown;
}

export class Steps {
  readonly #context: Context;
  readonly #done: StepJson[] = [];
  #title = "";

  constructor(context: Context) {
    this.#context = context;
  }

  /** Says what the next steps are for. */
  title(text: string): void {
    this.#title = text;
    const { output } = this.#context;
    if (output.json === "none") output.line(`\n${output.paint("bold", `# ${text}`)}`);
  }

  /** Says something about the step before. */
  note(text: string): void {
    const { output } = this.#context;
    if (output.json === "none") output.line(output.shown(text));
  }

  /** Shows a command line that is not run. */
  suggest(...argv: string[]): void {
    const { output } = this.#context;
    if (output.json === "none") output.line(output.paint("cyan", `$ ${this.#commandLine(argv)}`));
  }

  /** Runs a command line, shown as a person would type it, and returns its exit code. */
  async run(...argv: string[]): Promise<number> {
    const { output, runAnother } = this.#context;
    if (output.json === "none") {
      this.suggest(...argv);
      await output.drain();
      return await runAnother(argv);
    }
    const captured = new CapturingSink();
    const code = await runAnother([...argv, "--json"], captured);
    this.#add(argv, code, captured.value());
    return code;
  }

  /** Runs a command line that must fail with an error of a code, and shows the error as the command alone would. */
  async runToFail(code: string, ...argv: string[]): Promise<void> {
    try {
      await this.run(...argv);
    } catch (error) {
      if (!isCoded(error, code)) throw error;
      const { output, messages } = this.#context;
      const isJson = output.json !== "none";
      const text = describeError(error, { json: isJson, debug: false });
      if (isJson) this.#add(argv, exitCodeOf(error), JSON.parse(text));
      else messages.block(text);
      return;
    }
    throw new CodedError("internal", "internal", `Broken invariant: "${argv.join(" ")}" did not fail`);
  }

  /** Writes what was gathered. */
  finish(): void {
    if (this.#context.output.json === "document") this.#context.output.document(this.#done);
  }

  #add(argv: readonly string[], code: number, shown: unknown): void {
    const { output } = this.#context;
    const step = { title: this.#title, command: this.#commandLine(argv), exit_code: code, output: shown };
    if (output.json === "lines") output.document(step);
    else this.#done.push(step);
  }

  #commandLine(argv: readonly string[]): string {
    const home = this.#context.arguments.value("home");
    return ["tarn", ...(home === undefined ? [] : ["--home", home]), ...argv].map(quoted).join(" ");
  }
}

class CapturingSink implements Sink {
  readonly #pieces: Uint8Array[] = [];

  async write(bytes: Uint8Array): Promise<void> {
    this.#pieces.push(bytes.slice());
  }

  value(): unknown {
    const text = lossyText(concatBytes(...this.#pieces));
    try {
      return JSON.parse(text);
    } catch {
      return text;
    }
  }
}
