/**
 * The names that a time zone has for its offsets from UTC, read from the system's file of it (TZif, RFC 9636):
 *
 * ```
 * "TZif", version (1), zeros (15), six counts (4 bytes each): isutcnt, isstdcnt, leapcnt, timecnt, typecnt, charcnt
 * times (timecnt × 4, or 8), type of each (timecnt × 1), types (typecnt × (offset in seconds (4), is DST (1), name at (1))),
 * names (charcnt), leap seconds (leapcnt × 8, or 12), isstdcnt × 1, isutcnt × 1
 * ```
 *
 * From version 2 on a second block follows in which times have 8 bytes, then a line with the rule for all later times, such as
 * `EST5EDT,M3.2.0,M11.1.0`.
 */

import { readFileSync } from "node:fs";

const HEADER_BYTES = 44;

/** Returns the names by the offset in seconds, of the first file that is one; none when there is none. */
export function readZoneNames(files: readonly string[]): ReadonlyMap<number, string> {
  for (const file of files) {
    try {
      return zoneNamesOf(readFileSync(file));
    } catch {
      // Not there, or no such file: the next.
    }
  }
  return new Map();
}

/** Returns the names by the offset in seconds; of several for one offset the latest. A zone may be called `+03`. */
export function zoneNamesOf(bytes: Uint8Array): ReadonlyMap<number, string> {
  const names = new Map<number, string>();
  const first = blockAt(bytes, 0, 4);
  const isOld = bytes[4] === 0;
  const { types, end } = isOld ? first : blockAt(bytes, first.end, 8);
  for (const { offset, name } of types) names.set(offset, name);
  if (!isOld) addRule(names, ascii(bytes.subarray(end)));
  return names;
}

interface ZoneType {
  readonly offset: number;
  readonly name: string;
}

/** Reads a block; its types come in the order in which they were last used. */
function blockAt(bytes: Uint8Array, at: number, timeBytes: number): { types: ZoneType[]; end: number } {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (ascii(bytes.subarray(at, at + 4)) !== "TZif") throw new RangeError("no file of a time zone");
  const [utc, standard, leaps, times, types, characters] = [0, 1, 2, 3, 4, 5].map((index) =>
    view.getUint32(at + 20 + 4 * index)
  ) as [number, number, number, number, number, number];
  const used = at + HEADER_BYTES + times * timeBytes;
  const typesAt = used + times;
  const namesAt = typesAt + 6 * types;
  const end = namesAt + characters + leaps * (timeBytes + 4) + standard + utc;
  const order = [...Array(types).keys(), ...bytes.subarray(used, typesAt)];
  const read = (index: number): ZoneType => {
    const type = typesAt + 6 * index;
    const nameAt = namesAt + bytes[type + 5]!;
    return { offset: view.getInt32(type), name: ascii(bytes.subarray(nameAt, bytes.indexOf(0, nameAt))) };
  };
  return { types: order.map(read), end };
}

/** `NAMEoffset[NAME[offset]…`: offsets are to the west, and summer time is an hour ahead unless it says otherwise. */
function addRule(names: Map<number, string>, rule: string): void {
  const name = "([A-Za-z]{3,}|<[A-Za-z0-9+-]+>)", hours = "([+-]?\\d{1,3}(?::\\d{2}){0,2})";
  const match = new RegExp(`^\\n?${name}${hours}(?:${name}${hours}?)?`).exec(rule);
  if (!match) return;
  const standard = -seconds(match[2]!);
  if (match[3] !== undefined) {
    const summer = match[4] === undefined ? standard + 3600 : -seconds(match[4]);
    names.set(summer, match[3].replace(/[<>]/g, ""));
  }
  names.set(standard, match[1]!.replace(/[<>]/g, ""));
}

function seconds(text: string): number {
  const [hours, minutes = 0, rest = 0] = text.replace(/^[+-]/, "").split(":").map(Number);
  return (text.startsWith("-") ? -1 : 1) * (hours! * 3600 + minutes * 60 + rest);
}

function ascii(bytes: Uint8Array): string {
  return String.fromCharCode(...bytes);
}
