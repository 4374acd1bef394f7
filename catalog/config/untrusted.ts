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
import { isMap, type Path, pathText, type RawConfig } from "./tree.ts";
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

/** Fails with `untrusted_configuration` where a view says what only a trusted one may. */
export function checkUntrusted(view: View): void {
  const { raw, sections, hooks } = view;
  if (hooks && !(Array.isArray(hooks.value) && hooks.value.length === 0)) {
    refuse(raw, hooks.path, "it names hooks");
  }
  for (const item of sections.stores.values()) checkStore(raw, item);
  for (const section of ["schemes", "stages", "entries"] as const) {
    for (const item of sections[section].values()) refuseInterpolation(raw, item);
  }
  const root = sections.cache.get("root");
  if (root) refuseInterpolation(raw, root);
}

function checkStore(raw: RawConfig, { value, path }: Item): void {
  if (!isMap(value)) return;
  for (const [name, inner] of Object.entries(value)) {
    if (!HARMLESS.includes(name)) refuseInterpolation(raw, { value: inner, path: [...path, name] });
  }
  const { driver } = value;
  const shown = typeof driver === "string" && Object.hasOwn(SHOWN_CREDENTIALS, driver)
    ? SHOWN_CREDENTIALS[driver]!
    : [];
  for (const name of shown) {
    const given = value[name] ?? null;
    if (given === null || (typeof given === "string" && isLocalUrl(given))) continue;
    refuse(raw, [...path, name], "it says who is shown your credentials");
  }
}

function refuseInterpolation(raw: RawConfig, { value, path }: Item): void {
  mapTexts(value, path, (text, at) => {
    if (isInterpolated(text)) refuse(raw, at, "it puts a variable into a host, an endpoint or a path");
    return text;
  });
}

function refuse(raw: RawConfig, path: Path, why: string): never {
  throw new CodedError(
    "forbidden",
    "untrusted_configuration",
    `Cannot use ${shownOrigin(raw)}: "${
      pathText(path)
    }": ${why}, and nobody has said that it is to be trusted`,
    { details: { file: raw.origin, key: pathText(path), ...raw.positionOf(path), isCatalog: true } },
  );
}
