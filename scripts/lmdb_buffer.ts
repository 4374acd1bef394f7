/**
 * Makes the buffer smaller that LMDB's native part takes when it is loaded: 64 KiB in place of 16 MiB. The memory itself would
 * hardly be touched, but the runtime counts it as a third of what it lets a program take before it collects garbage, and so a
 * short command collected, for some milliseconds. For a value that does not fit the package takes a larger one.
 *
 * The size stands in two instructions: where the buffer is taken, and where its size is noted.
 */

import { Buffer } from "node:buffer";
import { isElf } from "./elf.ts";

/** A place in the code, how it has to look, and what it becomes. */
interface Change {
  readonly from: readonly number[];
  readonly to: readonly number[];
}

const MACHINE_AT = 0x12;
const X86_64 = 0x3e;
/** mov esi, 0x1000000; mov rdi, r12; call …, and mov qword [rax], 0x1000000 */
const CHANGES: readonly Change[] = [
  { from: [0xbe, 0, 0, 0, 1, 0x4c, 0x89, 0xe7, 0xe8], to: [0xbe, 0, 0, 1, 0, 0x4c, 0x89, 0xe7, 0xe8] },
  { from: [0x48, 0xc7, 0, 0, 0, 0, 1], to: [0x48, 0xc7, 0, 0, 0, 1, 0] },
];

/** Returns a library for x86-64 with the smaller buffer. Throws when its code is not as expected. */
export function withSmallerBuffer(library: Uint8Array): Uint8Array {
  if (!isElf(library) || library[MACHINE_AT] !== X86_64) throw notAsExpected();
  const content = Buffer.from(library);
  for (const { from, to } of CHANGES) {
    const at = content.indexOf(Buffer.from(from));
    if (at < 0 || content.indexOf(Buffer.from(from), at + 1) >= 0) {
      throw notAsExpected();
    }
    content.set(to, at);
  }
  return content;
}

function notAsExpected(): Error {
  return new Error("lmdb is not as expected: the instructions that take its buffer were not found once");
}
