/** The main job of the executable on key-value stores that servers hold, and the way from one store to another. */

import assert from "node:assert/strict";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import {
  POSTGRES_PASSWORD,
  psql,
  requireDynalite,
  requirePostgres,
  sharedDynalite,
  sharedPostgres,
} from "../services/services.ts";
import { type Home, openHome } from "../support/home.ts";

type Variables = Readonly<Record<string, string>>;

async function postgresVariables(table: string, more = ""): Promise<Variables> {
  const { port } = await sharedPostgres();
  const url = `postgres://postgres@127.0.0.1:${port}/postgres?table=${table}&password_env=DB_PASSWORD${more}`;
  return { TARN_KV: url, DB_PASSWORD: POSTGRES_PASSWORD };
}

async function dynamoVariables(table: string): Promise<Variables> {
  const { port } = await sharedDynalite();
  return {
    TARN_KV: `dynamodb://${table}?region=us-east-1&endpoint=http%3A%2F%2F127.0.0.1%3A${port}`,
    AWS_ACCESS_KEY_ID: "testing",
    AWS_SECRET_ACCESS_KEY: "testing",
  };
}

/** Two branches, a merge, and everything read back. */
async function mainJob(home: Home, env: Variables): Promise<void> {
  const options = { env };
  const folder = join(home.folder, "data", "inner");
  mkdirSync(folder, { recursive: true });
  for (let i = 0; i < 50; i++) writeFileSync(join(folder, `${i}.txt`), `file ${i}`);
  await home.ok(["repo", "create", "lakefs://sales"], options);
  await home.ok(["put", "lakefs://sales/main/", join(home.folder, "data"), "-r"], options);
  await home.ok(["commit", "lakefs://sales/main", "-m", "first"], options);
  await home.ok(["branch", "lakefs://sales/dev", "--from", "main"], options);
  await home.ok(["put", "lakefs://sales/dev/inner/7.txt", "-"], { env, stdin: "changed" });
  await home.ok(["rm", "lakefs://sales/dev/inner/8.txt"], options);
  await home.ok(["commit", "lakefs://sales/dev", "-m", "second"], options);
  await home.ok(["merge", "lakefs://sales/dev", "lakefs://sales/main"], options);
  assert.equal(await home.text(["cat", "lakefs://sales/main/inner/7.txt"], options), "changed");
  assert.equal(await home.text(["cat", "lakefs://sales/main~1/inner/8.txt"], options), "file 8");
  assert.equal((await home.json(["ls", "lakefs://sales/main/inner/"], options)).length, 49);
  assert.equal((await home.json(["log", "lakefs://sales/main"], options)).length, 3);
  assert.deepEqual(await home.json(["status", "lakefs://sales/main"], options), []);
}

it("the main job works on PostgreSQL, and another machine's home sees it", async (t) => {
  if (!requirePostgres(t)) return;
  const env = await postgresVariables("main_job");
  await mainJob(openHome(t), env);
  const repositories = await openHome(t).json(["repo", "list"], { env });
  assert.deepEqual(repositories.map(({ id }: { id: string }) => id), ["sales"]);
});

it("the main job works on DynamoDB", async (t) => {
  if (!requireDynalite(t)) return;
  await mainJob(openHome(t), await dynamoVariables("main-job"));
});

for (const kind of ["postgres", "dynamodb"] as const) {
  it(`of parallel commits by processes on one ${kind} store none is lost`, async (t) => {
    if (!(kind === "postgres" ? requirePostgres(t) : requireDynalite(t))) return;
    const env = kind === "postgres" ? await postgresVariables("parallel") : await dynamoVariables("parallel");
    const [home, other] = [openHome(t), openHome(t)];
    const namespace = `local://${join(home.folder, "objects")}`;
    await home.ok(["repo", "create", "lakefs://shared", "--storage-namespace", namespace], { env });
    const count = kind === "postgres" ? 20 : 8;
    // Two at a time from each home; each puts its own object, so each has something to commit.
    const numbers = Array.from({ length: count }, (_, i) => i);
    await Promise.all([home, home, other, other].map(async (from) => {
      for (let i = numbers.shift(); i !== undefined; i = numbers.shift()) await putAndCommit(from, i, env);
    }));
    const log = await home.json(["log", "lakefs://shared/main"], { env });
    const found = await home.json(["ls", "lakefs://shared/main/"], { env });
    assert.equal(found.length, count);
    assert.deepEqual(await home.json(["status", "lakefs://shared/main"], { env }), []);
    // One process's commit may take what another has staged; that one then has nothing to commit.
    assert.ok(log.length >= 2 && log.length <= count + 1, `${log.length} commits`);
  });
}

