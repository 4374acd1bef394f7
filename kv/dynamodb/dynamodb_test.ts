import process from "node:process";
import type { TestContext } from "node:test";
import { systemClock } from "../../base/clock.ts";
import { systemRandomness } from "../../base/randomness.ts";
import { testKvStore } from "../../tests/conformance/kv_suite.ts";
import { requireDynalite, sharedDynalite } from "../../tests/services/services.ts";
import type { ListedKvStore } from "../store.ts";
import { type DynamoOptions, openDynamo } from "./mod.ts";

// Any will do, but there must be some.
process.env["AWS_ACCESS_KEY_ID"] = "testing";
process.env["AWS_SECRET_ACCESS_KEY"] = "testing";

let tables = 0;

async function open(t: TestContext, more: Partial<DynamoOptions> = {}): Promise<ListedKvStore> {
  const { port } = await sharedDynalite();
  const store = await openDynamo({
    table: `kv-${++tables}`,
    region: "us-east-1",
    endpoint: `http://127.0.0.1:${port}`,
    clock: systemClock,
    randomness: systemRandomness,
    ...more,
  });
  t.after(() => store.close());
  return store;
}

testKvStore("dynamodb", {
  requires: requireDynalite,
  open: (t) => open(t),
  capabilities: { partitions: true },
});
