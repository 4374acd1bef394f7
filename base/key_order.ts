/** The byte order of keys, told from their texts. */

import { compareBytes, utf8 } from "./bytes.ts";

/**
 * Compares keys as `compareBytes` does their UTF-8, without encoding them: below the surrogates, UTF-16 units sort as the
 * bytes of their characters do.
 */
export function compareKeys(a: string, b: string): number {
  const length = Math.min(a.length, b.length);
  for (let i = 0; i < length; i++) {
    const left = a.charCodeAt(i), right = b.charCodeAt(i);
    if (left === right) continue;
    return left < 0xd800 && right < 0xd800 ? left - right : compareBytes(utf8(a), utf8(b));
  }
  return a.length - b.length;
}
