/**
 * How a key-value store is named: in `TARN_KV`, by `tarn kv copy`, and as `url` in a home's configuration.
 *
 * ```
 * lmdb:FOLDER
 * postgres://[USER[:PASSWORD]@]HOST[:PORT]/DATABASE[?sslmode=…&sslrootcert=…&schema=…&table=…&password_file=…&password_env=…]
 * dynamodb://TABLE[?region=…&endpoint=…&profile=…]
 * memory:                                   of one process alone, for tests
 * ```
 *
 * Percent-encoding is decoded once in each part; a HOST with slashes in it is the folder of a local socket. No message says
 * more of an address than {@link shownKvAddress}, so that none holds a password.
 */

import { resolve } from "node:path";
import { CodedError } from "../base/errors.ts";

export type SslMode = "disable" | "require" | "verify-full";

export interface PostgresAddress {
  readonly driver: "postgres";
  readonly host: string;
  readonly port?: number;
  readonly database: string;
  readonly user?: string;
  readonly password?: string;
  /** Where the password stands, if not in the address. */
  readonly passwordFile?: string;
  readonly passwordVariable?: string;
  readonly sslmode?: SslMode;
  /** A file of certificates to trust. */
  readonly sslrootcert?: string;
  readonly schema?: string;
  readonly table?: string;
}

export interface DynamoAddress {
  readonly driver: "dynamodb";
  readonly table: string;
  readonly region?: string;
  readonly endpoint?: string;
  readonly profile?: string;
}

export type KvAddress =
  | { readonly driver: "memory" }
  | { readonly driver: "lmdb"; readonly folder: string }
  | PostgresAddress
  | DynamoAddress;

const POSTGRES_OPTIONS = ["sslmode", "sslrootcert", "schema", "table", "password_file", "password_env"];
const DYNAMO_OPTIONS = ["region", "endpoint", "profile"];
const SSL_MODES: readonly string[] = ["disable", "require", "verify-full"];

/** Parses an address; `folder` is what relative paths begin at. Fails with `invalid_kv_address`. */
export function parseKvAddress(text: string, folder: string): KvAddress {
  if (text === "memory:") return { driver: "memory" };
  const path = /^lmdb:(?!\/\/)(.+)$/s.exec(text)?.[1];
  if (path?.startsWith("~")) refuse("write the folder of lmdb: in full, or lmdb:./~ for one of that name");
  if (path !== undefined) return { driver: "lmdb", folder: resolve(folder, path) };
  const match = /^(postgres|postgresql|dynamodb):\/\/([^?#]*)(?:\?([^?#]*))?$/.exec(text);
  if (!match) {
    refuse("write lmdb:FOLDER, postgres://HOST/DATABASE or dynamodb://TABLE; ? # in a name as %3F %23");
  }
  const [, scheme, rest, query = ""] = match as unknown as [string, string, string, string | undefined];
  return scheme === "dynamodb" ? dynamoAddress(rest, query) : postgresAddress(rest, query, folder);
}

/** Returns an address as it may be shown: without a password. */
export function shownKvAddress(address: KvAddress): string {
  switch (address.driver) {
    case "memory":
      return "memory:";
    case "lmdb":
      return `lmdb:${address.folder}`;
    case "postgres": {
      const { user, host, port, database, schema, table } = address;
      const place = `${user === undefined ? "" : `${user}@`}${host}${port === undefined ? "" : `:${port}`}`;
      return `postgres://${place}/${database}${shownOptions({ schema, table })}`;
    }
    case "dynamodb": {
      const { table, region, endpoint } = address;
      return `dynamodb://${table}${shownOptions({ region, endpoint })}`;
    }
  }
}

function postgresAddress(rest: string, query: string, folder: string): PostgresAddress {
  const match = /^(?:([^@/:]*)(?::([^@/]*))?@)?(\[[0-9A-Fa-f:.]+\]|[^@/:]+)(?::(\d{1,5}))?\/([^/]+)$/.exec(
    rest,
  );
  if (!match) refuse("write postgres://USER@HOST:PORT/DATABASE; @ : / in a name as %40 %3A %2F");
  const [, user, password, host, port, database] = match;
  const options = optionsOf(query, POSTGRES_OPTIONS);
  const { sslmode, sslrootcert, schema, table, password_file: file, password_env: variable } = options;
  if (sslmode !== undefined && !SSL_MODES.includes(sslmode)) {
    refuse(`sslmode is one of ${SSL_MODES.join(", ")}`);
  }
  if ([password, file, variable].filter((given) => given !== undefined).length > 1) {
    refuse("it names more than one place for the password");
  }
  return {
    driver: "postgres",
    host: decoded(host!).replace(/^\[|\]$/g, ""),
    database: decoded(database!),
    ...(port === undefined ? {} : { port: Number(port) }),
    ...(user ? { user: decoded(user) } : {}),
    ...(password === undefined ? {} : { password: decoded(password) }),
    ...(file === undefined ? {} : { passwordFile: resolve(folder, file) }),
    ...(variable === undefined ? {} : { passwordVariable: variable }),
    ...(sslmode === undefined ? {} : { sslmode: sslmode as SslMode }),
    ...(sslrootcert === undefined ? {} : { sslrootcert: resolve(folder, sslrootcert) }),
    ...(schema === undefined ? {} : { schema }),
    ...(table === undefined ? {} : { table }),
  };
}

function dynamoAddress(rest: string, query: string): DynamoAddress {
  const table = decoded(rest);
  if (!/^[A-Za-z0-9_.-]{3,255}$/.test(table)) {
    refuse("a table of DynamoDB has 3 to 255 letters, digits, _, . and -");
  }
  const options = optionsOf(query, DYNAMO_OPTIONS);
  if (options["endpoint"] !== undefined && !/^https?:\/\/[^/@?#\s]+\/?$/.test(options["endpoint"])) {
    refuse("an endpoint is http:// or https://, and a host");
  }
  return { driver: "dynamodb", table, ...options };
}

function optionsOf(query: string, known: readonly string[]): Record<string, string> {
  const options: Record<string, string> = {};
  for (const pair of query === "" ? [] : query.split("&")) {
    const at = pair.indexOf("=");
    const name = at < 0 ? pair : pair.slice(0, at), value = at < 0 ? "" : decoded(pair.slice(at + 1));
    // What stands there instead may be a secret.
    if (!known.includes(name)) refuse(`its options are ${known.join(", ")}`);
    if (value === "" || options[name] !== undefined) refuse(`its option "${name}" is empty, or given twice`);
    options[name] = value;
  }
  return options;
}

function decoded(text: string): string {
  let plain: string;
  try {
    plain = decodeURIComponent(text);
  } catch {
    refuse(`a "%" that stands for itself must be written as "%25"`);
  }
  if (plain.includes("\0")) refuse("it contains a NUL character");
  return plain;
}

function shownOptions(options: Readonly<Record<string, string | undefined>>): string {
  const given = Object.entries(options).filter(([, value]) => value !== undefined);
  return given.length === 0 ? "" : `?${given.map(([name, value]) => `${name}=${value}`).join("&")}`;
}

function refuse(why: string): never {
  throw new CodedError(
    "invalid",
    "invalid_kv_address",
    `Cannot use the address of a key-value store: ${why}`,
  );
}
