/** What this machine's disk does: the yardstick of figures that have no peer. */

import { closeSync, fdatasyncSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { median } from "./measuring.ts";

/** Returns the median seconds of an fdatasync after 4 KiB were added to a file. */
export function flushSeconds(folder: string): number {
  const file = openSync(join(folder, "flushes"), "w");
  const page = new Uint8Array(4096);
  const seen = Array.from({ length: 101 }, () => {
    writeSync(file, page);
    const start = performance.now();
    fdatasyncSync(file);
    return (performance.now() - start) / 1000;
  });
  closeSync(file);
  return median(seen);
}

/**
 * Returns the median seconds that writing a new file takes, without its flush: its pages may be memory that a virtual machine's
 * host has to find first. Another `round` writes other files.
 */
export function newFileSeconds(folder: string, bytes: number, round: number): number {
  const piece = new Uint8Array(256 * 1024).map((_, i) => (i * 2654435761) >>> 13);
  return median(Array.from({ length: 100 }, (_, i) => {
    const file = openSync(join(folder, `new-${round}-${i}`), "w");
    const start = performance.now();
    for (let left = bytes; left > 0; left -= piece.length) {
      writeSync(file, piece, 0, Math.min(left, piece.length));
    }
    const seconds = (performance.now() - start) / 1000;
    fdatasyncSync(file);
    closeSync(file);
    return seconds;
  }));
}

/** Returns the median bytes a second at which a file of 64 MiB is written and flushed. */
export function writeRate(folder: string): number {
  const piece = new Uint8Array(1024 * 1024).map((_, i) => (i * 2654435761) >>> 13);
  const pieces = 64;
  return median(Array.from({ length: 5 }, (_, round) => {
    const file = openSync(join(folder, `written-${round}`), "w");
    const start = performance.now();
    for (let i = 0; i < pieces; i++) writeSync(file, piece);
    fsyncSync(file);
    const seconds = (performance.now() - start) / 1000;
    closeSync(file);
    return piece.length * pieces / seconds;
  }));
}
