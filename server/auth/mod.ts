/** Who is asking: access keys, tokens and cookies. */

import { Buffer } from "node:buffer";
import { timingSafeEqual } from "node:crypto";
import { sha256 } from "../../base/hashes.ts";
import { lossyText, utf8 } from "../../base/bytes.ts";
import type { Clock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import type { Randomness } from "../../base/randomness.ts";
import type { KvStore } from "../../kv/store.ts";
import {
  credentialKey,
  type CredentialRecord,
  decodeRecord,
  RecordReader,
  userKey,
  type UserRecord,
} from "./records.ts";
import { unseal } from "./sealing.ts";
import { derivedKey, readOrMakeSecretKey, readSecretKey } from "./secret_key.ts";
import { type Signer, SigningKeys } from "./signing.ts";
import { LoginThrottle } from "./throttle.ts";
import { signToken, verifyToken } from "./tokens.ts";
import { Users } from "./users.ts";

export type { CredentialRecord, UserRecord } from "./records.ts";
export { checkSecretKey } from "./secret_key.ts";
export type { Signer, SigningKeys } from "./signing.ts";
export { type ListPage, type ListRequest, type NewCredential, randomText, type Users } from "./users.ts";

export interface AuthOptions {
  readonly kv: KvStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** The file with the key of sealed secrets; made with the first user. */
  readonly secretKeyFile: string;
}

/** Who a request is from, and how that was shown. */
export interface Principal {
  readonly user: UserRecord;
  readonly by: "basic" | "bearer" | "cookie";
}

/** What of a request says who it is from. */
export interface Presented {
  readonly authorization: string | null;
  readonly cookie: string | null;
  /** Where the request comes from; asked for only when it matters. */
  readonly address: () => string;
}

/** lakeFS's name of it, which its page knows. */
export const SESSION_COOKIE = "internal_auth_session";
const TOKEN_SECONDS = 7 * 24 * 60 * 60;

interface OpenCredential {
  readonly record: CredentialRecord;
  /** Secrets are compared by their hashes: these have one length. */
  readonly secretHash: Uint8Array;
  readonly signingKeys: SigningKeys;
}

const NO_HASH = new Uint8Array(32);

export class Auth {
  readonly users: Users;
  readonly #clock: Clock;
  readonly #throttle: LoginThrottle;
  readonly #credentials: RecordReader<OpenCredential>;
  readonly #userRecords: RecordReader<UserRecord>;
  readonly #options: AuthOptions;
  readonly #keys = new Map<string, Uint8Array>();

  constructor(options: AuthOptions) {
    this.#options = options;
    this.#clock = options.clock;
    this.#throttle = new LoginThrottle(options.clock);
    this.users = new Users({ ...options, sealingKey: (make) => this.#key("sealing", make) });
    this.#credentials = new RecordReader(options.kv, (value) => this.#open(value));
    this.#userRecords = new RecordReader(options.kv, (value) => decodeRecord<UserRecord>(value));
  }

  /**
   * Returns who a request is from; `undefined` when it says nothing of that. Fails with `unauthenticated` for what is wrong,
   * `too_many_logins`.
   */
  async identify({ authorization, cookie, address }: Presented): Promise<Principal | undefined> {
    if (authorization !== null) {
      const space = authorization.indexOf(" ");
      const scheme = authorization.slice(0, space).toLowerCase(),
        value = authorization.slice(space + 1).trim();
      if (scheme === "basic") {
        const { accessKeyId, secretAccessKey } = basicPair(value);
        return { user: (await this.#checkSecret(accessKeyId, secretAccessKey, address)).user, by: "basic" };
      }
      if (scheme === "bearer") return { user: await this.#userOfToken(value), by: "bearer" };
      throw unauthenticated();
    }
    const session = cookie === null ? undefined : cookieValue(cookie, SESSION_COOKIE);
    return session === undefined ? undefined : { user: await this.#userOfToken(session), by: "cookie" };
  }

  /** Fails with `secret_key_missing` and others of its kind when there are secrets and the key to them is not. */
  async checkKey(): Promise<void> {
    if (await this.users.isSetUp()) this.#key("sealing");
  }

  /** Returns a token for an access key and its secret. Fails with `unauthenticated`, `too_many_logins`. */
  async logIn(
    accessKeyId: string,
    secretAccessKey: string,
    { address }: { address: string },
  ): Promise<{ token: string; expiresAt: number }> {
    const { user } = await this.#checkSecret(accessKeyId, secretAccessKey, () => address);
    const iat = Math.floor(this.#clock.now() / 1000), exp = iat + TOKEN_SECONDS;
    const claims = { sub: user.id, uid: user.uid, key: accessKeyId, iat, exp };
    return { token: signToken(claims, this.#key("tokens")), expiresAt: exp };
  }

  async #checkSecret(
    accessKeyId: string,
    secret: string,
    address: () => string,
  ): Promise<{ user: UserRecord }> {
    this.#throttle.check(accessKeyId, address);
    const credential = await this.#credential(accessKeyId);
    const user = credential && await this.#userOf(credential.record.user, credential.record.userUid);
    // An unknown key takes as long as a wrong secret.
    const isRight = timingSafeEqual(sha256(utf8(secret)), credential?.secretHash ?? NO_HASH);
    if (isRight && user) {
      this.#throttle.succeeded(accessKeyId, address);
      return { user };
    }
    this.#throttle.failed(accessKeyId, address());
    throw unauthenticated();
  }

  /** Returns who signs with an access key; `undefined` if it is nobody's. */
  async signer(accessKeyId: string): Promise<Signer | undefined> {
    const credential = await this.#credential(accessKeyId);
    const user = credential && await this.#userOf(credential.record.user, credential.record.userUid);
    return credential && user && { user, keys: credential.signingKeys };
  }

  /**
   * Counts a signature, right or wrong: who makes many wrong ones is slowed down. Right ones pass even then: a link shows its
   * access key to everybody, and nobody may shut out the key's owner with it. Fails with `too_many_logins`.
   */
  signed(isRight: boolean, { accessKeyId, address }: { accessKeyId: string; address: () => string }): void {
    if (isRight) return this.#throttle.succeeded(accessKeyId, address);
    this.#throttle.check(accessKeyId, address);
    this.#throttle.failed(accessKeyId, address());
  }

  async #userOfToken(token: string): Promise<UserRecord> {
    if (!this.#keys.has("tokens") && !(await this.users.isSetUp())) throw unauthenticated();
    const claims = verifyToken(token, { key: this.#key("tokens"), nowMs: this.#clock.now() });
    const credential = await this.#credential(claims.key);
    const user = credential?.record.userUid === claims.uid
      ? await this.#userOf(claims.sub, claims.uid)
      : undefined;
    if (user) return user;
    throw unauthenticated();
  }

  async #credential(accessKeyId: string): Promise<OpenCredential | undefined> {
    // No key of ours is longer, and the key-value store would refuse it.
    return accessKeyId.length > 128
      ? undefined
      : await this.#credentials.read(accessKeyId, credentialKey(accessKeyId));
  }

  async #userOf(id: string, uid: string): Promise<UserRecord | undefined> {
    const user = await this.#userRecords.read(id, userKey(id));
    return user?.uid === uid ? user : undefined;
  }

  #open(value: Uint8Array): OpenCredential {
    const record = decodeRecord<CredentialRecord>(value);
    const sealed = new Uint8Array(Buffer.from(record.sealed, "base64"));
    const secret = () => unseal(sealed, { key: this.#key("sealing"), name: record.accessKeyId });
    return { record, secretHash: sha256(utf8(secret())), signingKeys: new SigningKeys(secret) };
  }

  #key(purpose: "sealing" | "tokens", make = false): Uint8Array {
    const known = this.#keys.get(purpose);
    if (known) return known;
    const { secretKeyFile, randomness } = this.#options;
    const secretKey = make ? readOrMakeSecretKey(secretKeyFile, randomness) : readSecretKey(secretKeyFile);
    const key = derivedKey(secretKey, purpose);
    this.#keys.set(purpose, key);
    return key;
  }
}

export function unauthenticated(): CodedError {
  return new CodedError("unauthenticated", "unauthenticated", "error authenticating request");
}

function basicPair(value: string): { accessKeyId: string; secretAccessKey: string } {
  const text = lossyText(Buffer.from(value, "base64"));
  const colon = text.indexOf(":");
  if (colon < 0) throw unauthenticated();
  return { accessKeyId: text.slice(0, colon), secretAccessKey: text.slice(colon + 1) };
}

function cookieValue(header: string, name: string): string | undefined {
  for (const pair of header.split(";")) {
    const equals = pair.indexOf("=");
    if (pair.slice(0, equals).trim() === name) return pair.slice(equals + 1).trim();
  }
  return undefined;
}
