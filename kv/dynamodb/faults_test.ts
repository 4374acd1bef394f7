import assert from "node:assert/strict";
import process from "node:process";
import { it, type TestContext } from "node:test";
import { inspect } from "node:util";
import { utf8 } from "../../base/bytes.ts";
import { systemClock } from "../../base/clock.ts";
import { seededRandomness, systemRandomness } from "../../base/randomness.ts";
import { testKvFaults } from "../../tests/conformance/kv_fault_suite.ts";
import { K, P, valueOf } from "../../tests/conformance/kv_suite_support.ts";
import { openProxy } from "../../tests/services/proxy.ts";
import { requireDynalite, sharedDynalite } from "../../tests/services/services.ts";
import { testClock } from "../../tests/support/test_engine.ts";
import { writeBatches } from "./batches.ts";
import type { KvStore } from "../store.ts";
import { openDynamo } from "./mod.ts";
import type { BatchedWrite } from "./vendor.ts";

process.env["AWS_ACCESS_KEY_ID"] = "testing";
process.env["AWS_SECRET_ACCESS_KEY"] = "secret-word";

let tables = 0;

async function open(t: TestContext, { port, table }: { port: number; table: string }): Promise<KvStore> {
  const store = await openDynamo({
    table,
    region: "us-east-1",
    endpoint: `http://127.0.0.1:${port}`,
    clock: systemClock,
    randomness: systemRandomness,
    firstPauseMs: 5,
    requestTimeoutMs: 700,
  });
  t.after(() => store.close());
  return store;
}

async function openBoth(t: TestContext) {
  const { port } = await sharedDynalite();
  const proxy = await openProxy(t, port);
  const table = `faults-${++tables}`;
  const straight = await open(t, { port, table });
  await straight.get(P, K);
  return { proxy, straight, store: await open(t, { port: proxy.port, table }) };
}

testKvFaults("dynamodb", { requires: requireDynalite, open: openBoth });

/** What the service answers when it has had enough. */
function refusal(name: string, status: string): { reply: string } {
  const body = JSON.stringify({ __type: `com.amazonaws.dynamodb.v20120810#${name}`, message: "no" });
  const head =
    `HTTP/1.1 ${status}\r\nContent-Type: application/x-amz-json-1.0\r\nContent-Length: ${body.length}`;
  return { reply: `${head}\r\n\r\n${body}` };
}

it("throttled calls are made again, and fail with kv_throttled when that does not end", async (t) => {
  if (!requireDynalite(t)) return;
  const { store, proxy } = await openBoth(t);
  const at = refusal("ProvisionedThroughputExceededException", "400 Bad Request");
  proxy.breaks({ at, times: 3 });
  await store.setIf(P, K, utf8("1"), undefined);
  assert.equal(proxy.broken, 3);
  assert.deepEqual(await valueOf(store, K), utf8("1"));
  proxy.breaks({ at, times: 1000 });
  await assert.rejects(store.set(P, K, K), { kind: "throttled", code: "kv_throttled" });
});

it("an internal failure of the service is a lost answer, and refused credentials are no secret", async (t) => {
  if (!requireDynalite(t)) return;
  const { store, proxy } = await openBoth(t);
  proxy.breaks({ at: refusal("InternalServerError", "500 Internal Server Error"), times: 2 });
  await store.setIf(P, K, utf8("1"), undefined);
  proxy.breaks({ at: refusal("UnrecognizedClientException", "400 Bad Request") });
  await assert.rejects(store.get(P, K), (error) => {
    assert.equal((error as { code: string }).code, "kv_unauthenticated");
    assert.doesNotMatch(inspect(error, { depth: 20 }), /secret-word/);
    return true;
  });
});

const WRITES: BatchedWrite[] = Array.from({ length: 300 }, (_, i) => ({
  DeleteRequest: { Key: { p: { B: P }, k: { B: utf8(String(i)) } } },
}));

it("what a batch gives back is sent again until all is written", async () => {
  const chance = seededRandomness(3);
  const written = new Set<BatchedWrite>();
  await writeBatches(WRITES, {
    action: "Cannot write",
    clock: testClock(),
    randomness: chance,
    async send(batch) {
      assert.ok(batch.length <= 25);
      const [refused, taken] = [batch.filter(() => chance.fraction() < 0.4), new Set(batch)];
      for (const write of refused) taken.delete(write);
      for (const write of taken) written.add(write);
      return refused;
    },
  });
  assert.equal(written.size, WRITES.length);
});

it("a batch that always comes back whole fails with kv_throttled", async () => {
  const options = { action: "Cannot write", clock: testClock(), randomness: seededRandomness(4) };
  await assert.rejects(writeBatches(WRITES, { ...options, send: async (batch) => batch }), {
    kind: "throttled",
    code: "kv_throttled",
  });
});
