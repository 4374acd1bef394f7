/** The seam through which chance comes in, so that tests and the simulator can draw it from a seed. */

export interface Randomness {
  /** Returns `length` random bytes. */
  bytes(length: number): Uint8Array;
  /** Returns a number in [0, 1). */
  fraction(): number;
}

/** The machine's own randomness, unpredictable. */
export const systemRandomness: Randomness = {
  bytes: systemBytes,
  fraction: () => Math.random(),
};

/** What one call of the runtime gives at most. */
const MOST_BYTES = 65_536;

function systemBytes(length: number): Uint8Array {
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += MOST_BYTES) crypto.getRandomValues(bytes.subarray(at, at + MOST_BYTES));
  return bytes;
}

/** Returns a repeatable source (xoshiro128**) for tests; not for names that others must not guess. */
export function seededRandomness(seed: number): Randomness {
  const state = new Uint32Array(4);
  let mix = seed >>> 0;
  for (let i = 0; i < 4; i++) {
    mix = (mix + 0x9e3779b9) >>> 0;
    let z = mix;
    z = Math.imul(z ^ (z >>> 16), 0x85ebca6b);
    z = Math.imul(z ^ (z >>> 13), 0xc2b2ae35);
    state[i] = z ^ (z >>> 16);
  }
  const rotate = (x: number, k: number) => (x << k) | (x >>> (32 - k));
  const next = (): number => {
    const result = Math.imul(rotate(Math.imul(state[1]!, 5), 7), 9) >>> 0;
    const t = state[1]! << 9;
    state[2]! ^= state[0]!;
    state[3]! ^= state[1]!;
    state[1]! ^= state[2]!;
    state[0]! ^= state[3]!;
    state[2]! ^= t;
    state[3] = rotate(state[3]!, 11);
    return result;
  };
  return {
    bytes: (length) => Uint8Array.from({ length }, () => next() & 0xff),
    fraction: () => next() / 2 ** 32,
  };
}
