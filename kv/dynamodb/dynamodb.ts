/**
 * The KV store in a DynamoDB table: for homes that several machines share without a server of their own. The table is
 * described in `table.ts`, how lost answers are recognised in `../versions.ts`.
 *
 * Strongly consistent because every read asks for that (`ConsistentRead`), and because a condition is checked and its item
 * written as one step. Durable because the service answers when the item is on several machines' disks.
 *
 * Nothing can call back a request whose answer was lost; its connection is closed, and the service drops or carries out what
 * it has within moments. The pause before another attempt is the only fence there is, so `set` may be seen twice in an order
 * of writes by others at that very moment. `setIf` cannot: its condition holds once.
 */

import { asBuffer } from "../../base/bytes.ts";
import type { Clock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import type { Randomness } from "../../base/randomness.ts";
import { retrying } from "../retrying.ts";
import { scanRange } from "../scan_range.ts";
import type { KvEntry, KvValue, ListedKvStore, Predicate, ScanOptions } from "../store.ts";
import {
  newVersion,
  predicateFailed,
  type RecordVersions,
  settle,
  verdictOf,
  versionOf,
  type VersionPredicate,
} from "../versions.ts";
import { WriteOrder } from "../write_order.ts";
import { writeBatches } from "./batches.ts";
import { dynamoFailure, isNamed } from "./errors.ts";
import { rangeCondition } from "./ranges.ts";
import { bytesOf, dataOf, keyOf, makeTable } from "./table.ts";
import { type BatchedWrite, type DynamoClient, type Item, loadDynamo } from "./vendor.ts";

const CONNECT_TIMEOUT_MS = 5000;
const REQUEST_TIMEOUT_MS = 15_000;
/** Stands for the version of an item that was not there; no version is that short. */
const NO_VERSION = Uint8Array.of(0);

const READING = "Cannot read from the key-value store";
const WRITING = "Cannot write to the key-value store";

export interface DynamoOptions {
  readonly table: string;
  /** Default: what the environment and the user's AWS configuration say, as for credentials. */
  readonly region?: string;
  /** Another service than AWS's own. */
  readonly endpoint?: string;
  /** A profile of the user's AWS configuration. */
  readonly profile?: string;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** For tests. */
  readonly requestTimeoutMs?: number;
  readonly attempts?: number;
  readonly firstPauseMs?: number;
}

/**
 * Opens the store. Nothing is asked of the service before the first call, which makes the table when it is not there.
 *
 * Its calls fail with `kv_unavailable`, `kv_throttled`, `kv_unauthenticated`, `kv_forbidden`, `kv_corrupt`.
 */
export async function openDynamo(options: DynamoOptions): Promise<ListedKvStore> {
  const { region, endpoint, profile, requestTimeoutMs = REQUEST_TIMEOUT_MS } = options;
  const client = await loadDynamo({
    ...(region === undefined ? {} : { region }),
    ...(endpoint === undefined ? {} : { endpoint }),
    ...(profile === undefined ? {} : { profile }),
    maxAttempts: 1,
    requestHandler: {
      connectionTimeout: CONNECT_TIMEOUT_MS,
      requestTimeout: requestTimeoutMs,
      throwOnRequestTimeout: true,
    },
  });
  return new DynamoKvStore(client, options);
}

class DynamoKvStore implements ListedKvStore {
  readonly #client: DynamoClient;
  readonly #options: DynamoOptions;
  readonly #order = new WriteOrder();
  readonly #table: { readonly TableName: string };
  #making: Promise<void> | undefined;
  #closed = false;

  constructor(client: DynamoClient, options: DynamoOptions) {
    this.#client = client;
    this.#options = options;
    this.#table = { TableName: options.table };
  }

  async get(partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined> {
    const { Item } = await this.#running(
      READING,
      () => this.#client.getItem({ ...this.#table, Key: keyOf(partition, key), ConsistentRead: true }),
    );
    if (!Item) return undefined;
    const predicate: VersionPredicate = { kvPredicate: bytesOf(Item, "v") };
    return { value: bytesOf(Item, "d"), predicate };
  }

  async set(partition: Uint8Array, key: Uint8Array, value: Uint8Array): Promise<void> {
    const ours = newVersion(this.#options.randomness);
    const values = { ":v": { B: ours }, ":none": { B: NO_VERSION } };
    // The right side of each assignment is the item as it was before.
    const update = "SET r = if_not_exists(v, :none), v = :v";
    const request = {
      ...this.#table,
      Key: keyOf(partition, key),
      ...(value.length > 0
        ? {
          UpdateExpression: `${update}, d = :d`,
          ExpressionAttributeValues: { ...values, ":d": { B: value } },
        }
        : { UpdateExpression: `${update} REMOVE d`, ExpressionAttributeValues: values }),
    };
    await this.#writing(partition, [key], async (mayHaveLanded) => {
      if (mayHaveLanded) {
        const verdict = verdictOf(await this.#versions(partition, key), { ours });
        // Else it has not landed, or two writes of others have followed it while it was tried.
        if (verdict === "landed") return;
      }
      await this.#client.updateItem(request);
    });
  }

  async setMany(partition: Uint8Array, entries: readonly KvEntry[]): Promise<void> {
    const version = { B: newVersion(this.#options.randomness) };
    const writes = new Map<string, BatchedWrite>();
    for (const { key, value } of entries) {
      const item = { ...keyOf(partition, key), ...dataOf(value), v: version };
      writes.set(nameOf(key), { PutRequest: { Item: item } });
    }
    await this.#batches(partition, entries.map(({ key }) => key), [...writes.values()]);
  }

  async setIf(
    partition: Uint8Array,
    key: Uint8Array,
    value: Uint8Array,
    predicate: Predicate | undefined,
  ): Promise<void> {
    const ours = newVersion(this.#options.randomness);
    const expected = versionOf(predicate);
    const item = { ...keyOf(partition, key), ...dataOf(value), v: { B: ours } };
    const request = expected
      ? {
        ...this.#table,
        Item: { ...item, r: { B: expected } },
        ConditionExpression: "v = :v",
        ExpressionAttributeValues: { ":v": { B: expected } },
      }
      : { ...this.#table, Item: item, ConditionExpression: "attribute_not_exists(k)" };
    await this.#writing(partition, [key], async (mayHaveLanded) => {
      if (await this.#isDone(() => this.#client.putItem(request))) return;
      if (!mayHaveLanded) throw predicateFailed();
      settle(verdictOf(await this.#versions(partition, key), { ours, expected }));
    });
  }

  /**
   * Deletes the version that is there, so that an attempt whose answer was lost, tried again, cannot take along what others
   * have written meanwhile.
   */
  async delete(partition: Uint8Array, key: Uint8Array): Promise<void> {
    let target: Uint8Array | undefined;
    await this.#writing(partition, [key], async (mayHaveLanded) => {
      for (;;) {
        const now = await this.#versions(partition, key);
        if (!now) return;
        const isAnother = target !== undefined && verdictOf(now, { ours: target }) !== "landed";
        // The version that was to go is neither here nor what the present one replaced: it was deleted, most likely by us.
        if (mayHaveLanded && isAnother) return;
        target = now.version;
        const request = {
          ...this.#table,
          Key: keyOf(partition, key),
          ConditionExpression: "v = :v",
          ExpressionAttributeValues: { ":v": { B: target } },
        };
        if (await this.#isDone(() => this.#client.deleteItem(request))) return;
      }
    });
  }

  async deleteMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<void> {
    const writes = new Map<string, BatchedWrite>(
      keys.map((key) => [nameOf(key), { DeleteRequest: { Key: keyOf(partition, key) } }]),
    );
    await this.#batches(partition, keys, [...writes.values()]);
  }

  async *scan(partition: Uint8Array, options?: ScanOptions): AsyncIterable<readonly KvEntry[]> {
    const range = scanRange(options);
    const asked = range && rangeCondition(partition, range);
    if (!asked) return;
    const request = {
      ...this.#table,
      KeyConditionExpression: asked.condition,
      ExpressionAttributeValues: asked.values,
      ConsistentRead: true,
      Limit: range.pageEntries,
    } as const;
    for (let after: Item | undefined, isFirst = true; isFirst || after; isFirst = false) {
      const from = after ? { ExclusiveStartKey: after } : {};
      const { Items = [], LastEvaluatedKey } = await this.#running(
        READING,
        () => this.#client.query({ ...request, ...from }),
      );
      const page = Items.map((item) => ({ key: bytesOf(item, "k"), value: bytesOf(item, "d") }))
        .filter(({ key }) => asked.takes(key));
      after = LastEvaluatedKey;
      if (page.length > 0) yield page;
    }
  }

  /** Reads the whole table, as the service has no other way to name its partitions. */
  async *partitions(): AsyncIterable<Uint8Array> {
    const seen = new Set<string>();
    for (let after: Item | undefined, isFirst = true; isFirst || after; isFirst = false) {
      const from = after ? { ExclusiveStartKey: after } : {};
      const { Items = [], LastEvaluatedKey } = await this.#running(
        READING,
        () => this.#client.scan({ ...this.#table, ConsistentRead: true, ProjectionExpression: "p", ...from }),
      );
      for (const item of Items) {
        const partition = bytesOf(item, "p");
        const name = nameOf(partition);
        if (seen.has(name)) continue;
        seen.add(name);
        yield partition;
      }
      after = LastEvaluatedKey;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    this.#client.destroy();
  }

  async #versions(partition: Uint8Array, key: Uint8Array): Promise<RecordVersions | undefined> {
    const { Item } = await this.#client.getItem({
      ...this.#table,
      Key: keyOf(partition, key),
      ConsistentRead: true,
      ProjectionExpression: "v, r",
    });
    return Item && { version: bytesOf(Item, "v"), replaced: Item["r"] && bytesOf(Item, "r") };
  }

  /** Runs a write with a condition; returns whether that held. */
  async #isDone(write: () => Promise<unknown>): Promise<boolean> {
    try {
      await write();
      return true;
    } catch (error) {
      if (isNamed(error, "ConditionalCheckFailedException")) return false;
      throw error;
    }
  }

  async #batches(
    partition: Uint8Array,
    keys: readonly Uint8Array[],
    writes: readonly BatchedWrite[],
  ): Promise<void> {
    const { table } = this.#options;
    const write = () =>
      writeBatches(writes, {
        ...this.#options,
        send: async (batch) => {
          const { UnprocessedItems } = await this.#running(WRITING, () =>
            this.#client.batchWriteItem({ RequestItems: { [table]: batch } }));
          return UnprocessedItems?.[table] ?? [];
        },
        action: WRITING,
      });
    await this.#order.after(partition, { keys, write });
  }

  async #writing(
    partition: Uint8Array,
    keys: readonly Uint8Array[],
    write: (mayHaveLanded: boolean) => Promise<void>,
  ): Promise<void> {
    await this.#order.after(partition, { keys, write: () => this.#running(WRITING, write) });
  }

  async #running<T>(action: string, body: (mayHaveLanded: boolean) => Promise<T>): Promise<T> {
    if (this.#closed) {
      throw new CodedError("internal", "kv_closed", "Cannot use the key-value store: it is closed");
    }
    return await retrying(async (mayHaveLanded) => {
      try {
        return await body(mayHaveLanded);
      } catch (error) {
        if (!isNamed(error, "ResourceNotFoundException")) throw error;
        await this.#makeTable();
        return await body(mayHaveLanded);
      }
    }, { ...this.#options, explain: (error) => dynamoFailure(action, error) });
  }

  async #makeTable(): Promise<void> {
    this.#making ??= makeTable(this.#client, this.#options.table, this.#options.clock);
    try {
      await this.#making;
    } finally {
      this.#making = undefined;
    }
  }
}

function nameOf(key: Uint8Array): string {
  return asBuffer(key).toString("latin1");
}
