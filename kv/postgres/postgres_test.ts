import type { TestContext } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { systemRandomness } from "../../base/randomness.ts";
import { testKvStore } from "../../tests/conformance/kv_suite.ts";
import { POSTGRES_PASSWORD, requirePostgres, sharedPostgres } from "../../tests/services/services.ts";
import { withLimits } from "../limits.ts";
import type { ListedKvStore } from "../store.ts";
import { openPostgres, type PostgresOptions } from "./mod.ts";

let tables = 0;

async function open(t: TestContext, more: Partial<PostgresOptions> = {}): Promise<ListedKvStore> {
  const { port } = await sharedPostgres();
  const store = await openPostgres({
    host: "127.0.0.1",
    port,
    database: "postgres",
    user: "postgres",
    password: POSTGRES_PASSWORD,
    encryption: "none",
    table: `kv "${++tables}"`,
    clock: systemClock,
    randomness: systemRandomness,
    ...more,
  });
  t.after(() => store.close());
  return store;
}

testKvStore("postgres", {
  requires: requirePostgres,
  open: (t) => open(t),
  capabilities: { atomicSetMany: true, partitions: true },
});
testKvStore("postgres within limits", {
  requires: requirePostgres,
  open: async (t) => withLimits(await open(t)),
});
