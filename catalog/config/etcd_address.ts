/**
 * How an etcd that holds a configuration is named:
 *
 * ```
 * etcd+https://HOST[:PORT]/PREFIX[?user=NAME&password_env=NAME|password_file=FILE&ca_file=FILE&cert_file=FILE&key_file=FILE]
 * etcd+http://HOST[:PORT]/PREFIX          without TLS; with a user only on this machine
 * ```
 *
 * PREFIX is what keys begin with, its first slash included. A password never stands in an address.
 */

import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { tryUtf8Text } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { isLocalUrl } from "./options.ts";

export interface EtcdAddress {
  /** Without options, as messages show it. */
  readonly shown: string;
  readonly host: string;
  readonly port: number;
  /** Without a slash at its end. */
  readonly prefix: string;
  readonly user?: string;
  readonly passwordFile?: string;
  readonly passwordVariable?: string;
  /** Absent where the connection is not encrypted. */
  readonly tls?: { readonly caFile?: string; readonly certFile?: string; readonly keyFile?: string };
}

/** What an address leaves to be found. */
export interface EtcdCredentials {
  readonly user?: { readonly name: string; readonly password: string };
  /** PEM. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string };
}

const OPTIONS = ["user", "password_env", "password_file", "ca_file", "cert_file", "key_file"] as const;
const FORM =
  /^etcd\+(https?):\/\/([A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?(\/[^?#]*)(?:\?([^?#]*))?$/;
const DEFAULT_PORT = 2379;

/** Parses an address; files in it start from `folder`. Fails with `invalid_etcd_address`. */
export function parseEtcdAddress(text: string, folder: string): EtcdAddress {
  const match = FORM.exec(text);
  if (!match) refuse("write etcd+https://HOST:PORT/PREFIX, without a user or password before the host");
  const [, scheme, host, portText, path, query = ""] = match as unknown as [
    string,
    string,
    string,
    string?,
    string?,
    string?,
  ];
  const port = portText === undefined ? DEFAULT_PORT : Number(portText);
  if (port < 1 || port > 65535) refuse("its port is none");
  const prefix = decoded(path!).replace(/\/+$/, "");
  if (prefix === "") refuse("it names no prefix; write etcd+https://HOST:PORT/PREFIX");
  const options = optionsOf(query);
  const fileOf = (name: string) => options[name] === undefined ? undefined : resolve(folder, options[name]);
  checkOptions(options, { isEncrypted: scheme === "https", isLocal: isLocalUrl(`http://${host}`) });
  return withoutAbsent({
    shown: `etcd+${scheme}://${host}:${port}${prefix}`,
    host: host.replace(/^\[|\]$/g, ""),
    port,
    prefix,
    user: options["user"],
    passwordFile: fileOf("password_file"),
    passwordVariable: options["password_env"],
    tls: scheme === "http" ? undefined : withoutAbsent({
      caFile: fileOf("ca_file"),
      certFile: fileOf("cert_file"),
      keyFile: fileOf("key_file"),
    }),
  });
}

function checkOptions(
  options: Readonly<Record<string, string>>,
  { isEncrypted, isLocal }: { isEncrypted: boolean; isLocal: boolean },
): void {
  const has = (name: string) => options[name] !== undefined;
  const passwords = ["password_env", "password_file"].filter(has).length;
  if (has("user") !== (passwords === 1) || passwords > 1) {
    refuse("a user has one of ?password_env=NAME and ?password_file=FILE");
  }
  if (has("cert_file") !== has("key_file")) refuse("cert_file and key_file belong together");
  if (isEncrypted) return;
  if (has("ca_file") || has("cert_file")) refuse("certificates need etcd+https://");
  if (has("user") && !isLocal) refuse("a password needs etcd+https://, but for this machine");
}

function optionsOf(query: string): Record<string, string> {
  const options: Record<string, string> = {};
  for (const pair of query === "" ? [] : query.split("&")) {
    const at = pair.indexOf("=");
    const name = at < 0 ? pair : pair.slice(0, at);
    // What stands there instead may be a secret, and is not repeated.
    if (!(OPTIONS as readonly string[]).includes(name)) refuse(`its options are ${OPTIONS.join(", ")}`);
    const value = at < 0 ? "" : decoded(pair.slice(at + 1));
    if (value === "" || options[name] !== undefined) refuse(`its option "${name}" is empty, or given twice`);
    options[name] = value;
  }
  return options;
}

/** Reads what an address names: a password, certificates. Fails with `etcd_unauthenticated`. */
export function etcdCredentials(
  { user, passwordFile, passwordVariable, tls }: EtcdAddress,
  variable: (name: string) => string | undefined,
): EtcdCredentials {
  const password = passwordVariable === undefined
    ? passwordFile && textOf(passwordFile, "password").replace(/\r?\n$/, "")
    : variable(passwordVariable);
  if (user !== undefined && password === undefined) {
    throw unauthenticated(`the variable "${passwordVariable}", which is to hold the password, is not set`);
  }
  return withoutAbsent({
    user: user === undefined ? undefined : { name: user, password: password! },
    tls: tls && withoutAbsent({
      ca: tls.caFile && textOf(tls.caFile, "certificates"),
      cert: tls.certFile && textOf(tls.certFile, "certificate"),
      key: tls.keyFile && textOf(tls.keyFile, "key"),
    }),
  });
}

function textOf(path: string, what: string): string {
  let text: string | undefined, cause: unknown;
  try {
    text = tryUtf8Text(readFileSync(path));
  } catch (error) {
    cause = error;
  }
  return text ??
    fail(unauthenticated(`the file "${path}", which is to hold the ${what}, cannot be read`, cause));
}

function unauthenticated(why: string, cause?: unknown): CodedError {
  return new CodedError("unauthenticated", "etcd_unauthenticated", `Cannot use etcd: ${why}`, { cause });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    refuse(`a "%" that stands for itself must be written as "%25"`);
  }
}

function withoutAbsent<T extends object>(values: T): { [K in keyof T]: Exclude<T[K], undefined> } {
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return Object.fromEntries(given) as { [K in keyof T]: Exclude<T[K], undefined> };
}

function refuse(why: string): never {
  fail(new CodedError("invalid", "invalid_etcd_address", `Cannot use the address of an etcd: ${why}`));
}

function fail(error: CodedError): never {
  throw error;
}
