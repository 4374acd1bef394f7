/** Targets of calls: what a URI leads to, as a call and its hooks have made of it. */

import { CodedError } from "../base/errors.ts";
import { formatUri, parseUri, type Uri } from "../base/uri.ts";
import type { PutSource } from "../drivers/catalog_store.ts";
import type { HookRequest } from "./hooks/mod.ts";
import type { Resolution } from "./resolver/mod.ts";

/** What a URI was resolved to. */
export interface Target {
  /** As it was asked for. */
  readonly asked: string;
  readonly resolution: Resolution;
  /** The physical URI. */
  readonly physical: string;
}

/** Returns a target as a hook has passed it on. */
export function targetOf(target: Target, { physical, logical }: HookRequest): Target {
  if (physical === target.physical || physical === undefined) return target;
  const resolution = logical === undefined ? { text: physical, uri: parseUri(physical) } : target.resolution;
  return { ...target, resolution, physical };
}

/** Returns the target of a local file that is put into a folder: it keeps its own name there. */
export function namedAfter(target: Target, source: PutSource): Target {
  const uri = parseUri(target.physical);
  if (uri.segments.at(-1) !== "") return target;
  const isFolder = parseUri(target.asked).segments.at(-1) === "";
  const name = isFolder && "path" in source ? source.path.split(/[\\/]/).at(-1)! : "";
  if (name === "") {
    throw new CodedError("invalid", "invalid_uri", `Cannot put to "${target.asked}": it names no file`, {
      details: { uri: target.asked },
    });
  }
  return { ...target, physical: formatUri(below(uri, [name])) };
}

/** Returns the URI of something under a folder. */
export function below(uri: Uri, parts: readonly string[]): Uri {
  const segments = uri.segments.at(-1) === "" ? uri.segments.slice(0, -1) : uri.segments;
  return { ...uri, segments: [...segments, ...parts] };
}
