/**
 * Connections to one PostgreSQL server: few, kept, each used by one call at a time, and thrown away when anything is wrong
 * with them.
 *
 * A statement whose connection was lost may still be running on the server, and could have its effect after later writes. So
 * its server process is remembered, and before such a write is tried again that process is ended, by number and start time,
 * and waited for: from then on the former attempt has landed or never will.
 */

import type { Clock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import { isOfConnection, Unsent } from "./errors.ts";
import type { Parameter, PgClient, PgConfig, PgModule, PgResult } from "./vendor.ts";

const MOST_CONNECTIONS = 8;
const FENCE_CHECKS = 50;
const FENCE_PAUSE_MS = 100;

/** The process on the server that serves a connection; numbers are used again, with other start times. */
export interface ServerProcess {
  readonly id: string;
  /** Seconds since 1970, as the server writes them. */
  readonly startedAt: string;
}

/** Runs statements, one at a time, on one connection. */
export type Run = (text: string, values?: readonly Parameter[]) => Promise<PgResult>;

interface Connection {
  readonly client: PgClient;
  readonly process: ServerProcess;
  isBroken: boolean;
}

export interface ConnectionOptions {
  readonly pg: PgModule;
  readonly config: PgConfig;
  readonly clock: Clock;
  /** A statement that has no answer after this time has lost it. */
  readonly statementTimeoutMs: number;
  /** Runs once on each new connection, and returns the server's process. */
  readonly prepare: (run: Run) => Promise<ServerProcess>;
}

export class Connections {
  readonly #options: ConnectionOptions;
  readonly #idle: Connection[] = [];
  readonly #open = new Set<Connection>();
  readonly #waiting: (() => void)[] = [];
  #inUse = 0;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  /**
   * Runs `body` on a connection. Before, the processes of `lost` are ended for good; a process whose connection breaks in
   * `body` is added to it.
   */
  async use<T>(body: (run: Run) => Promise<T>, lost: Set<ServerProcess>): Promise<T> {
    const connection = await this.#take();
    const run: Run = (text, values) => this.#query(connection, { text, values, name: nameOf(text) });
    try {
      await this.#fence(run, lost).catch((error) => {
        throw new Unsent(error);
      });
      return await body(run);
    } catch (error) {
      if (connection.isBroken) lost.add(connection.process);
      throw error;
    } finally {
      this.#give(connection);
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map(({ client }) => client.end().catch(() => {})));
  }

  async #take(): Promise<Connection> {
    while (this.#inUse >= MOST_CONNECTIONS) {
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    this.#inUse++;
    for (let kept = this.#idle.pop(); kept; kept = this.#idle.pop()) if (!kept.isBroken) return kept;
    try {
      return await this.#connect();
    } catch (error) {
      this.#release();
      throw error instanceof CodedError ? error : new Unsent(error);
    }
  }

  #give(connection: Connection): void {
    if (connection.isBroken) this.#drop(connection);
    else this.#idle.push(connection);
    this.#release();
  }

  #release(): void {
    this.#inUse--;
    this.#waiting.shift()?.();
  }

  async #connect(): Promise<Connection> {
    const { pg, config, prepare, statementTimeoutMs } = this.#options;
    const client = new pg.Client(config);
    let broken = false;
    let connection: Connection | undefined;
    const onBreak = () => {
      broken = true;
      if (connection) connection.isBroken = true;
    };
    // Without a listener an idle connection that breaks would end the program.
    client.on("error", onBreak);
    client.on("end", onBreak);
    try {
      await withTimeout(client, { work: client.connect(), milliseconds: config.connectionTimeoutMillis });
      const run: Run = (text, values) =>
        withTimeout(client, {
          work: client.query({ text, values, rowMode: "array" }),
          milliseconds: statementTimeoutMs,
        });
      connection = { client, process: await prepare(run), isBroken: broken };
    } catch (error) {
      client.connection.stream.destroy();
      throw error;
    }
    this.#open.add(connection);
    return connection;
  }

  #drop(connection: Connection): void {
    this.#open.delete(connection);
    connection.client.connection.stream.destroy();
  }

  async #query(
    connection: Connection,
    query: { text: string; values?: readonly Parameter[]; name?: string },
  ): Promise<PgResult> {
    const { client } = connection;
    try {
      return await withTimeout(client, {
        work: client.query({ ...query, rowMode: "array" }),
        milliseconds: this.#options.statementTimeoutMs,
      });
    } catch (error) {
      if (isOfConnection(error)) connection.isBroken = true;
      throw error;
    }
  }

  async #fence(run: Run, lost: Set<ServerProcess>): Promise<void> {
    for (const process of lost) {
      await this.#endProcess(run, process);
      lost.delete(process);
    }
  }

  async #endProcess(run: Run, { id, startedAt }: ServerProcess): Promise<void> {
    for (let check = 0; check < FENCE_CHECKS; check++) {
      const { rows } = await run(END_PROCESS, [id, startedAt]);
      if (rows.length === 0) return;
      await this.#options.clock.sleep(FENCE_PAUSE_MS);
    }
    throw new Error("a former connection's process does not end");
  }
}

const END_PROCESS = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity " +
  "WHERE pid = $1::int AND extract(epoch FROM backend_start)::text = $2";

/** Where nothing comes back, not even that the connection is gone, only the time tells. */
async function withTimeout<T>(
  client: PgClient,
  { work, milliseconds }: { work: Promise<T>; milliseconds: number },
): Promise<T> {
  const timer = setTimeout(
    () => client.connection.stream.destroy(new Error("no answer in time")),
    milliseconds,
  );
  try {
    return await work;
  } finally {
    clearTimeout(timer);
  }
}

const names = new Map<string, string>();

/** Statements that are used again and again are parsed once a connection. */
function nameOf(text: string): string | undefined {
  if (text === "ROLLBACK" || text === "BEGIN" || text === "COMMIT") return undefined;
  let name = names.get(text);
  if (name === undefined) names.set(text, name = `tarn_${names.size}`);
  return name;
}
