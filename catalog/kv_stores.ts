/** What an address of a key-value store leaves to be found: passwords, certificates, how a connection is encrypted. */

import { readFileSync } from "node:fs";
import { tryUtf8Text } from "../base/bytes.ts";
import { CodedError } from "../base/errors.ts";
import type { PostgresAddress } from "./kv_address.ts";

/** Hosts that are this machine: what is said to them passes no network. */
const LOCAL_HOST = /^(?:localhost|127(?:\.\d{1,3}){3}|::1|\/.*)$/;

/** Returns the encryption that an address asks for: checked, unless it says otherwise or the host is this machine. */
export function encryptionOf({ host, sslmode }: PostgresAddress): "none" | "unchecked" | "checked" {
  switch (sslmode ?? (LOCAL_HOST.test(host) ? "disable" : "verify-full")) {
    case "disable":
      return "none";
    case "require":
      return "unchecked";
    case "verify-full":
      return "checked";
  }
}

/** Returns the password of an address, wherever it stands. Fails with `kv_unauthenticated`. */
export function passwordOf(
  { password, passwordFile, passwordVariable }: PostgresAddress,
  variable: (name: string) => string | undefined,
): string | undefined {
  if (passwordFile !== undefined) {
    return textOf(passwordFile, { what: "password" }).replace(/\r?\n$/, "");
  }
  if (passwordVariable === undefined) return password;
  const value = variable(passwordVariable);
  if (value !== undefined) return value;
  throw new CodedError(
    "unauthenticated",
    "kv_unauthenticated",
    `Cannot open the key-value store: the variable "${passwordVariable}", which is to hold the password, is not set`,
  );
}

/** Returns the certificates that an address names. Fails with `kv_unauthenticated`. */
export function certificatesOf({ sslrootcert }: PostgresAddress): string | undefined {
  return sslrootcert === undefined ? undefined : textOf(sslrootcert, { what: "certificates" });
}

function textOf(path: string, { what }: { what: string }): string {
  let text: string | undefined, cause: unknown;
  try {
    text = tryUtf8Text(readFileSync(path));
  } catch (error) {
    cause = error;
  }
  if (text !== undefined) return text;
  throw new CodedError(
    "unauthenticated",
    "kv_unauthenticated",
    `Cannot open the key-value store: the file "${path}", which is to hold the ${what}, cannot be read`,
    { cause },
  );
}
