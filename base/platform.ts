/**
 * What differs between runtimes. The only file (beside `server/listen.ts`) that touches Bun's own APIs; each has a
 * fallback on `node:` APIs, so that the main job runs under Deno too.
 */

interface BunLike {
  readonly version: string;
  readonly SHA256: { hash(input: Uint8Array, into: Uint8Array): Uint8Array };
}

const bun = (globalThis as { Bun?: BunLike }).Bun;

/** Writes a SHA-256 into a given array without allocating, where the runtime can; else `undefined`. */
export const digestInto: ((bytes: Uint8Array, out: Uint8Array) => void) | undefined = bun?.SHA256
  ? (bytes, out) => void bun.SHA256.hash(bytes, out)
  : undefined;

/** The runtime and its version, as `tarn version` prints it. */
export function runtimeName(): string {
  if (bun) return `bun ${bun.version}`;
  const deno = (globalThis as { Deno?: { version: { deno: string } } }).Deno;
  return deno ? `deno ${deno.version.deno}` : "node";
}