async function putAndCommit(home: Home, i: number, env: Variables): Promise<void> {
  await home.ok(["put", `lakefs://shared/main/${i}`, "-"], { env, stdin: `object ${i}` });
  const { code, stderr } = await home.run(["commit", "lakefs://shared/main", "-m", `commit ${i}`], { env });
  assert.ok(code === 0 || code === 6, `exit ${code}: ${stderr}`);
}

it("kv copy moves a home to PostgreSQL, to DynamoDB and back", async (t) => {
  if (!requirePostgres(t) || !requireDynalite(t)) return;
  const postgres = await postgresVariables("moved"), dynamo = await dynamoVariables("moved");
  const env = { ...postgres, ...dynamo };
  const home = openHome(t);
  await mainJob(home, {});
  const lmdb = `lmdb:${join(home.path, "kv")}`;
  const copied = await home.json(["kv", "copy", lmdb, postgres["TARN_KV"]!], {
    env: { ...env, TARN_KV: "" },
  });
  assert.ok(copied.entries > 5 && copied.partitions >= 2 && copied.size_bytes > 1000);
  const again = await home.run(["kv", "copy", lmdb, postgres["TARN_KV"]!], { env: { ...env, TARN_KV: "" } });
  assert.equal(again.code, 4, again.stderr);
  await home.ok(["kv", "copy", postgres["TARN_KV"]!, dynamo["TARN_KV"]!], { env: { ...env, TARN_KV: "" } });
  const back = await home.json(["kv", "copy", dynamo["TARN_KV"]!, "lmdb:back"], {
    env: { ...env, TARN_KV: "" },
  });
  assert.deepEqual(
    [back.entries, back.partitions, back.size_bytes],
    [copied.entries, copied.partitions, copied.size_bytes],
  );
  const wanted = await home.text(["log", "lakefs://sales/main", "--json"]);
  for (const TARN_KV of [postgres["TARN_KV"]!, dynamo["TARN_KV"]!, "lmdb:back"]) {
    assert.equal(
      await home.text(["log", "lakefs://sales/main", "--json"], { env: { ...env, TARN_KV } }),
      wanted,
    );
  }
});

it("a home's configuration names its store, but not that of a home met on the way up", async (t) => {
  if (!requirePostgres(t)) return;
  const { port } = await sharedPostgres();
  const home = openHome(t);
  await home.ok(["init"], { env: { TARN_HOME: "" } });
  const own = join(home.folder, ".tarn");
  writeFileSync(join(home.folder, "password"), `${POSTGRES_PASSWORD}\n`);
  writeFileSync(
    join(own, "config.yaml"),
    `kv:\n  driver: postgres\n  url: "postgres://postgres@127.0.0.1:${port}/postgres?table=configured"\n` +
      `  password_file: ${join(home.folder, "password")}\n`,
  );
  await home.ok(["repo", "create", "lakefs://one"], { env: { TARN_HOME: own } });
  assert.match(psql(port, "SELECT count(*) FROM configured"), /^[1-9]/);
  const refused = await home.run(["repo", "list"], { env: { TARN_HOME: "" } });
  assert.equal(refused.code, 5);
  assert.match(refused.stderr, /found on the way up/);
});

it("no password shows in what is said about a store", async (t) => {
  if (!requirePostgres(t)) return;
  const { port } = await sharedPostgres();
  const home = openHome(t);
  const url = `postgres://postgres:secret-word@127.0.0.1:${port}/postgres`;
  const runs: [readonly string[], number, Variables][] = [
    [["repo", "list"], 5, { TARN_KV: url }],
    [["repo", "list", "--debug"], 5, { TARN_KV: url }],
    [["kv", "copy", url, "memory:"], 2, {}],
    [["repo", "list"], 2, { TARN_KV: `${url}?nonsense=secret-word` }],
    [["repo", "list"], 2, { TARN_KV: url.replace("@", "@@") }],
  ];
  for (const [args, code, env] of runs) {
    const { stdout, stderr, ...result } = await home.run(args, { env });
    assert.equal(result.code, code, stderr);
    assert.doesNotMatch(stdout + stderr, /secret-word/);
  }
});
