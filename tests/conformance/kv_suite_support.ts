/** What the parts of the KV suite share. */

import assert from "node:assert/strict";
import { hex, utf8 } from "../../base/bytes.ts";
import { isCoded } from "../../base/errors.ts";
import type { KvEntry, KvStore, ScanOptions } from "../../kv/store.ts";

export const P: Uint8Array = utf8("partition");
export const K: Uint8Array = utf8("key");

/** Declares one test of the suite. */
export type Check = (title: string, body: (store: KvStore) => Promise<void>) => void;

export async function valueOf(store: KvStore, key: Uint8Array): Promise<Uint8Array | undefined> {
  return (await store.get(P, key))?.value;
}

export async function entriesOf(store: KvStore, options?: ScanOptions, partition = P): Promise<KvEntry[]> {
  const entries: KvEntry[] = [];
  for await (const page of store.scan(partition, options)) entries.push(...page);
  return entries;
}

export async function keysOf(store: KvStore, options?: ScanOptions, partition = P): Promise<string[]> {
  return (await entriesOf(store, options, partition)).map(({ key }) => hex(key));
}

export async function scanned(store: KvStore, options?: ScanOptions): Promise<string[][]> {
  return (await entriesOf(store, options)).map(({ key, value }) => [hex(key), hex(value)]);
}

export async function refused(outcome: Promise<void>): Promise<void> {
  await assert.rejects(
    outcome,
    (error) => isCoded(error, "predicate_failed") && error.kind === "precondition",
  );
}
