/** Users and their credentials in the key-value store. Secrets lie sealed; each is shown once, when it is made. */

import { Buffer } from "node:buffer";
import { hex, isWellFormed, lossyText, utf8 } from "../../base/bytes.ts";
import type { Clock } from "../../base/clock.ts";
import { CodedError, isCoded } from "../../base/errors.ts";
import type { Randomness } from "../../base/randomness.ts";
import type { KvStore } from "../../kv/store.ts";
import {
  AUTH_PARTITION,
  credentialKey,
  type CredentialRecord,
  decodeRecord,
  encodeRecord,
  ownedPrefix,
  SETUP_KEY,
  type SetupRecord,
  userKey,
  type UserRecord,
} from "./records.ts";
import { seal } from "./sealing.ts";

/** A credential as it is shown once. */
export interface NewCredential {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  /** Seconds since the epoch. */
  readonly created: number;
}

export interface ListPage<T> {
  readonly items: readonly T[];
  readonly hasMore: boolean;
}

export interface ListRequest {
  readonly prefix?: string;
  readonly after?: string;
  readonly amount: number;
}

export interface UsersContext {
  readonly kv: KvStore;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** The key for sealing; made if there is none yet and `make` is set. */
  readonly sealingKey: (make: boolean) => Uint8Array;
}

export class Users {
  readonly #context: UsersContext;

  constructor(context: UsersContext) {
    this.#context = context;
  }

  /** Whether there has been a first user. Finishes what a killed set-up left. */
  async isSetUp(): Promise<boolean> {
    const found = await this.#kv.get(AUTH_PARTITION, SETUP_KEY);
    if (!found) return false;
    const record = decodeRecord<SetupRecord>(found.value);
    if (!record.isDone) await this.#finishSetup(record);
    return true;
  }

  /** Fails with `already_set_up`, `invalid_user_name` where {@link setUp} would. */
  async checkSetUp(id: string): Promise<void> {
    if (await this.isSetUp()) throw alreadySetUp();
    checkUserName(id);
  }

  /** Makes the first user with a credential; works once. Fails with `already_set_up` (kind `exists`). */
  async setUp(id: string, given?: { accessKeyId: string; secretAccessKey: string }): Promise<NewCredential> {
    if (await this.isSetUp()) throw alreadySetUp();
    const user = this.#newUser(id);
    const { credential, shown } = this.#newCredential(user, { given, makeKey: true });
    const record: SetupRecord = { user, credential, isDone: false };
    try {
      await this.#kv.setIf(AUTH_PARTITION, SETUP_KEY, encodeRecord(record), undefined);
    } catch (error) {
      throw isCoded(error, "predicate_failed") ? alreadySetUp() : error;
    }
    await this.#finishSetup(record);
    return shown;
  }

