import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { type Ending, temporaryFolder } from "../tests/support/temporary.ts";
import { kvOfHome, s3OfHome } from "./home_config.ts";

function homeWith(t: Ending, text: string | Uint8Array): string {
  const home = temporaryFolder(t);
  writeFileSync(join(home, "config.yaml"), text);
  return home;
}

const TRUSTED = { isTrusted: true };

describe("kvOfHome()", () => {
  it("reads the store of each driver", async (t) => {
    const postgres = homeWith(
      t,
      "kv: {driver: postgres, url: 'postgres://me@db.example/tarn?schema=s', password_file: a b}",
    );
    assert.deepEqual(await kvOfHome(postgres, TRUSTED), {
      driver: "postgres",
      host: "db.example",
      user: "me",
      database: "tarn",
      schema: "s",
      passwordFile: join(postgres, "a b"),
    });
    const dynamo = homeWith(t, "kv:\n  driver: dynamodb\n  table: tarn\n  endpoint: http://localhost:8000\n");
    assert.deepEqual(await kvOfHome(dynamo, TRUSTED), {
      driver: "dynamodb",
      table: "tarn",
      endpoint: "http://localhost:8000",
    });
    const lmdb = homeWith(t, "kv: {driver: lmdb, folder: elsewhere}");
    assert.deepEqual(await kvOfHome(lmdb, TRUSTED), { driver: "lmdb", folder: join(lmdb, "elsewhere") });
  });

  it("names none where there is no file, or nothing in it", async (t) => {
    assert.equal(await kvOfHome(temporaryFolder(t), TRUSTED), undefined);
    for (const text of ["", "# nothing\n", "kv:\n", "{}"]) {
      assert.equal(await kvOfHome(homeWith(t, text), { isTrusted: false }), undefined, text);
    }
  });

  it("refuses a store that an untrusted home names", async (t) => {
    const home = homeWith(t, "kv: {driver: dynamodb, table: tarn, endpoint: 'http://elsewhere.example'}");
    await assert.rejects(kvOfHome(home, { isTrusted: false }), {
      kind: "forbidden",
      code: "untrusted_configuration",
    });
  });

  it("refuses what it does not know, and what YAML does not allow", async (t) => {
    const bad = [
      "kv: {driver: mysql}",
      "kv: postgres",
      "kv: [1]",
      "kv: {driver: postgres}",
      "kv: {driver: postgres, url: 'dynamodb://table'}",
      "kv: {driver: postgres, url: 'postgres://h/d', region: x}",
      "kv: {driver: dynamodb, table: 12345}",
      "kv: {driver: dynamodb, table: tarn}\nkv: {driver: lmdb, folder: x}",
      "kv: {driver: dynamodb, table: tarn, table: other}",
      "stores: {}",
      "- a",
      "kv: {",
      Uint8Array.of(0xff, 0xfe),
      "a: &a [x, x, x, x, x, x, x, x, x]\nb: &b [*a, *a, *a, *a, *a, *a]\nc: &c [*b, *b, *b, *b]\nkv: [*c, *c, *c]",
    ];
    for (const text of bad) {
      await assert.rejects(
        kvOfHome(homeWith(t, text), TRUSTED),
        { code: "invalid_configuration" },
        String(text),
      );
    }
  });
});

describe("s3OfHome()", () => {
  it("reads what buckets are, and when to commit", async (t) => {
    const cases: readonly [text: string, config: unknown][] = [
      ["", { buckets: "repository" }],
      ["s3:\n", { buckets: "repository" }],
      ["s3: {auto_commit: off}", { buckets: "repository" }],
      ["s3: {buckets: branch, auto_commit: idle 30}", {
        buckets: "branch",
        autoCommit: { when: "idle", seconds: 30 },
      }],
      ["kv: {driver: lmdb, folder: x}\ns3:\n  auto_commit: every 300\n", {
        buckets: "repository",
        autoCommit: { when: "every", seconds: 300 },
      }],
    ];
    for (const [text, config] of cases) assert.deepEqual(await s3OfHome(homeWith(t, text)), config, text);
    assert.deepEqual(await s3OfHome(temporaryFolder(t)), { buckets: "repository" });
  });

  it("refuses what it does not know", async (t) => {
    const bad = [
      "buckets: tag",
      "auto_commit: idle",
      "auto_commit: every 0",
      "auto_commit: 30",
      "bucket: branch",
      "[]",
    ];
    for (const text of bad) {
      const home = homeWith(t, `s3: ${text === "[]" ? text : `{${text}}`}`);
      await assert.rejects(s3OfHome(home), { code: "invalid_configuration" }, text);
    }
  });
});
