import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import process from "node:process";
import { it, type TestContext } from "node:test";
import { inspect } from "node:util";
import { utf8 } from "../../base/bytes.ts";
import { systemClock } from "../../base/clock.ts";
import { systemRandomness } from "../../base/randomness.ts";
import { testKvFaults } from "../../tests/conformance/kv_fault_suite.ts";
import { K, P, valueOf } from "../../tests/conformance/kv_suite_support.ts";
import { openProxy } from "../../tests/services/proxy.ts";
import {
  POSTGRES_PASSWORD,
  psql,
  requirePostgres,
  sharedPostgres,
  startPostgres,
} from "../../tests/services/services.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import type { KvStore } from "../store.ts";
import { openPostgres, type PostgresOptions } from "./mod.ts";

let tables = 0;

async function open(t: TestContext, options: Partial<PostgresOptions> & { port: number }): Promise<KvStore> {
  const store = await openPostgres({
    host: "127.0.0.1",
    database: "postgres",
    user: "postgres",
    password: POSTGRES_PASSWORD,
    encryption: "none",
    clock: systemClock,
    randomness: systemRandomness,
    firstPauseMs: 5,
    ...options,
  });
  t.after(() => store.close());
  return store;
}

testKvFaults("postgres", {
  requires: requirePostgres,
  async open(t) {
    const { port } = await sharedPostgres();
    const proxy = await openProxy(t, port);
    const table = `faults_${++tables}`;
    return {
      proxy,
      store: await open(t, { port: proxy.port, table, statementTimeoutMs: 700 }),
      straight: await open(t, { port, table }),
    };
  },
});

it("a statement whose connection broke is ended on the server before it is tried again", async (t) => {
  if (!requirePostgres(t)) return;
  const { port } = await sharedPostgres();
  const proxy = await openProxy(t, port);
  const store = await open(t, { port: proxy.port, table: "fenced" });
  await store.set(P, K, utf8("1"));
  const blocker = spawn("psql", [
    `postgres://postgres@127.0.0.1:${port}/postgres?application_name=blocker`,
    "-qX",
  ], {
    env: { ...process.env, PGPASSWORD: POSTGRES_PASSWORD },
    stdio: ["pipe", "ignore", "ignore"],
  });
  blocker.stdin.write("BEGIN; SELECT FROM fenced FOR UPDATE;\n");
  const pids = (which: string) => psql(port, `SELECT pid FROM pg_stat_activity WHERE ${which}`).split("\n");
  await until(() => pids("application_name = 'blocker' AND state = 'idle in transaction'")[0] !== "");
  const waiting = () =>
    pids("application_name = 'tarn' AND wait_event_type = 'Lock'").filter((pid) => pid !== "");
  let first: string[] = [];
  proxy.breaks({ at: "sent", meanwhile: async () => void (first = await until(waiting)) });
  const writing = store.set(P, K, utf8("2"));
  // The server does not notice by itself that nobody waits for the first one.
  const second = await until(() => first.length > 0 && waiting().filter((pid) => pid !== first[0]));
  assert.equal(second.length, 1);
  assert.ok(!waiting().includes(first[0]!));
  blocker.stdin.end("ROLLBACK;\n");
  await writing;
  assert.deepEqual(await valueOf(store, K), utf8("2"));
});

/** Asks again and again until there is an answer that is not empty. */
async function until<T>(ask: () => T | false): Promise<T> {
  for (;;) {
    const answer = ask();
    if (answer && !(Array.isArray(answer) && answer.length === 0)) return answer;
    await systemClock.sleep(50);
  }
}

it("a store goes on after its server was stopped and started again", async (t) => {
  if (!requirePostgres(t)) return;
  const folder = temporaryFolder(t);
  const first = await startPostgres({ folder });
  t.after(() => first.stop());
  const store = await open(t, { port: first.port, firstPauseMs: 200, attempts: 20 });
  await store.set(P, K, utf8("kept"));
  await first.stop();
  const reading = valueOf(store, K);
  const second = await startPostgres({ folder, port: first.port });
  t.after(() => second.stop());
  assert.deepEqual(await reading, utf8("kept"));
  await store.set(P, K, utf8("more"));
  assert.deepEqual(await valueOf(store, K), utf8("more"));
});

it("many that find no table at a time all open the store", async (t) => {
  if (!requirePostgres(t)) return;
  const { port } = await sharedPostgres();
  for (let round = 0; round < 5; round++) {
    const table = `at_once_${round}`;
    const stores = await Promise.all(Array.from({ length: 8 }, () => open(t, { port, table })));
    await stores[0]!.set(P, K, utf8("1"));
    for (const store of stores) {
      assert.deepEqual(await valueOf(store, K), utf8("1"));
      await store.close();
    }
  }
});

it("failures to open have codes of their own, and never hold the password", async (t) => {
  if (!requirePostgres(t)) return;
  const { port } = await sharedPostgres();
  psql(port, "CREATE TABLE foreign_table (id int); CREATE ROLE reader LOGIN PASSWORD 'secret-word'");
  const cases: [string, Partial<PostgresOptions>][] = [
    ["kv_unauthenticated", { password: "secret-word" }],
    ["kv_missing", { database: "nowhere" }],
    ["kv_missing", { schema: "nowhere" }],
    ["kv_corrupt", { table: "foreign_table" }],
    ["kv_forbidden", { user: "reader", password: "secret-word", table: "not_theirs" }],
    ["kv_unavailable", { port: 1, password: "secret-word" }],
    ["kv_unavailable", { host: "nowhere.invalid", password: "secret-word" }],
  ];
  for (const [code, options] of cases) {
    await assert.rejects(open(t, { port, attempts: 2, ...options }), (error) => {
      assert.equal((error as { code: string }).code, code, inspect(error));
      assert.doesNotMatch(inspect(error, { depth: 20, showHidden: true }), /secret-word/);
      return true;
    });
  }
});

it("a user who may only read is told so", async (t) => {
  if (!requirePostgres(t)) return;
  const { port } = await sharedPostgres();
  await open(t, { port, table: "read_only" });
  psql(
    port,
    "CREATE ROLE writer LOGIN SUPERUSER PASSWORD 'x'; ALTER ROLE writer SET default_transaction_read_only = on",
  );
  const store = await open(t, { port, table: "read_only", user: "writer", password: "x" });
  await assert.rejects(store.set(P, K, K), { kind: "forbidden", code: "kv_read_only" });
});
