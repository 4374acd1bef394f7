/** Requests and answers of spots as JSON, for hooks that are programs; `docs/catalog.md` describes the protocol. */

import { Buffer } from "node:buffer";
import type { Entry } from "../../drivers/catalog_store.ts";
import { CHANGEABLE, type HookRequest, type Spot } from "./spots.ts";

/** Names in JSON are in snake case; those of one word are the same. */
export function requestJson(request: HookRequest): Record<string, unknown> {
  const { source, ...rest } = request;
  // Bytes that are put are on their way, and a program does not see them.
  return source === undefined ? rest : { ...rest, source: "path" in source ? { path: source.path } : {} };
}

/** Returns a request with what a program may change, and has given. */
export function changedRequest(request: HookRequest, given: Readonly<Record<string, unknown>>): HookRequest {
  const changes = CHANGEABLE[request.spot].flatMap((name) => {
    const value = given[name];
    return isChange(name, value) ? [[name, value] as const] : [];
  });
  return changes.length === 0 ? request : { ...request, ...Object.fromEntries(changes) };
}

function isChange(name: keyof HookRequest, value: unknown): boolean {
  switch (name) {
    case "source":
      return typeof (value as { path?: unknown } | null)?.path === "string";
    case "metadata":
      return isPlainObject(value) && Object.values(value).every((text) => typeof text === "string");
    case "offset":
    case "length":
      return Number.isSafeInteger(value) && Number(value) >= 0;
    default:
      return typeof value === "string";
  }
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function entryToJson(entry: Entry): Record<string, unknown> {
  const { name, kind, sizeBytes, version, sha256, modifiedMs } = entry;
  return withoutAbsent({ name, kind, size_bytes: sizeBytes, version, sha256, modified_ms: modifiedMs });
}

function entryFromJson(value: unknown): unknown {
  if (!isPlainObject(value)) return value;
  const { name, kind, size_bytes, version, sha256, modified_ms } = value;
  return withoutAbsent({ name, kind, sizeBytes: size_bytes, version, sha256, modifiedMs: modified_ms });
}

/** Returns an answer as JSON; of a list one page. */
export function answerToJson(spot: Spot, answer: unknown): unknown {
  switch (spot) {
    case "stat":
    case "put":
      return entryToJson(answer as Entry);
    case "list":
      return (answer as readonly Entry[]).map(entryToJson);
    case "open": {
      const { path, sizeBytes } = answer as { path: string; sizeBytes: number };
      return { path, size_bytes: sizeBytes };
    }
    case "read_block":
      return { base64: Buffer.from(answer as Uint8Array).toString("base64") };
    default:
      return answer ?? null;
  }
}

/** Returns what JSON says as an answer; whether it is one is for its caller to check. */
export function answerFromJson(spot: Spot, value: unknown): unknown {
  switch (spot) {
    case "stat":
    case "put":
      return entryFromJson(value);
    case "list":
      return Array.isArray(value) ? value.map(entryFromJson) : value;
    case "open":
      return isPlainObject(value) ? { path: value["path"], sizeBytes: value["size_bytes"] } : value;
    case "read_block": {
      const text = isPlainObject(value) ? value["base64"] : undefined;
      return typeof text === "string" ? new Uint8Array(Buffer.from(text, "base64")) : value;
    }
    default:
      return value;
  }
}

function withoutAbsent(values: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(values).filter(([, value]) => value !== undefined && value !== null),
  );
}
