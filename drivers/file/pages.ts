/**
 * The pages of memory in which the system holds files: what it is told about them saves time, and changes nothing else.
 *
 * A page that no program has used lately may be one that a virtual machine's host has taken back, and then costs 8 µs
 * instead of half a one. So pages that nobody will want again are best let go before others are needed.
 */

import { findPageAdvice, type PageAdvice } from "../../base/platform.ts";
import { closeQuietly } from "./file_calls.ts";
import type { Place } from "./placement.ts";
import { openRegularFile } from "./reading.ts";

/** Finding the calls takes a millisecond: more than they save a short command, which writes fewer files. */
const FILES_BEFORE = 8;

let files = 0;
let advice: PageAdvice | undefined;

/** Each time that so much was written, the disk begins with it. */
const STEP_BYTES = 512 * 1024;

/** Has a new file written to the disk while there is other work to do: the flush that follows finds little left. */
export class EarlyWriting {
  #waitingBytes = 0;

  wrote(fd: number, bytes: number): void {
    this.#waitingBytes += bytes;
    if (this.#waitingBytes < STEP_BYTES) return;
    this.#waitingBytes = 0;
    advice?.write(fd);
  }

  /** Is told that all is written. */
  finish(fd: number): void {
    if (this.#waitingBytes > 0) advice?.write(fd);
    if (++files === FILES_BEFORE) void findPageAdvice().then((found) => advice = found);
  }
}

/** Lets go of the pages of a file, if it is there. Never fails. */
export function letPagesGo(place: () => Place): void {
  if (!advice) return;
  try {
    const { fd } = openRegularFile(place());
    advice.letGo(fd);
    closeQuietly(fd);
  } catch {
    // Nobody is worse off.
  }
}
