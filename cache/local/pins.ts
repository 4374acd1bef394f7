/** What a branch, a tag or a time stood for when it was last asked for; kinds never meet, so `tag:v1` is not `branch:v1`. */

import type { PinKey } from "../cache.ts";
import { cacheFailure } from "./failures.ts";
import type { Parts } from "./files.ts";
import { readRecord, writeRecord } from "./records.ts";

export async function recordPin({ layout, temporary }: Parts, pin: PinKey, fixed: string): Promise<void> {
  const { store, place, kind, name } = pin;
  const path = layout.refOf(pin);
  const value = { store, place, kind, name, fixed };
  try {
    if (isPin(await readRecord(path), value)) return;
    await writeRecord(path, value, await temporary.path());
  } catch (error) {
    throw cacheFailure(error, "pin", `${store}://${place}?at=${kind}:${name}`);
  }
}

export async function pinned({ layout }: Parts, pin: PinKey): Promise<string | undefined> {
  const record = await readRecord(layout.refOf(pin)) as { fixed?: unknown } | undefined;
  return typeof record?.fixed === "string" ? record.fixed : undefined;
}

function isPin(record: unknown, value: Record<string, string>): boolean {
  return typeof record === "object" && record !== null &&
    Object.entries(value).every(([name, text]) => (record as Record<string, unknown>)[name] === text);
}
