/**
 * The configuration of a home, `config.yaml` in its folder:
 *
 * ```yaml
 * kv: {driver: postgres, url: "postgres://tarn@db.example/tarn", password_file: /run/secrets/tarn}   # or password_env: NAME
 * kv: {driver: dynamodb, table: tarn, region: eu-west-1}                                            # endpoint, profile
 * kv: {driver: lmdb, folder: /srv/tarn-kv}
 * s3: {buckets: branch, auto_commit: idle 30}   # of tarn serve; buckets: repository, auto_commit: off | every 300
 * ```
 *
 * A home that was found on the way up from the working folder may have come with somebody's data. Another's store would take
 * our writes, and be shown our credentials, so such a home may not name one.
 */

import { readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { tryUtf8Text } from "../base/bytes.ts";
import { CodedError } from "../base/errors.ts";
import { type KvAddress, parseKvAddress } from "./kv_address.ts";

const FILE = "config.yaml";
const MOST_BYTES = 1024 * 1024;

const OPTIONS: Readonly<Record<string, readonly string[]>> = {
  postgres: ["driver", "url", "password_file", "password_env"],
  dynamodb: ["driver", "table", "region", "endpoint", "profile"],
  lmdb: ["driver", "folder"],
};

/**
 * Returns the key-value store that a home's configuration names, or `undefined` when it names none.
 *
 * Fails with `invalid_configuration`, `untrusted_configuration`, `home_forbidden`.
 */
export async function kvOfHome(
  home: string,
  { isTrusted }: { isTrusted: boolean },
): Promise<KvAddress | undefined> {
  const { path, config } = await configOf(home);
  if (config["kv"] === undefined || config["kv"] === null) return undefined;
  if (!isTrusted) {
    throw new CodedError(
      "forbidden",
      "untrusted_configuration",
      `Cannot use "${path}": it names a key-value store, and its home was found on the way up from the working folder`,
    );
  }
  return addressOf(path, config["kv"], home);
}

/** How a home's server shows repositories to S3's clients. */
export interface S3Config {
  readonly buckets: "repository" | "branch";
  readonly autoCommit?: { readonly when: "idle" | "every"; readonly seconds: number };
}

/** Returns what a home's configuration says of S3, with what holds where it says nothing. Fails with `invalid_configuration`. */
export async function s3OfHome(home: string): Promise<S3Config> {
  const { path, config } = await configOf(home);
  const known = ["buckets", "auto_commit"];
  const { buckets = "repository", auto_commit: autoCommit = "off" } = mapOf(path, {
    value: config["s3"] ?? null,
    what: '"s3"',
    known,
  });
  if (buckets !== "repository" && buckets !== "branch") {
    refuse(path, '"s3.buckets" is repository or branch');
  }
  if (autoCommit === "off" || autoCommit === false) return { buckets };
  const match = /^(idle|every) +([1-9][0-9]{0,6})$/.exec(String(autoCommit));
  if (!match) refuse(path, '"s3.auto_commit" is off, idle SECONDS or every SECONDS');
  return { buckets, autoCommit: { when: match[1] as "idle" | "every", seconds: Number(match[2]) } };
}

/** Returns the sections of a home's configuration; there are none where there is no file. */
async function configOf(home: string): Promise<{ path: string; config: Record<string, unknown> }> {
  const path = join(home, FILE);
  const text = textOf(path);
  if (text === undefined) return { path, config: {} };
  const { parseDocument } = await import("yaml");
  // Duplicate keys are refused; no tag of the default schema makes anything but plain values.
  const document = parseDocument(text, { uniqueKeys: true, version: "1.2" });
  const problem = document.errors[0];
  if (problem) refuse(path, `line ${problem.linePos?.[0].line ?? 1} is no YAML that tarn reads`);
  return { path, config: mapOf(path, { value: valueOf(path, document), what: "it", known: ["kv", "s3"] }) };
}

function addressOf(path: string, section: unknown, home: string): KvAddress {
  const driver = (section as { driver?: unknown } | null)?.driver;
  const known = typeof driver === "string" ? OPTIONS[driver] : undefined;
  if (!known) refuse(path, `"kv.driver" is one of ${Object.keys(OPTIONS).join(", ")}`);
  const given = mapOf(path, { value: section, what: '"kv"', known });
  for (const [name, value] of Object.entries(given)) {
    if (typeof value !== "string" || value === "") refuse(path, `"kv.${name}" is not a text`);
  }
  const options = given as Readonly<Record<string, string>>;
  const needed = (name: string): string => options[name] ?? refuse(path, `"kv.${name}" is missing`);
  if (driver === "lmdb") return parseKvAddress(`lmdb:${needed("folder")}`, home);
  const { driver: _, url: __, table: ___, ...others } = options;
  const query = Object.entries(others).map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join(
    "&",
  );
  const base = driver === "postgres" ? needed("url") : `dynamodb://${encodeURIComponent(needed("table"))}`;
  if (driver === "postgres" && !/^postgres(?:ql)?:/.test(base)) {
    refuse(path, '"kv.url" begins with postgres://');
  }
  return parseKvAddress(query === "" ? base : `${base}${base.includes("?") ? "&" : "?"}${query}`, home);
}

function mapOf(
  path: string,
  { value, what, known }: { value: unknown; what: string; known: readonly string[] },
): Record<string, unknown> {
  if (value === null) return {};
  if (typeof value !== "object" || Array.isArray(value)) {
    refuse(path, `${what} is no list of names and values`);
  }
  for (const name of Object.keys(value as object)) {
    if (!known.includes(name)) refuse(path, `${what} has no "${name}"; known are ${known.join(", ")}`);
  }
  return value as Record<string, unknown>;
}

function valueOf(path: string, document: { toJS(options: { maxAliasCount: number }): unknown }): unknown {
  try {
    return document.toJS({ maxAliasCount: 100 });
  } catch {
    return refuse(path, "its aliases make too much of it");
  }
}

function textOf(path: string): string | undefined {
  try {
    const stat = statSync(path, { throwIfNoEntry: false });
    if (!stat) return undefined;
    if (!stat.isFile() || stat.size > MOST_BYTES) refuse(path, "it is no file of at most 1 MiB");
    return tryUtf8Text(readFileSync(path)) ?? refuse(path, "it is not UTF-8");
  } catch (error) {
    if (error instanceof CodedError) throw error;
    throw new CodedError("forbidden", "home_forbidden", `Cannot read "${path}"`, { cause: error });
  }
}

function refuse(path: string, why: string): never {
  throw new CodedError("invalid", "invalid_configuration", `Cannot use "${path}": ${why}`);
}
