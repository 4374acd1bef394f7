/**
 * Physical addresses of new objects: `data/<shard>/<sub-shard>/<partition>/<id>`.
 *
 * The id is 7 bytes of microseconds and 9 random bytes, as lower-case base32hex, so ids sort by time. The folders are
 * drawn from the random part: 4 x 8 x 8 = 256 leaf folders, few enough for a local disk to make and flush quickly, many
 * enough to spread the writes of a bucket.
 */

import type { Clock } from "../../base/clock.ts";
import type { Randomness } from "../../base/randomness.ts";

const ALPHABET = "0123456789abcdefghijklmnopqrstuv";
const ID = /^[0-9a-v]{26}$/;

/** Returns a new time-sortable random id of 26 characters. */
export function newId(clock: Pick<Clock, "now">, randomness: Randomness): string {
  return encodeBase32Hex(idBytes(clock, randomness));
}

/**
 * Returns an ID as {@link newId} does, but one that sorts behind `previous`, even if the clock was set back since: what is in the
 * order of its IDs stays in the order in which it came to be.
 */
export function newIdAfter(previous: string, clock: Clock, randomness: Randomness): string {
  const id = newId(clock, randomness);
  if (id > previous || !ID.test(previous)) return id;
  return newId({ now: () => millisecondsOfId(previous) + 1 }, randomness);
}

/** Returns the time in an ID, in milliseconds: its first 56 bits are microseconds. */
export function millisecondsOfId(id: string): number {
  let value = 0;
  for (const digit of id.slice(0, 11)) value = value * 32 + ALPHABET.indexOf(digit);
  return (value * 2 + (ALPHABET.indexOf(id[11]!) >> 4)) / 1000;
}

/** Returns the address, relative to the storage namespace, of a new object. */
export function newAddress(clock: Clock, randomness: Randomness): string {
  const bytes = idBytes(clock, randomness);
  const spread = bytes[15]!;
  return `data/${spread >> 6}/${(spread >> 3) & 7}/${spread & 7}/${encodeBase32Hex(bytes)}`;
}

const OWN_ADDRESS = /^data\/[0-3]\/[0-7]\/[0-7]\/[0-9a-v]{26}$/;

/** Whether an address has the form of those that are made here: it needs no encoding, and can be stored anywhere. */
export function isOwnAddress(address: string): boolean {
  return OWN_ADDRESS.test(address);
}

function idBytes(clock: Pick<Clock, "now">, randomness: Randomness): Uint8Array {
  const bytes = new Uint8Array(16);
  let microseconds = Math.floor(clock.now() * 1000);
  for (let i = 6; i >= 0; i--) {
    bytes[i] = microseconds % 256;
    microseconds = Math.floor(microseconds / 256);
  }
  bytes.set(randomness.bytes(9), 7);
  return bytes;
}

/** Base 32 with an alphabet in ASCII order, so that texts sort as their bytes do. */
function encodeBase32Hex(bytes: Uint8Array): string {
  let out = "", buffer = 0, bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) out += ALPHABET[(buffer >> (bits - 5)) & 31];
    buffer &= (1 << bits) - 1;
  }
  return bits > 0 ? out + ALPHABET[(buffer << (5 - bits)) & 31] : out;
}
