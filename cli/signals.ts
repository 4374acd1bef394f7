/**
 * An interrupt ends the program, soon, and a second one at once. The engine survives a kill at any instant, so nothing is
 * undone: what was acknowledged stays, nothing else is claimed. Only what nobody will ever ask for is taken away: temporary
 * files, and the objects of a put that were not staged yet.
 */

import { unlinkSync } from "node:fs";
import { constants } from "node:os";
import process from "node:process";
import { writeMessage } from "./streams.ts";

const temporaryFiles = new Set<string>();

/** `timeout` and others send a signal to the process and then to its group, which it is in. */
const SAME_SIGNAL_MS = 500;
/** Once the program is ending, a person who presses the key again means it. */
const SAME_END_MS = 100;

let gentle: ((signal: string) => void) | undefined;
let stoppingSince: number | undefined;

/** Has the next signal call `stop` instead of ending the program; a later one ends it. Returns how to undo that. */
export function stopGently(stop: (signal: string) => void): () => void {
  gentle = stop;
  return () => {
    gentle = undefined;
  };
}

/** Returns whether a signal is meant gently: the first one, whose word is passed on, and what comes with it. */
function isGentle(signal: string): boolean {
  const stop = gentle;
  gentle = undefined;
  if (!stop) return stoppingSince !== undefined && performance.now() - stoppingSince < SAME_SIGNAL_MS;
  stoppingSince = performance.now();
  stop(signal);
  return true;
}

/** How long what ends a run by an interrupt may take. */
const LAST_WORDS_MS = 3000;

const lastWords = new Set<() => Promise<void>>();
let isEnding = false;
let endingSince = 0;

/** Has an interrupt wait a little for `end` before it ends the program. Returns how to undo that. */
export function beforeInterrupt(end: () => Promise<void>): () => void {
  lastWords.add(end);
  return () => void lastWords.delete(end);
}

/** Waits for ever if an interrupt is ending the program: what fails meanwhile, fails because of it, and is no news. */
export async function unlessInterrupted(): Promise<void> {
  if (isEnding) await new Promise(() => {});
}

let clearLine: (() => void) | undefined;

/** Has the word that an interrupt ends the program with not stand behind a progress line: `clear` takes that away. */
export function clearBeforeLastMessage(clear: (() => void) | undefined): void {
  clearLine = clear;
}

/** Remembers a file that must not stay if the program is interrupted. */
export function addTemporaryFile(path: string): void {
  temporaryFiles.add(path);
}

/** Forgets a file that has its final name, or is gone. */
export function forgetTemporaryFile(path: string): void {
  temporaryFiles.delete(path);
}

/** A second interrupt does not wait, unless it is the same one, sent to the process and to its group. */
function endAtOnce(signal: Signal): void {
  if (performance.now() - endingSince >= SAME_END_MS) process.exit(exitCodeOf(signal));
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
type Signal = typeof SIGNALS[number];

/** Returns what shells have for a program that a signal ended: 130 for SIGINT. */
function exitCodeOf(signal: Signal): number {
  return 128 + constants.signals[signal];
}

/** Ends the program at once, as the signal itself would, but not without those that only we end: hooks hear no key. */
function quit(): void {
  removeTemporaryFiles();
  process.exit(128 + constants.signals.SIGQUIT);
}

function removeTemporaryFiles(): void {
  for (const path of temporaryFiles) {
    try {
      unlinkSync(path);
    } catch {
      // It is gone already, or cannot be taken away now.
    }
  }
}

/**
 * Ends the program on SIGINT, SIGTERM and SIGHUP, each with its own exit code, and on SIGQUIT without a word; returns how to stop
 * doing that.
 */
export function handleSignals(form: { json: boolean }): () => void {
  const stop = (signal: Signal) => {
    if (isGentle(signal)) return;
    if (isEnding) return endAtOnce(signal);
    removeTemporaryFiles();
    clearLine?.();
    const message = `Interrupted by ${signal}: what was not confirmed may or may not be done`;
    writeMessage(
      form.json
        ? `${JSON.stringify({ kind: "canceled", code: "canceled", message, hint: "" })}\n`
        : `tarn: ${message}\n`,
    );
    const words = [...lastWords];
    lastWords.clear();
    isEnding = true;
    endingSince = performance.now();
    const exit = () => process.exit(exitCodeOf(signal));
    if (words.length === 0) return exit();
    setTimeout(exit, LAST_WORDS_MS);
    Promise.allSettled(words.map((end) => end())).then(exit);
  };
  const handlers: [NodeJS.Signals, () => void][] = SIGNALS.map((signal) => [signal, () => stop(signal)]);
  if (process.platform !== "win32") handlers.push(["SIGQUIT", quit]);
  for (const [signal, handler] of handlers) process.on(signal, handler);
  return () => {
    for (const [signal, handler] of handlers) process.off(signal, handler);
  };
}