  async list(request: ListRequest): Promise<ListPage<UserRecord>> {
    return await this.#page(request, {
      prefix: "users/",
      make: (_, value) => decodeRecord<UserRecord>(value),
    });
  }

  /** Makes a user without credentials. Fails with `user_exists`. */
  async create(id: string): Promise<UserRecord> {
    const user = this.#newUser(id);
    try {
      await this.#kv.setIf(AUTH_PARTITION, userKey(id), encodeRecord(user), undefined);
    } catch (error) {
      if (!isCoded(error, "predicate_failed")) throw error;
      throw new CodedError("exists", "user_exists", `Cannot create user "${id}": there is one of that name`);
    }
    return user;
  }

  /** Fails with `user_not_found`. */
  async get(id: string): Promise<UserRecord> {
    const found = await this.#kv.get(AUTH_PARTITION, userKey(id));
    if (found) return decodeRecord<UserRecord>(found.value);
    throw new CodedError(
      "not_found",
      "user_not_found",
      `Cannot find user "${id}": there is none of that name`,
    );
  }

  /** Deletes a user: its credentials and tokens end with it. Fails with `user_not_found`. */
  async delete(id: string): Promise<void> {
    const user = await this.get(id);
    await this.#kv.delete(AUTH_PARTITION, userKey(id));
    const prefix = utf8(ownedPrefix(user.uid));
    for await (const page of this.#kv.scan(AUTH_PARTITION, { prefix })) {
      const names = page.map(({ key }) => lossyText(key.subarray(prefix.length)));
      await this.#kv.deleteMany(AUTH_PARTITION, [...names.map(credentialKey), ...page.map(({ key }) => key)]);
    }
  }

  async listCredentials(id: string, request: ListRequest): Promise<ListPage<CredentialRecord>> {
    const user = await this.get(id);
    const page = await this.#page(request, { prefix: ownedPrefix(user.uid), make: (name) => name });
    const found = await Promise.all(page.items.map((name) => this.#findCredential(user, name)));
    return { ...page, items: found.filter((one) => one !== undefined) };
  }

  /** Makes a credential; its secret is in the answer and nowhere else. Fails with `user_not_found`. */
  async createCredential(id: string): Promise<NewCredential> {
    const user = await this.get(id);
    const { credential, shown } = this.#newCredential(user, { makeKey: false });
    await this.#putCredential(credential);
    return shown;
  }

  /** Fails with `user_not_found`, `credential_not_found`. */
  async getCredential(id: string, accessKeyId: string): Promise<CredentialRecord> {
    const found = await this.#findCredential(await this.get(id), accessKeyId);
    if (found) return found;
    throw new CodedError(
      "not_found",
      "credential_not_found",
      `Cannot find access key "${accessKeyId}": user "${id}" has none of that name`,
    );
  }

  async deleteCredential(id: string, accessKeyId: string): Promise<void> {
    const { userUid } = await this.getCredential(id, accessKeyId);
    await this.#kv.delete(AUTH_PARTITION, credentialKey(accessKeyId));
    await this.#kv.delete(AUTH_PARTITION, utf8(ownedPrefix(userUid) + accessKeyId));
  }

  get #kv(): KvStore {
    return this.#context.kv;
  }

  async #finishSetup(record: SetupRecord): Promise<void> {
    await this.#kv.set(AUTH_PARTITION, userKey(record.user.id), encodeRecord(record.user));
    await this.#putCredential(record.credential);
    await this.#kv.set(AUTH_PARTITION, SETUP_KEY, encodeRecord({ ...record, isDone: true }));
  }

  /** The index first: a credential that works is always listed. */
  async #putCredential(credential: CredentialRecord): Promise<void> {
    const { accessKeyId, userUid } = credential;
    await this.#kv.set(AUTH_PARTITION, utf8(ownedPrefix(userUid) + accessKeyId), utf8("{}"));
    await this.#kv.set(AUTH_PARTITION, credentialKey(accessKeyId), encodeRecord(credential));
  }

  async #findCredential(user: UserRecord, accessKeyId: string): Promise<CredentialRecord | undefined> {
    const found = await this.#kv.get(AUTH_PARTITION, credentialKey(accessKeyId));
    const record = found && decodeRecord<CredentialRecord>(found.value);
    return record?.userUid === user.uid ? record : undefined;
  }

  #newUser(id: string): UserRecord {
    checkUserName(id);
    return { id, uid: hex(this.#context.randomness.bytes(8)), created: this.#seconds() };
  }

  #newCredential(
    user: UserRecord,
    { given, makeKey }: {
      given?: { accessKeyId: string; secretAccessKey: string } | undefined;
      makeKey: boolean;
    },
  ): { credential: CredentialRecord; shown: NewCredential } {
    const { randomness } = this.#context;
    if (given) checkGiven(given);
    const accessKeyId = given?.accessKeyId ??
      `TARN${randomText(randomness, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", 16)}`;
    const secretAccessKey = given?.secretAccessKey ?? randomText(randomness, ALPHANUMERIC, 40);
    const created = this.#seconds();
    const sealed = seal(secretAccessKey, {
      key: this.#context.sealingKey(makeKey),
      name: accessKeyId,
      randomness,
    });
    return {
      credential: {
        accessKeyId,
        user: user.id,
        userUid: user.uid,
        created,
        sealed: Buffer.from(sealed).toString("base64"),
      },
      shown: { accessKeyId, secretAccessKey, created },
    };
  }

  #seconds(): number {
    return Math.floor(this.#context.clock.now() / 1000);
  }

  async #page<T>(
    { prefix = "", after, amount }: ListRequest,
    { prefix: kind, make }: { prefix: string; make: (name: string, value: Uint8Array) => T },
  ): Promise<ListPage<T>> {
    const items: T[] = [];
    const options = {
      prefix: utf8(kind + prefix),
      pageSize: amount + 1,
      ...(after ? { start: utf8(`${kind}${after}\0`) } : {}),
    };
    for await (const page of this.#kv.scan(AUTH_PARTITION, options)) {
      for (const { key, value } of page) {
        if (items.length === amount) return { items, hasMore: true };
        items.push(make(lossyText(key).slice(kind.length), value));
      }
    }
    return { items, hasMore: false };
  }
}

const ALPHANUMERIC = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

/** Returns characters of an alphabet, each as likely as any other. */
export function randomText(randomness: Randomness, alphabet: string, length: number): string {
  const end = 256 - 256 % alphabet.length;
  let text = "";
  while (text.length < length) {
    for (const byte of randomness.bytes(2 * length)) {
      if (byte < end && text.length < length) text += alphabet[byte % alphabet.length];
    }
  }
  return text;
}

function checkUserName(id: string): void {
  const isPlain = id !== "" && isWellFormed(id) && id.trim() === id && utf8(id).length <= 255 &&
    !/[\p{Cc}\p{Cf}]/u.test(id);
  if (isPlain) return;
  throw new CodedError(
    "invalid",
    "invalid_user_name",
    `Cannot use "${
      id.slice(0, 100)
    }" as a user name: it must be 1 to 255 bytes of text without control characters`,
  );
}

function checkGiven(
  { accessKeyId, secretAccessKey }: { accessKeyId: string; secretAccessKey: string },
): void {
  if (/^[A-Za-z0-9._-]{3,128}$/.test(accessKeyId) && /^[\x21-\x7e]{16,256}$/.test(secretAccessKey)) return;
  throw new CodedError(
    "invalid",
    "invalid_credential",
    "Cannot use the given credential: an access key has 3 to 128 letters, digits, ., _ and -, a secret 16 to 256 printable characters",
  );
}

function alreadySetUp(): CodedError {
  return new CodedError("exists", "already_set_up", "Cannot set up: there is a first user already");
}
