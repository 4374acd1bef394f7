/**
 * The kernel: WebAssembly made of `snappy_kernel.wat` and `table_kernel.wat`, which tell what its functions do. Its memory
 * is shared by all who call it; nobody leaves anything there from one call to the next but who fills it.
 */

import { Buffer } from "node:buffer";
import { KERNEL_CODE } from "./kernel_code.ts";

export const KERNEL_MEMORY_BYTES = 2 * 1024 * 1024;

export interface KernelExports {
  readonly memory: WebAssembly.Memory;
  decompress(input: number, inputEnd: number, output: number, outputEnd: number): number;
  compress(start: number, end: number, output: number, tableBits: number): number;
  checksum(at: number, end: number): number;
  isAscii(at: number, end: number): number;
  open(stored: number, length: number): number;
  store(input: number, inputEnd: number, output: number, tableBits: number): number;
}

let exports: KernelExports | undefined;

/** Returns the kernel, which the first call makes: one to four milliseconds. */
export function loadKernel(): KernelExports {
  return exports ??= makeKernel();
}

function makeKernel(): KernelExports {
  const module = new WebAssembly.Module(new Uint8Array(Buffer.from(KERNEL_CODE, "base64")));
  return new WebAssembly.Instance(module).exports as unknown as KernelExports;
}
