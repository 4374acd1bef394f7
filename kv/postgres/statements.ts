/**
 * The statements of the driver, over one table:
 *
 * ```
 * partition  bytea  ┐ primary key: bytea is ordered by its bytes, so a scan is a walk along the index
 * key        bytea  ┘
 * value      bytea
 * version    bytea  of the write that made the record what it is, 16 random bytes
 * replaced   bytea  the version before that; null when the write made the record
 * ```
 *
 * Why READ COMMITTED is enough: every read is one statement, which sees all that was committed before it began; every write of
 * one key is one statement. An UPDATE that meets a row that another transaction is changing waits for that one's end and then
 * compares the version once more with the new row; an INSERT … ON CONFLICT waits for the other's INSERT. So of writers with one
 * predicate exactly one touches a row.
 */

import { CodedError } from "../../base/errors.ts";
import type { Run, ServerProcess } from "./connections.ts";

/** Told in the table's comment, so that a table that only has the name is not taken for one. */
const FORMAT = "tarn key-value store, format 1";

export interface Statements {
  readonly get: string;
  readonly versions: string;
  readonly set: string;
  readonly insert: string;
  readonly replace: string;
  readonly setMany: string;
  readonly deleteVersion: string;
  readonly deleteMany: string;
  readonly scan: string;
  readonly scanToEnd: string;
  readonly partitions: string;
}

/** Returns the statements for a table, whose name is quoted already. */
export function statementsFor(table: string): Statements {
  const record = "partition = $1 AND key = $2";
  const upsert = "ON CONFLICT (partition, key) DO UPDATE " +
    "SET value = excluded.value, version = excluded.version, replaced = old.version";
  // A page ends behind the entry with which it reaches so many bytes; sizes are known without reading the values.
  const page = (range: string) =>
    `SELECT key, value FROM (
       SELECT key, value, sum(size) OVER (ORDER BY key) - size AS before FROM (
         SELECT key, value, octet_length(key) + octet_length(value) AS size FROM ${table}
         WHERE partition = $1 AND key >= $2 ${range} ORDER BY key LIMIT $3
       ) AS records
     ) AS sized WHERE before < $4 ORDER BY key`;
  return {
    get: `SELECT value, version FROM ${table} WHERE ${record}`,
    versions: `SELECT version, replaced FROM ${table} WHERE ${record}`,
    set: `INSERT INTO ${table} AS old (partition, key, value, version) VALUES ($1, $2, $3, $4) ${upsert}`,
    insert: `INSERT INTO ${table} (partition, key, value, version) VALUES ($1, $2, $3, $4) ` +
      "ON CONFLICT (partition, key) DO NOTHING",
    replace:
      `UPDATE ${table} SET value = $3, version = $4, replaced = version WHERE ${record} AND version = $5`,
    setMany: `INSERT INTO ${table} AS old (partition, key, value, version) ` +
      `SELECT $1, key, value, $2 FROM unnest($3::bytea[], $4::bytea[]) AS given (key, value) ${upsert}`,
    deleteVersion: `DELETE FROM ${table} WHERE ${record} AND version = $3`,
    deleteMany: `DELETE FROM ${table} WHERE partition = $1 AND key = ANY ($2::bytea[])`,
    scan: page("AND key < $5"),
    scanToEnd: page(""),
    // Leaps from each partition to the next along the index.
    partitions: `WITH RECURSIVE leap AS (
         (SELECT partition FROM ${table} WHERE partition > $1 ORDER BY partition LIMIT 1)
         UNION ALL
         SELECT (SELECT next.partition FROM ${table} AS next WHERE next.partition > leap.partition
           ORDER BY next.partition LIMIT 1) FROM leap WHERE leap.partition IS NOT NULL
       ) SELECT partition FROM leap WHERE partition IS NOT NULL LIMIT $2`,
  };
}

/** Returns a name as it stands in a statement. */
export function quotedName(...parts: readonly string[]): string {
  return parts.map((part) => `"${part.replaceAll('"', '""')}"`).join(".");
}

export interface PrepareOptions {
  /** The table's quoted name. */
  readonly table: string;
  readonly statementTimeoutMs: number;
}

/**
 * Readies a new connection: sets what the driver relies on, whatever the server's or the user's defaults are, and makes the
 * table when it is not there. Fails with `kv_read_only`, `kv_corrupt`.
 */
export async function prepareConnection(run: Run, options: PrepareOptions): Promise<ServerProcess> {
  const { table, statementTimeoutMs } = options;
  const { rows } = await run(PREPARE, [table, String(statementTimeoutMs)]);
  const [id, startedAt, isReplica, comment, isThere] = rows[0] as string[];
  if (isReplica === "t") {
    throw new CodedError(
      "forbidden",
      "kv_read_only",
      "Cannot use the key-value store: the server is a replica, which may be behind",
    );
  }
  if (isThere !== "t") await makeTable(run, table);
  else if (comment !== FORMAT) await checkFormat(run, table);
  return { id: id!, startedAt: startedAt! };
}

/**
 * A client that is stopped in mid-transaction holds its locks for no longer than the last of the timeouts. Where commits are
 * answered before they are on disk, ours are not.
 */
const PREPARE = `SELECT pid::text, extract(epoch FROM backend_start)::text, pg_is_in_recovery(),
    obj_description(to_regclass($1), 'pg_class'), to_regclass($1) IS NOT NULL,
    set_config('statement_timeout', $2, false), set_config('lock_timeout', $2, false),
    set_config('idle_in_transaction_session_timeout', $2, false),
    set_config('default_transaction_isolation', 'read committed', false),
    set_config('bytea_output', 'hex', false),
    CASE WHEN current_setting('synchronous_commit') = 'off' THEN set_config('synchronous_commit', 'on', false) END
  FROM pg_stat_activity WHERE pid = pg_backend_pid()`;

/**
 * Asks once more before it refuses: a table that was made while the statement before ran shows itself there, as names are
 * looked up in what is newest, and its comment does not, as rows are read in what was there when that statement began.
 */
async function checkFormat(run: Run, table: string): Promise<void> {
  const { rows } = await run("SELECT obj_description(to_regclass($1), 'pg_class')", [table]);
  if (rows[0]![0] === FORMAT) return;
  throw new CodedError(
    "corrupt",
    "kv_corrupt",
    `Cannot use the key-value store: the table ${table} is no such store, or of another version`,
  );
}

/** The lock makes those that find no table at a time wait for each other: IF NOT EXISTS alone lets some of them fail. */
async function makeTable(run: Run, table: string): Promise<void> {
  await inTransaction(run, async () => {
    await run("SELECT pg_advisory_xact_lock(hashtext($1))", [`tarn ${table}`]);
    await run(
      `CREATE TABLE IF NOT EXISTS ${table} (
        partition bytea NOT NULL CHECK (octet_length(partition) BETWEEN 1 AND 255),
        key bytea NOT NULL CHECK (octet_length(key) BETWEEN 1 AND 1024),
        value bytea NOT NULL,
        version bytea NOT NULL,
        replaced bytea,
        PRIMARY KEY (partition, key)
      )`,
    );
    await run(`COMMENT ON TABLE ${table} IS '${FORMAT}'`);
  });
}

/** Runs statements as one: all of them take effect, or none. */
export async function inTransaction(run: Run, body: () => Promise<void>): Promise<void> {
  await run("BEGIN");
  try {
    await body();
    await run("COMMIT");
  } catch (error) {
    // Fails only with the connection, and then the server rolls back by itself.
    await run("ROLLBACK").catch(() => {});
    throw error;
  }
}
