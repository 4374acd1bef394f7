/** What users note on a repository: one record, `metadata`, in its partition. It goes with the repository. */

import { utf8 } from "../../base/bytes.ts";
import { CodedError, isCoded } from "../../base/errors.ts";
import type { KvStore, KvValue } from "../../kv/store.ts";
import { decodeRepositoryMetadata, encodeRepositoryMetadata } from "./records.ts";

const KEY = utf8("metadata");
const MAX_ATTEMPTS = 100;

export type Metadata = Readonly<Record<string, string>>;

export class RepositoryMetadata {
  readonly #kv: KvStore;
  readonly #partition: Uint8Array;

  constructor(kv: KvStore, partition: Uint8Array) {
    this.#kv = kv;
    this.#partition = partition;
  }

  async get(): Promise<Metadata> {
    return decoded(await this.#kv.get(this.#partition, KEY));
  }

  /** Sets pairs and removes keys, in one change. Fails with `limit_exceeded`, `try_again`. */
  async change({ set = {}, remove = [] }: { set?: Metadata; remove?: readonly string[] }): Promise<void> {
    for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
      const found = await this.#kv.get(this.#partition, KEY);
      const pairs = new Map(Object.entries(decoded(found)));
      for (const key of remove) pairs.delete(key);
      for (const [key, value] of Object.entries(set)) pairs.set(key, value);
      try {
        const value = encodeRepositoryMetadata(Object.fromEntries(pairs));
        return await this.#kv.setIf(this.#partition, KEY, value, found?.predicate);
      } catch (error) {
        if (!isCoded(error, "predicate_failed")) throw error;
      }
    }
    throw new CodedError(
      "conflict",
      "try_again",
      "Cannot change the metadata of the repository: others kept changing it meanwhile; try again",
    );
  }
}

function decoded(found: KvValue | undefined): Metadata {
  return found ? decodeRepositoryMetadata(found.value) : {};
}
