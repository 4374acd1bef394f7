/**
 * Files that were made ahead, empty, for small objects that are soon to come. What is not used is removed a second later, and
 * when the process ends; a kill leaves at most one a repository, which nobody was told of.
 */

import process from "node:process";
import { openSync } from "node:fs";
import { clearInterval, setInterval } from "node:timers";
import { closeQuietly, unlinkQuietly } from "./file_calls.ts";
import { CREATE_FLAGS } from "./publishing.ts";

/** After two rounds at the latest a file is gone. */
const ROUND_MS = 500;

interface ReadyFile {
  readonly fd: number;
  isOld: boolean;
}

const files = new Map<string, ReadyFile>();
let timer: ReturnType<typeof setInterval> | undefined;

/** Makes a file. Fails when one is there, or none can be made. */
export function makeReady(path: string): void {
  files.set(path, { fd: openSync(path, CREATE_FLAGS, 0o600), isOld: false });
  if (!timer) {
    timer = setInterval(dropOld, ROUND_MS);
    timer.unref();
    process.once("exit", dropAll);
  }
}

/** Returns the descriptor of a file that was made ahead, which is the caller's from now on. */
export function takeReady(path: string): number | undefined {
  const file = files.get(path);
  if (file) files.delete(path);
  return file?.fd;
}

/** Removes a file that was made ahead, if there is one. */
export function dropReady(path: string): void {
  const file = files.get(path);
  if (file) drop(path, file);
}

function dropOld(): void {
  for (const [path, file] of files) {
    if (file.isOld) drop(path, file);
    file.isOld = true;
  }
  if (files.size > 0) return;
  clearInterval(timer);
  timer = undefined;
  process.off("exit", dropAll);
}

function dropAll(): void {
  for (const [path, file] of files) drop(path, file);
}

function drop(path: string, { fd }: ReadyFile): void {
  files.delete(path);
  closeQuietly(fd);
  unlinkQuietly(path);
}
