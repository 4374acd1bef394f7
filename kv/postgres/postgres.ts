/**
 * The KV store in a PostgreSQL table: for homes that several machines share. The table is described in `statements.ts`, how
 * connections are kept and lost statements fenced off in `connections.ts`, how lost answers are recognised in `../versions.ts`.
 *
 * Strongly consistent because all reads go to the primary: a replica is refused. Durable because a commit is answered when it
 * is on the server's disk.
 */

import { afterKey, asBuffer, compareBytes, EMPTY_BYTES } from "../../base/bytes.ts";
import type { Clock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import type { Randomness } from "../../base/randomness.ts";
import { retrying } from "../retrying.ts";
import { PAGE_BYTES, type ScanRange, scanRange } from "../scan_range.ts";
import type { Around, KvEntry, KvValue, ListedKvStore, Predicate, ScanOptions } from "../store.ts";
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
import { Connections, type Run, type ServerProcess } from "./connections.ts";
import { pgFailure } from "./errors.ts";
import {
  inTransaction,
  prepareConnection,
  quotedName,
  type Statements,
  statementsFor,
} from "./statements.ts";
import { loadPg, type PgConfig } from "./vendor.ts";

const CONNECT_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 30_000;
/** What one statement of `setMany` may take; more is written by several statements of one transaction. */
const STATEMENT_ENTRIES = 1000;
const STATEMENT_BYTES = 4 * 1024 * 1024;
const PARTITIONS_AT_ONCE = 1000;
const BYTEA = 17;

const READING = "Cannot read from the key-value store";
const WRITING = "Cannot write to the key-value store";

export interface PostgresOptions {
  /** A name or address, or the folder of a local socket. */
  readonly host: string;
  readonly port?: number;
  readonly database: string;
  /** Default: what the system says, as for other clients of PostgreSQL. */
  readonly user?: string;
  readonly password?: string;
  /** Whether the connection is encrypted, and the server's certificate checked against its name. */
  readonly encryption: "none" | "unchecked" | "checked";
  /** Certificates to trust instead of the system's, in PEM form. */
  readonly certificates?: string;
  readonly schema?: string;
  readonly table?: string;
  readonly clock: Clock;
  readonly randomness: Randomness;
  /** For tests. */
  readonly statementTimeoutMs?: number;
  readonly attempts?: number;
  readonly firstPauseMs?: number;
}

/**
 * Opens the store, making its table when it is not there.
 *
 * Fails with `kv_unavailable`, `kv_unauthenticated`, `kv_forbidden`, `kv_missing`, `kv_read_only`, `kv_corrupt`.
 */
export async function openPostgres(options: PostgresOptions): Promise<ListedKvStore> {
  const pg = await loadPg();
  const table = quotedName(
    ...(options.schema === undefined ? [] : [options.schema]),
    options.table ?? "tarn_kv",
  );
  const { clock, statementTimeoutMs = STATEMENT_TIMEOUT_MS } = options;
  const connections = new Connections({
    pg,
    clock,
    config: configOf(options),
    statementTimeoutMs,
    prepare: (run) => prepareConnection(run, { table, statementTimeoutMs }),
  });
  const store = new PostgresKvStore(connections, { ...options, statements: statementsFor(table) });
  try {
    await store.connect();
  } catch (error) {
    await store.close();
    throw error;
  }
  return store;
}

function configOf(options: PostgresOptions): PgConfig {
  const { host, port = 5432, database, user, password, encryption, certificates } = options;
  const ca = certificates === undefined ? {} : { ca: certificates };
  return {
    host,
    port,
    database,
    ...(user === undefined ? {} : { user }),
    ...(password === undefined ? {} : { password }),
    ssl: encryption === "none" ? false : { rejectUnauthorized: encryption === "checked", ...ca },
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    application_name: "tarn",
    types: { getTypeParser: (type) => type === BYTEA ? bytesOf : (text) => text },
  };
}

/** Returns the bytes of `\x…`, as the server writes them: a plain array of the caller's own. */
function bytesOf(text: string): Uint8Array {
  const bytes = new Uint8Array((text.length - 2) / 2);
  asBuffer(bytes).write(text.slice(2), "hex");
  return bytes;
}

class PostgresKvStore implements ListedKvStore {
  readonly #connections: Connections;
  readonly #options: PostgresOptions;
  readonly #sql: Statements;
  readonly #order = new WriteOrder();
  #closed = false;

  constructor(
    connections: Connections,
    { statements, ...options }: PostgresOptions & { readonly statements: Statements },
  ) {
    this.#connections = connections;
    this.#options = options;
    this.#sql = statements;
  }

  /** Makes the first connection. */
  async connect(): Promise<void> {
    await this.#running("Cannot open the key-value store", async () => {});
  }

  async get(partition: Uint8Array, key: Uint8Array): Promise<KvValue | undefined> {
    const { rows } = await this.#running(READING, (run) => run(this.#sql.get, [partition, key]));
    if (rows.length === 0) return undefined;
    const [value, version] = rows[0] as [Uint8Array, Uint8Array];
    const predicate: VersionPredicate = { kvPredicate: version };
    return { value, predicate };
  }

  async set(partition: Uint8Array, key: Uint8Array, value: Uint8Array): Promise<void> {
    const ours = newVersion(this.#options.randomness);
    await this.#writing(partition, [key], async (run, mayHaveLanded) => {
      if (mayHaveLanded) {
        const verdict = verdictOf(await this.#versions(run, { partition, key }), { ours });
        // Else it has not landed, or two writes of others have followed it while it was tried.
        if (verdict === "landed") return;
      }
      await run(this.#sql.set, [partition, key, value, ours]);
    });
  }

  async setMany(partition: Uint8Array, entries: readonly KvEntry[]): Promise<void> {
    if (entries.length === 0) return;
    const ours = newVersion(this.#options.randomness);
    const sorted = lastOfEach(entries);
    const write = (run: Run) => this.#setBatches(run, partition, { entries: sorted, ours });
    const isOneBatch = batched(sorted).length === 1;
    await this.#writing(
      partition,
      sorted.map(({ key }) => key),
      (run) => isOneBatch ? write(run) : inTransaction(run, () => write(run)),
    );
  }

  async #setBatches(
    run: Run,
    partition: Uint8Array,
    { entries, ours }: { readonly entries: readonly KvEntry[]; readonly ours: Uint8Array },
  ): Promise<void> {
    for (const batch of batched(entries)) {
      const keys = batch.map(({ key }) => key), values = batch.map(({ value }) => value);
      await run(this.#sql.setMany, [partition, ours, keys.map(asBuffer), values.map(asBuffer)]);
    }
  }

  async setIf(
    partition: Uint8Array,
    key: Uint8Array,
    value: Uint8Array,
    predicate: Predicate | undefined,
  ): Promise<void> {
    await this.setIfAround(partition, { key, value }, { predicate });
  }

  async setIfAround(
    partition: Uint8Array,
    { key, value }: KvEntry,
    { predicate, before = [], after = [] }: Around,
  ): Promise<void> {
    const ours = newVersion(this.#options.randomness);
    const expected = versionOf(predicate);
    const others = lastOfEach([...before, ...after]);
    const compareAndSet = async (run: Run, mayHaveLanded: boolean) => {
      const { rowCount } = expected
        ? await run(this.#sql.replace, [partition, key, value, ours, expected])
        : await run(this.#sql.insert, [partition, key, value, ours]);
      if (rowCount === 1) return await this.#setBatches(run, partition, { entries: others, ours });
      if (!mayHaveLanded) throw predicateFailed();
      // What landed took the others along.
      settle(verdictOf(await this.#versions(run, { partition, key }), { ours, expected }));
    };
    await this.#writing(
      partition,
      [key, ...others.map((other) => other.key)],
      (run, mayHaveLanded) =>
        others.length === 0
          ? compareAndSet(run, mayHaveLanded)
          : inTransaction(run, () => compareAndSet(run, mayHaveLanded)),
    );
  }

  /**
   * Deletes the version that is there, so that an attempt whose answer was lost, tried again, cannot take along what others
   * have written meanwhile.
   */
  async delete(partition: Uint8Array, key: Uint8Array): Promise<void> {
    let target: Uint8Array | undefined;
    await this.#writing(partition, [key], async (run, mayHaveLanded) => {
      for (;;) {
        const now = await this.#versions(run, { partition, key });
        if (!now) return;
        const isAnother = target !== undefined && verdictOf(now, { ours: target }) !== "landed";
        // The version that was to go is neither here nor what the present one replaced: it was deleted, most likely by us.
        if (mayHaveLanded && isAnother) return;
        target = now.version;
        const { rowCount } = await run(this.#sql.deleteVersion, [partition, key, target]);
        if (rowCount === 1) return;
      }
    });
  }

  async deleteMany(partition: Uint8Array, keys: readonly Uint8Array[]): Promise<void> {
    for (let at = 0; at < keys.length; at += STATEMENT_ENTRIES) {
      const some = keys.slice(at, at + STATEMENT_ENTRIES);
      const given = some.map(asBuffer);
      await this.#writing(partition, some, (run) => run(this.#sql.deleteMany, [partition, given]));
    }
  }

  async *scan(partition: Uint8Array, options?: ScanOptions): AsyncIterable<readonly KvEntry[]> {
    for (let range = scanRange(options); range;) {
      const { page, rest } = await this.#page(partition, range);
      if (page.length > 0) yield page;
      range = rest;
    }
  }

  async *partitions(): AsyncIterable<Uint8Array> {
    for (let after = EMPTY_BYTES;;) {
      const { rows } = await this.#running(
        READING,
        (run) => run(this.#sql.partitions, [after, PARTITIONS_AT_ONCE]),
      );
      for (const [partition] of rows) yield partition as Uint8Array;
      if (rows.length < PARTITIONS_AT_ONCE) return;
      after = rows.at(-1)![0] as Uint8Array;
    }
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    await this.#connections.close();
  }

  async #page(
    partition: Uint8Array,
    range: ScanRange,
  ): Promise<{ page: KvEntry[]; rest: ScanRange | undefined }> {
    const { first, end, pageEntries } = range;
    const values = [partition, first, pageEntries, PAGE_BYTES];
    const { rows } = await this.#running(
      READING,
      (run) => end ? run(this.#sql.scan, [...values, end]) : run(this.#sql.scanToEnd, values),
    );
    const page = (rows as [Uint8Array, Uint8Array][]).map(([key, value]) => ({ key, value }));
    const bytes = page.reduce((sum, { key, value }) => sum + key.length + value.length, 0);
    const isLast = page.length < pageEntries && bytes < PAGE_BYTES;
    return { page, rest: isLast ? undefined : { ...range, first: afterKey(page.at(-1)!.key) } };
  }

  async #versions(
    run: Run,
    { partition, key }: { partition: Uint8Array; key: Uint8Array },
  ): Promise<RecordVersions | undefined> {
    const { rows } = await run(this.#sql.versions, [partition, key]);
    if (rows.length === 0) return undefined;
    const [version, replaced] = rows[0] as [Uint8Array, Uint8Array | null];
    return { version, replaced: replaced ?? undefined };
  }

  async #writing(
    partition: Uint8Array,
    keys: readonly Uint8Array[],
    write: (run: Run, mayHaveLanded: boolean) => Promise<unknown>,
  ): Promise<void> {
    await this.#order.after(partition, { keys, write: () => this.#running(WRITING, write) });
  }

  async #running<T>(action: string, body: (run: Run, mayHaveLanded: boolean) => Promise<T>): Promise<T> {
    if (this.#closed) {
      throw new CodedError("internal", "kv_closed", "Cannot use the key-value store: it is closed");
    }
    const lost = new Set<ServerProcess>();
    return await retrying(
      (mayHaveLanded) => this.#connections.use((run) => body(run, mayHaveLanded), lost),
      { ...this.#options, explain: (error) => pgFailure(action, error) },
    );
  }
}

/** Returns one entry a key, the later one, in order of keys: writers that lock in one order do not block each other for ever. */
function lastOfEach(entries: readonly KvEntry[]): readonly KvEntry[] {
  const sorted = entries.map((entry, at) => ({ entry, at }))
    .sort((a, b) => compareBytes(a.entry.key, b.entry.key) || a.at - b.at);
  return sorted.filter(({ entry }, i) => {
    const next = sorted[i + 1];
    return !next || compareBytes(next.entry.key, entry.key) !== 0;
  }).map(({ entry }) => entry);
}

function batched(entries: readonly KvEntry[]): KvEntry[][] {
  const batches: KvEntry[][] = [];
  let bytes = Infinity;
  for (const entry of entries) {
    if (bytes >= STATEMENT_BYTES || batches.at(-1)!.length >= STATEMENT_ENTRIES) {
      batches.push([]);
      bytes = 0;
    }
    batches.at(-1)!.push(entry);
    bytes += entry.key.length + entry.value.length;
  }
  return batches;
}
