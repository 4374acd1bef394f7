/** Standard input, output and error as files, written with back-pressure and never read ahead. */

import * as fs from "node:fs";
import { Buffer } from "node:buffer";
import { CodedError } from "../base/errors.ts";

const RETRY_MILLISECONDS = 5;
const CHUNK_BYTES = 256 * 1024;
/** Less than a pipe holds on any system. */
const PIPE_BYTES = 8 * 1024;

/** Takes bytes, and is done when they are on their way. */
export interface Sink {
  write(bytes: Uint8Array): Promise<void>;
}

/** Whoever read our output has stopped: no failure, but nothing more is worth writing. */
export class ReaderGone extends Error {
  override name = "ReaderGone";
}

/**
 * Standard output. Fails with {@link ReaderGone} or `output_failed`.
 *
 * The first bytes, which a pipe takes at once, are written by the caller's thread: waking another one costs a short command
 * a fifth of its time. What follows may have to wait for the reader, and meanwhile the program must hear signals.
 */
export function standardOutput(): Sink {
  let written = 0;
  return {
    async write(bytes) {
      const fits = written + bytes.length <= PIPE_BYTES;
      written += bytes.length;
      await writeAll(fits ? writeNow : (bytes, at) => writeSome(1, bytes, at), bytes);
    },
  };
}

/** Writes a line to standard error at once; one that cannot be written is lost. */
export function writeMessage(text: string): void {
  const bytes = Buffer.from(text, "utf8");
  for (let at = 0, tries = 0; at < bytes.length && tries < 1000;) {
    try {
      at += fs.writeSync(2, bytes, at);
    } catch (error) {
      if ((error as { code?: string }).code !== "EAGAIN") return;
      tries++;
    }
  }
}

type Write = (bytes: Uint8Array, at: number) => number | Promise<number>;

async function writeAll(write: Write, bytes: Uint8Array): Promise<void> {
  for (let at = 0; at < bytes.length;) {
    try {
      at += await write(bytes, at);
    } catch (error) {
      const code = (error as { code?: string }).code;
      if (code === "EAGAIN") await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
      else if (code === "EPIPE") throw new ReaderGone();
      else {
        const why = code === "ENOSPC" ? "the disk is full" : code ?? String(error);
        throw new CodedError("unavailable", "output_failed", `Cannot write to standard output: ${why}`, {
          cause: error,
        });
      }
    }
  }
}

function writeNow(bytes: Uint8Array, at: number): number {
  return fs.writeSync(1, bytes, at, bytes.length - at);
}

/** Writes some of the bytes from `at` on, by another thread than the caller's; returns how many. */
export function writeSome(descriptor: number, bytes: Uint8Array, at: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.write(descriptor, bytes, at, bytes.length - at, null, (error, written) => {
      if (error) reject(error);
      else resolve(written);
    });
  });
}

/**
 * Yields what can be read from a file descriptor up to its end, from where it stands or from `position`. Each piece is
 * the caller's own.
 */
export async function* readDescriptor(
  descriptor: number,
  position?: () => number,
): AsyncGenerator<Uint8Array> {
  while (true) {
    const piece = new Uint8Array(CHUNK_BYTES);
    const length = await readSome(descriptor, piece, position?.());
    if (length === 0) return;
    if (length > 0) yield piece.subarray(0, length);
    else await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
  }
}

/** Returns -1 when there is nothing to read yet. */
function readSome(descriptor: number, into: Uint8Array, position?: number): Promise<number> {
  return new Promise((resolve, reject) => {
    fs.read(descriptor, into, 0, into.length, position ?? null, (error, length) => {
      if (!error) resolve(length);
      else if (error.code === "EAGAIN") resolve(-1);
      else if (error.code === "EOF") resolve(0);
      else reject(error);
    });
  });
}

/** Reads one line from standard input, without its end; `undefined` at the end of input. */
export async function readLine(): Promise<string | undefined> {
  const one = new Uint8Array(1);
  const line: number[] = [];
  while (true) {
    const length = await readSome(0, one);
    if (length === 0) return line.length > 0 ? Buffer.from(line).toString("utf8") : undefined;
    if (length < 0) await new Promise((resolve) => setTimeout(resolve, RETRY_MILLISECONDS));
    else if (one[0] === 0x0a) return Buffer.from(line).toString("utf8").replace(/\r$/, "");
    else line.push(one[0]!);
  }
}
