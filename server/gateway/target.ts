/**
 * The target of a request line: which bucket, which key, which parameters. Read from the bytes that came, not by a URL parser:
 * to S3 `a//b`, `a/../b` and `a+b` are three names. Each part is decoded once.
 */

import { isIP } from "node:net";
import { hostOfHeader, isLoopbackHost } from "../addresses.ts";
import { S3Error } from "./errors.ts";
import { uriEncode } from "./signatures/canonical.ts";

/** The query of a request, each name and value decoded once. */
export interface S3Query {
  /** Returns the value of the first parameter of this name; `""` when it has none (`?uploads`). */
  get(name: string): string | undefined;
  has(name: string): boolean;
  /** All parameters in the order in which they came. */
  readonly entries: readonly (readonly [name: string, value: string])[];
}

export interface S3Target {
  /** The path as it is signed. */
  readonly canonicalPath: string;
  readonly bucket: string | undefined;
  readonly key: string | undefined;
  readonly query: S3Query;
}

/**
 * Parses a target. `hostBucket` is the bucket that the `Host` names, if it names one: the path is a key then, or nothing.
 * Fails with `InvalidURI`.
 */
export function parseTarget(target: string, hostBucket: string | undefined): S3Target {
  const question = target.indexOf("?");
  const path = decode(question < 0 ? target : target.slice(0, question));
  const query = queryOf(question < 0 ? "" : target.slice(question + 1));
  const canonicalPath = uriEncode(path, { keepSlashes: true });
  if (hostBucket !== undefined) {
    return { canonicalPath, bucket: hostBucket, key: path.slice(1) || undefined, query };
  }
  const slash = path.indexOf("/", 1);
  const bucket = (slash < 0 ? path.slice(1) : path.slice(1, slash)) || undefined;
  const key = slash < 0 ? undefined : path.slice(slash + 1) || undefined;
  if (bucket === undefined && slash >= 0) {
    throw new S3Error("InvalidURI", "Could not parse the specified URI: it names no bucket");
  }
  return { canonicalPath, bucket, key, query };
}

function queryOf(text: string): S3Query {
  const entries: [name: string, value: string][] = [];
  for (const pair of text.split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    // Only here, and not in paths, does S3 read "+" as a space.
    const [name, value] = (equals < 0 ? [pair, ""] : [pair.slice(0, equals), pair.slice(equals + 1)])
      .map((part) => decode(part.replaceAll("+", " ")));
    entries.push([name!, value!]);
  }
  const first = (name: string) => entries.find(([own]) => own === name);
  return { entries, get: (name) => first(name)?.[1], has: (name) => first(name) !== undefined };
}

function decode(text: string): string {
  if (!text.includes("%")) return text;
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new S3Error("InvalidURI", "Could not parse the specified URI: its percent-encoding is not UTF-8", {
      cause: error,
    });
  }
}

/** Which of our names a `Host` is: `undefined` when it is none. A bucket may stand in front of it. */
export function ownHost(
  header: string | null,
  hosts: ReadonlySet<string>,
): { readonly bucket: string | undefined } | undefined {
  const host = hostOfHeader(header);
  if (host === undefined) return undefined;
  if (hosts.has(host) || isLoopbackHost(host)) return { bucket: undefined };
  // Buckets have dots in their names, and so have we: the longest name of ours is meant.
  for (let dot = host.indexOf("."); dot >= 0; dot = host.indexOf(".", dot + 1)) {
    const own = host.slice(dot + 1);
    if (dot > 0 && (own === "localhost" || (hosts.has(own) && isIP(own) === 0))) {
      return { bucket: host.slice(0, dot) };
    }
  }
  return undefined;
}
