/**
 * Real servers for tests: each on a free port, with its data in a temporary folder. A server lives as long as its script's
 * standard input is open, so it ends with the test file whatever ends that.
 */

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { after, type TestContext } from "node:test";
import { fileURLToPath } from "node:url";
import { findTool, requireThat } from "../support/requires.ts";

export interface Service {
  readonly port: number;
  /** Ends it, and waits until it has. */
  stop(): Promise<void>;
}

export const POSTGRES_PASSWORD = "testing";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const services = new Map<string, Promise<Service>>();

/** Returns whether PostgreSQL is there; if not, the test is skipped, or fails under CI. */
export function requirePostgres(t: TestContext): boolean {
  const found = findTool("postgres") !== undefined || existsSync("/usr/lib/postgresql");
  return requireThat(t, found && findTool("bash") !== undefined, "PostgreSQL is not installed");
}

/** Returns whether dynalite is there; if not, the test is skipped, or fails under CI. */
export function requireDynalite(t: TestContext): boolean {
  const found = existsSync(`${ROOT}/node_modules/dynalite/cli.js`);
  return requireThat(
    t,
    found && findTool("node") !== undefined,
    "dynalite, or node to run it, is not installed",
  );
}

/** Returns whether etcd is there, with what its tests need; if not, the test is skipped, or fails under CI. */
export function requireEtcd(t: TestContext): boolean {
  const missing = ["etcd", "etcdctl", "openssl", "curl", "bash"].filter((tool) =>
    findTool(tool) === undefined
  );
  return requireThat(t, missing.length === 0, `${missing.join(", ")} not installed`);
}

/** Returns the etcd server of this test file, started when it is first asked for. */
export function sharedEtcd(): Promise<Service> {
  return shared("etcd", () => startEtcd());
}

/** Starts etcd; with a folder over TLS, its certificates in the folder. */
export function startEtcd(certificates?: string): Promise<Service> {
  return start("bash", [
    `${ROOT}/tests/services/etcd.sh`,
    ...(certificates === undefined ? [] : [certificates]),
  ]);
}

/** Returns the PostgreSQL server of this test file, started when it is first asked for. */
export function sharedPostgres(): Promise<Service> {
  return shared("postgres", () => startPostgres());
}

/** Returns the dynalite server of this test file, started when it is first asked for. */
export function sharedDynalite(): Promise<Service> {
  return shared("dynalite", () => startDynalite());
}

/** Starts PostgreSQL; with a folder and a port it can be stopped and started again with the same data. */
export function startPostgres(again?: { folder: string; port?: number }): Promise<Service> {
  const place = again ? [again.folder, ...(again.port === undefined ? [] : [String(again.port)])] : [];
  return start("bash", [`${ROOT}/tests/services/postgres.sh`, ...place]);
}

/** Starts dynalite, in memory. */
export function startDynalite(): Promise<Service> {
  return start("node", [`${ROOT}/tests/services/dynalite.cjs`]);
}

function shared(name: string, begin: () => Promise<Service>): Promise<Service> {
  let service = services.get(name);
  if (!service) services.set(name, service = begin());
  return service;
}

after(async () => {
  const started = [...services.values()];
  // Another test file of the same process starts its own.
  services.clear();
  for (const service of started) await (await service.catch(() => undefined))?.stop();
});

async function start(program: string, args: readonly string[]): Promise<Service> {
  const child = spawn(program, args, { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()));
  const port = Number(await firstLine(child));
  assert.ok(port > 0, `${args[0]} did not start`);
  return {
    port,
    async stop() {
      child.stdin!.end();
      await ended;
    },
  };
}

function firstLine(child: ChildProcess): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = "";
    child.stdout!.setEncoding("utf8").on("data", (piece: string) => {
      text += piece;
      if (text.includes("\n")) resolve(text);
    });
    child.once("error", reject);
    child.once("close", () => resolve(text));
  });
}

/** Runs etcdctl on an etcd of this machine; returns what it prints. */
export function etcdctl(port: number, args: readonly string[], input = ""): string {
  const { status, stdout, stderr } = spawnSync("etcdctl", ["--endpoints", `127.0.0.1:${port}`, ...args], {
    input,
    encoding: "utf8",
    env: { PATH: "/usr/bin:/bin:/usr/local/bin", ETCDCTL_API: "3" },
  });
  assert.equal(status, 0, stderr);
  return stdout.trim();
}

/** Runs statements on a PostgreSQL server as its superuser. */
export function psql(port: number, statements: string): string {
  const url = `postgres://postgres@127.0.0.1:${port}/postgres`;
  const { status, stdout, stderr } = spawnSync("psql", [url, "-qAtX", "-v", "ON_ERROR_STOP=1"], {
    input: statements,
    encoding: "utf8",
    env: { PATH: "/usr/bin:/bin:/usr/local/bin", PGPASSWORD: POSTGRES_PASSWORD },
  });
  assert.equal(status, 0, stderr);
  return stdout.trim();
}
