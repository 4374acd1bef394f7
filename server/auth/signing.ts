/** What AWS's signatures are made with: of version 4, keys derived from a secret for a day, a region and S3. */

import { createHmac } from "node:crypto";
import type { UserRecord } from "./records.ts";

/** What a key is good for: a day as `20261130`, and a region's name. */
export interface SigningScope {
  readonly date: string;
  readonly region: string;
}

/** Whose an access key is, and the keys that sign in its name. */
export interface Signer {
  readonly user: UserRecord;
  readonly keys: SigningKeys;
}

/** A client uses one region, and two days around midnight. */
const MOST_KEPT = 8;

export class SigningKeys {
  readonly #secret: () => string;
  readonly #made = new Map<string, Uint8Array>();

  /** `secret` is asked for when a key is made, and not kept. */
  constructor(secret: () => string) {
    this.#secret = secret;
  }

  /** Returns the key of a scope. */
  of({ date, region }: SigningScope): Uint8Array {
    const scope = `${date}/${region}`;
    const known = this.#made.get(scope);
    if (known) return known;
    const key = [date, region, "s3", "aws4_request"].reduce<string | Uint8Array>(
      (above, part) => createHmac("sha256", above).update(part).digest(),
      `AWS4${this.#secret()}`,
    ) as Uint8Array;
    if (this.#made.size >= MOST_KEPT) this.#made.delete(this.#made.keys().next().value!);
    this.#made.set(scope, key);
    return key;
  }

  /** Returns what signs a text in S3's way before there were such keys: HMAC-SHA-1 under the secret itself. */
  oldSignature(text: Uint8Array): Uint8Array {
    return createHmac("sha1", this.#secret()).update(text).digest();
  }
}
