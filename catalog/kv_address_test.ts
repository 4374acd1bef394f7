import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseKvAddress, shownKvAddress } from "./kv_address.ts";
import { encryptionOf, passwordOf } from "./kv_stores.ts";
import type { PostgresAddress } from "./kv_address.ts";

const parse = (text: string) => parseKvAddress(text, "/folder");

describe("parseKvAddress()", () => {
  it("reads each form, decoding each part once", () => {
    assert.deepEqual(parse("lmdb:kv"), { driver: "lmdb", folder: "/folder/kv" });
    assert.deepEqual(parse("lmdb:/srv/a%20b"), { driver: "lmdb", folder: "/srv/a%20b" });
    assert.deepEqual(parse("memory:"), { driver: "memory" });
    assert.deepEqual(parse("postgres://db.example/tarn"), {
      driver: "postgres",
      host: "db.example",
      database: "tarn",
    });
    assert.deepEqual(parse("postgresql://me:p%40ss%2Fword@[::1]:5433/a%2520b?schema=s&sslmode=require"), {
      driver: "postgres",
      host: "::1",
      port: 5433,
      user: "me",
      password: "p@ss/word",
      database: "a%20b",
      schema: "s",
      sslmode: "require",
    });
    assert.deepEqual(parse("postgres://%2Fvar%2Frun%2Fpostgresql/tarn?password_file=secret"), {
      driver: "postgres",
      host: "/var/run/postgresql",
      database: "tarn",
      passwordFile: "/folder/secret",
    });
    assert.deepEqual(parse("dynamodb://tarn-1?region=eu-west-1&endpoint=http%3A%2F%2Flocalhost%3A8000"), {
      driver: "dynamodb",
      table: "tarn-1",
      region: "eu-west-1",
      endpoint: "http://localhost:8000",
    });
  });

  it("refuses what is malformed, saying nothing of the text, which may hold a password", () => {
    const bad = [
      "",
      "postgres:",
      "postgres://",
      "postgres://host",
      "postgres://host/",
      "postgres://host/a/b",
      "postgres://me:secret-word@host",
      "postgres://me:secret-word@@host/db",
      "postgres://me:secret/word@host/db",
      "postgres://me:secret-word#@host/db",
      "postgres://me:secret-word%@host/db",
      "postgres://me:secret-word@host/db?sslmode=maybe",
      "postgres://me:secret-word@host/db?password=secret-word",
      "postgres://me:secret-word@host/db?password_env=X",
      "postgres://me@host/db?schema=a&schema=b",
      "postgres://me@host/db%00",
      "mysql://me:secret-word@host/db",
      "lmdb://folder",
      "lmdb:",
      "memory:x",
      "dynamodb://",
      "dynamodb://a/b",
      "dynamodb://table?endpoint=ftp://x",
      "dynamodb://table?endpoint=https://me:secret-word@host",
    ];
    for (const text of bad) {
      assert.throws(() => parse(text), (error) => {
        assert.equal((error as { code: string }).code, "invalid_kv_address", text);
        assert.doesNotMatch(String(error), /secret/);
        return true;
      }, text);
    }
  });

  it("is shown without a password", () => {
    assert.equal(
      shownKvAddress(parse("postgres://me:secret@host:1/db?table=t&sslmode=disable")),
      "postgres://me@host:1/db?table=t",
    );
    assert.equal(shownKvAddress(parse("dynamodb://tarn?region=r")), "dynamodb://tarn?region=r");
    assert.equal(shownKvAddress(parse("lmdb:x")), "lmdb:/folder/x");
  });
});

describe("a PostgreSQL address", () => {
  const postgres = (text: string) => parse(text) as PostgresAddress;

  it("is encrypted and checked, unless the host is this machine or it says otherwise", () => {
    assert.equal(encryptionOf(postgres("postgres://db.example/x")), "checked");
    assert.equal(encryptionOf(postgres("postgres://127.0.0.1.example/x")), "checked");
    assert.equal(encryptionOf(postgres("postgres://db.example/x?sslmode=require")), "unchecked");
    for (const host of ["localhost", "127.0.0.1", "[::1]", "%2Frun"]) {
      assert.equal(encryptionOf(postgres(`postgres://${host}/x`)), "none");
    }
    assert.equal(encryptionOf(postgres("postgres://localhost/x?sslmode=verify-full")), "checked");
  });

  it("may name a variable for its password, which must be set", () => {
    const address = postgres("postgres://me@host/x?password_env=DB_PASSWORD");
    assert.equal(passwordOf(address, (name) => `value of ${name}`), "value of DB_PASSWORD");
    assert.throws(() => passwordOf(address, () => undefined), { code: "kv_unauthenticated" });
    const missing = postgres("postgres://me@host/x?password_file=/nowhere/at/all");
    assert.throws(() => passwordOf(missing, () => undefined), { code: "kv_unauthenticated" });
  });
});
