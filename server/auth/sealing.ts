/** Sealing secrets: AES-256-GCM, bound to the name of what they belong to. */

import { createCipheriv, createDecipheriv } from "node:crypto";
import { concatBytes, lossyText, utf8 } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import type { Randomness } from "../../base/randomness.ts";

const ALGORITHM = "aes-256-gcm";
const NONCE_BYTES = 12, TAG_BYTES = 16;

/** Returns nonce, tag and sealed text as one. */
export function seal(
  text: string,
  { key, name, randomness }: { key: Uint8Array; name: string; randomness: Randomness },
): Uint8Array {
  const nonce = randomness.bytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, key, nonce);
  cipher.setAAD(utf8(name));
  const sealed = concatBytes(cipher.update(text, "utf8"), cipher.final());
  return concatBytes(nonce, cipher.getAuthTag(), sealed);
}

/** Returns what was sealed under this name. Fails with `secret_key_wrong`. */
export function unseal(sealed: Uint8Array, { key, name }: { key: Uint8Array; name: string }): string {
  try {
    const decipher = createDecipheriv(ALGORITHM, key, sealed.subarray(0, NONCE_BYTES));
    decipher.setAAD(utf8(name));
    decipher.setAuthTag(sealed.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
    return lossyText(
      concatBytes(decipher.update(sealed.subarray(NONCE_BYTES + TAG_BYTES)), decipher.final()),
    );
  } catch (error) {
    throw new CodedError(
      "unavailable",
      "secret_key_wrong",
      "Cannot open a sealed secret: it was sealed under another key, or is damaged",
      { cause: error },
    );
  }
}
