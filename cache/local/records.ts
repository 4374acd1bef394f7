/**
 * Records: MessagePack of `[version, CRC-32 of the payload, payload]`, the payload MessagePack too. One comes whole, by a
 * rename. What is truncated, damaged or of another version counts as not there: everything that a record tells can be found out
 * again.
 */

import { mkdirSync, readFileSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { crc32 } from "../../base/platform.ts";
import { errnoOf, isMissing } from "./failures.ts";

const VERSION = 1;

export interface MessagePack {
  encode(value: unknown): Uint8Array;
  decode(bytes: Uint8Array): unknown;
}

let loaded: Promise<MessagePack> | undefined;

/** Loads MessagePack once: not every command has a cache. */
export function messagePack(): Promise<MessagePack> {
  return loaded ??= import("@msgpack/msgpack").then(({ Encoder, Decoder }) => {
    const encoder = new Encoder(), decoder = new Decoder();
    return { encode: (value) => encoder.encode(value), decode: (bytes) => decoder.decode(bytes) };
  });
}

/** Returns the bytes of a record. */
export function sealed(pack: MessagePack, value: unknown): Uint8Array {
  const payload = pack.encode(value);
  return pack.encode([VERSION, crc32(payload), payload]);
}

/** Returns what was sealed, or `undefined` when it does not hold. */
export function unsealed(pack: MessagePack, bytes: Uint8Array): unknown {
  try {
    const [version, crc, payload] = pack.decode(bytes) as [unknown, unknown, unknown];
    if (version !== VERSION || !(payload instanceof Uint8Array) || crc32(payload) !== crc) return undefined;
    return pack.decode(payload);
  } catch {
    return undefined;
  }
}

/** Returns the bytes of a file, or `undefined` when it is not there or cannot be read. */
export function bytesAt(path: string): Uint8Array | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return undefined;
  }
}

/** Reads a record; `undefined` when there is none that holds. */
export async function readRecord(path: string): Promise<unknown> {
  const bytes = bytesAt(path);
  return bytes && unsealed(await messagePack(), bytes);
}

/** Writes a record by way of a temporary file. */
export async function writeRecord(path: string, value: unknown, temporary: string): Promise<void> {
  placeRecord(path, sealed(await messagePack(), value), temporary);
}

/** Writes the bytes of a record by way of a temporary file. */
export function placeRecord(path: string, bytes: Uint8Array, temporary: string): void {
  try {
    writeFileSync(temporary, bytes, { flag: "wx" });
    moveInto(temporary, path);
  } catch (error) {
    removeIfThere(temporary);
    throw error;
  }
}

/** Renames a file to its name, in a folder that is made if it is missing. */
export function moveInto(temporary: string, path: string): void {
  try {
    renameSync(temporary, path);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
    mkdirSync(dirname(path), { recursive: true });
    renameSync(temporary, path);
  }
}

/** Removes a file that may be gone already; returns whether it was there. */
export function removeIfThere(path: string): boolean {
  try {
    unlinkSync(path);
    return true;
  } catch (error) {
    if (isMissing(error)) return false;
    throw error;
  }
}
