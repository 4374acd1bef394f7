/**
 * What a configuration may not say that was met on the way up from the working folder, and that its user has not read.
 *
 * It may have come with somebody's data. It may run nothing, may not send what the environment holds anywhere, and may not have
 * a token or a key shown to a server that it names. What it may fill in from the environment is listed, so that an option that
 * nobody thought of here counts as a place.
 */

import { CodedError } from "../../base/errors.ts";
import { isInterpolated } from "./interpolation.ts";
import { isLocalUrl } from "./options.ts";
import { shownOrigin } from "./problems.ts";
import { mapTexts } from "./reading.ts";
import { isMap, type Path, pathText } from "./tree.ts";
import type { Item, View } from "./view.ts";

/** Options of stores whose value goes nowhere. */
const HARMLESS: readonly string[] = ["profile", "token_env", "path_style", "timeout", "project"];

/** Options that name who is shown a token or a key. S3's is not: a signature tells nothing that others could use. */
const SHOWN_CREDENTIALS: Readonly<Record<string, readonly string[]>> = {
  graveler: ["kv"],
  lakefs: ["endpoint_url"],
  gcs: ["endpoint_url"],
  azure: ["endpoint_url"],
  github: ["api_url", "lfs_hosts"],
  hf: ["endpoint"],
};

/** What of a view only a trusted configuration may say, and why. */
export interface UntrustedKey {
  readonly path: Path;
  readonly why: string;
}

/** Fails with `untrusted_configuration` where a view says what only a trusted one may. */
export function checkUntrusted(view: View): void {
  const [first] = untrustedKeys(view);
  if (!first) return;
  const { raw } = view, key = pathText(first.path);
  throw new CodedError(
    "forbidden",
    "untrusted_configuration",
    `Cannot use ${shownOrigin(raw)}: "${key}": ${first.why}, and nobody has said that it is to be trusted`,
    { details: { file: raw.origin, key, ...raw.positionOf(first.path), isCatalog: true } },
  );
}

/** Returns what of a view only a trusted configuration may say. */
export function untrustedKeys({ sections, hooks }: View): readonly UntrustedKey[] {
  const keys: UntrustedKey[] = [];
  if (hooks && !(Array.isArray(hooks.value) && hooks.value.length === 0)) {
    keys.push({ path: hooks.path, why: "it names hooks" });
  }
  for (const item of sections.stores.values()) keys.push(...storeKeys(item));
  for (const section of ["schemes", "stages", "entries"] as const) {
    for (const item of sections[section].values()) keys.push(...interpolatedKeys(item));
  }
  const root = sections.cache.get("root");
  return root ? [...keys, ...interpolatedKeys(root)] : keys;
}

function storeKeys({ value, path }: Item): UntrustedKey[] {
  if (!isMap(value)) return [];
  const keys = Object.entries(value).flatMap(([name, inner]) =>
    HARMLESS.includes(name) ? [] : interpolatedKeys({ value: inner, path: [...path, name] })
  );
  const { driver } = value;
  const shown = typeof driver === "string" && Object.hasOwn(SHOWN_CREDENTIALS, driver)
    ? SHOWN_CREDENTIALS[driver]!
    : [];
  for (const name of shown) {
    const given = value[name] ?? null;
    if (given === null || (typeof given === "string" && isLocalUrl(given))) continue;
    keys.push({ path: [...path, name], why: "it says who is shown your credentials" });
  }
  return keys;
}

function interpolatedKeys({ value, path }: Item): UntrustedKey[] {
  const keys: UntrustedKey[] = [];
  mapTexts(value, path, (text, at) => {
    if (isInterpolated(text)) {
      keys.push({ path: at, why: "it puts a variable into a host, an endpoint or a path" });
    }
    return text;
  });
  return keys;
}
