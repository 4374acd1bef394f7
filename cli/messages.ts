/** What is no result: notes, progress, questions; all on standard error. */

import { CodedError } from "../base/errors.ts";
import { escapeForTerminal } from "./render/escape.ts";
import { cutToWidth } from "./render/width.ts";
import { wrapped } from "./render/wrap.ts";
import { clearBeforeLastMessage } from "./signals.ts";
import { readLine, writeMessage } from "./streams.ts";

const PROGRESS_MILLISECONDS = 100;

export interface MessagesOptions {
  readonly quiet: boolean;
  /** Whether a person sees standard error, so that a line may be written over. */
  readonly terminal: () => boolean;
  /** Whether a person can answer. */
  readonly mayAsk: () => boolean;
  /** Whether every question is answered with yes (`--yes`). */
  readonly yes: boolean;
  readonly progress: boolean;
  /** The cells of the terminal's line. */
  readonly columns?: () => number;
  readonly write?: (text: string) => void;
}

export class Messages {
  readonly #options: MessagesOptions;
  readonly #write: (text: string) => void;
  #terminal: boolean | undefined;
  #isShown = false;
  #shownAt = -Infinity;

  constructor(options: MessagesOptions) {
    this.#options = options;
    this.#write = options.write ?? writeMessage;
  }

  /** Says something that a person may want to know, one line. */
  note(text: string): void {
    if (!this.#options.quiet) this.#line(text);
  }

  /** Says that something was left out or failed, one line, even when quiet. */
  warn(text: string): void {
    this.#line(text);
  }

  /** Says several lines that are escaped already. */
  block(text: string): void {
    this.endProgress();
    this.#write(text);
  }

  /** Whether progress is shown: only then is it worth finding out how much there is to do. */
  get showsProgress(): boolean {
    return this.#options.progress && !this.#options.quiet && this.#isTerminal();
  }

  /** Shows how far long work is, in place of what was shown before; some times a second at most. */
  progress(text: () => string): void {
    if (!this.showsProgress) return;
    const now = performance.now();
    if (now - this.#shownAt < PROGRESS_MILLISECONDS) return;
    this.#shownAt = now;
    this.#isShown = true;
    // A line that is wrapped cannot be written over.
    this.#write(`\r${cutToWidth(escapeForTerminal(text()), this.#columns - 1)}\x1b[K`);
    clearBeforeLastMessage(() => this.endProgress());
  }

  /** Takes the progress line away. */
  endProgress(): void {
    if (!this.#isShown) return;
    this.#write("\r\x1b[K");
    this.#isShown = false;
    clearBeforeLastMessage(undefined);
  }

  /**
   * Asks before something is lost. Fails with `confirmation_needed` where nobody can answer, and with `canceled` when
   * the answer is no.
   */
  async confirm(what: string): Promise<void> {
    if (this.#options.yes) return;
    if (!this.#options.mayAsk()) {
      throw new CodedError("invalid", "confirmation_needed", `Cannot ${what}: it needs a confirmation`);
    }
    this.#write(`${escapeForTerminal(`Really ${what}?`)} [y/N] `);
    const answer = await readLine();
    if (!/^\s*y(es)?\s*$/i.test(answer ?? "")) {
      throw new CodedError("canceled", "canceled", `Did not ${what}: the answer was no`);
    }
  }

  get #columns(): number {
    return this.#options.columns?.() ?? 80;
  }

  #isTerminal(): boolean {
    this.#terminal ??= this.#options.terminal();
    return this.#terminal;
  }

  #line(text: string): void {
    this.endProgress();
    const width = this.#isTerminal() ? this.#columns : Infinity;
    this.#write(`${wrapped(escapeForTerminal(text), width, "  ").join("\n")}\n`);
  }
}
