/**
 * What authentication keeps: JSON in the partition `tarn-auth`.
 *
 * ```
 * setup                          the first user and credential; written once, by compare-and-set
 * users/<id>                     UserRecord
 * credentials/<access key>       CredentialRecord
 * owned/<user uid>/<access key>  nothing: which credentials are a user's
 * ```
 *
 * A user's records name its `uid`, not its name: credentials and tokens of a deleted user are none of a later one's.
 */

import { equalBytes, lossyText, utf8 } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import type { KvStore, KvValue } from "../../kv/store.ts";

export const AUTH_PARTITION: Uint8Array = utf8("tarn-auth");

export interface UserRecord {
  readonly id: string;
  readonly uid: string;
  /** Seconds since the epoch. */
  readonly created: number;
}

export interface CredentialRecord {
  readonly accessKeyId: string;
  readonly user: string;
  readonly userUid: string;
  readonly created: number;
  /** The sealed secret, in base64. */
  readonly sealed: string;
}

export interface SetupRecord {
  readonly user: UserRecord;
  readonly credential: CredentialRecord;
  /** Whether both are in their own records too. */
  readonly isDone: boolean;
}

export const SETUP_KEY: Uint8Array = utf8("setup");

export const userKey = (id: string): Uint8Array => utf8(`users/${id}`);
export const credentialKey = (accessKeyId: string): Uint8Array => utf8(`credentials/${accessKeyId}`);
export const ownedPrefix = (userUid: string): string => `owned/${userUid}/`;

export function encodeRecord(record: UserRecord | CredentialRecord | SetupRecord): Uint8Array {
  return utf8(JSON.stringify(record));
}

/** Returns a record of our own. Fails with `corrupt_record`. */
export function decodeRecord<T>(value: Uint8Array): T {
  try {
    return JSON.parse(lossyText(value)) as T;
  } catch (error) {
    throw new CodedError("corrupt", "corrupt_record", "Cannot read a record of users: it does not decode", {
      cause: error,
    });
  }
}

const MOST_DECODED = 1000;

/** Reads records and keeps what was made of them, by their very bytes: of a record that changed nothing old is used. */
export class RecordReader<T> {
  readonly #kv: KvStore;
  readonly #make: (value: Uint8Array) => T;
  readonly #made = new Map<string, { readonly value: Uint8Array; readonly result: T }>();

  constructor(kv: KvStore, make: (value: Uint8Array) => T) {
    this.#kv = kv;
    this.#make = make;
  }

  async read(name: string, key: Uint8Array): Promise<T | undefined> {
    const found: KvValue | undefined = await this.#kv.get(AUTH_PARTITION, key);
    if (!found) {
      this.#made.delete(name);
      return undefined;
    }
    const known = this.#made.get(name);
    if (known && equalBytes(known.value, found.value)) return known.result;
    const result = this.#make(found.value);
    if (this.#made.size >= MOST_DECODED) this.#made.delete(this.#made.keys().next().value!);
    this.#made.set(name, { value: found.value.slice(), result });
    return result;
  }
}
