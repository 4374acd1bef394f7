/** Times as they are shown: local with their zone for people, UTC otherwise. */

import { timeZoneFiles } from "../environment.ts";
import type { Column } from "./table.ts";
import { readZoneNames } from "./zone_names.ts";

/** Returns `2024-08-02T14:13:33Z`. */
export function utcTime(milliseconds: number): string {
  return validDate(milliseconds)?.toISOString().replace(/\.\d+Z$/, "Z") ?? "unknown";
}

/** Returns `2024-08-02 10:13:33 -0400 EDT`; without a person to read it, in UTC. */
export function timeWithZone(milliseconds: number, local: boolean): string {
  const date = validDate(milliseconds);
  if (!date) return "unknown";
  const minutes = local ? -date.getTimezoneOffset() : 0;
  const shifted = new Date(date.getTime() + minutes * 60_000).toISOString();
  const day = shifted.slice(0, shifted.indexOf("T"));
  const time = shifted.slice(day.length + 1, day.length + 9);
  const offset = offsetText(minutes);
  return `${day} ${time} ${offset} ${local ? zoneName(date, offset) : "UTC"}`;
}

/** Returns the column of a time, which shows less of it where there is little room. */
export function timeColumn<T>(timeOf: (item: T) => number | undefined): Column<T> {
  const upTo = (length: number) => (item: T) => {
    const time = timeOf(item);
    return time === undefined ? "" : timeWithZone(time, true).slice(0, length);
  };
  return { forms: [upTo(Infinity), upTo("2026-03-31 12:00".length), () => ""], color: () => "dim" };
}

function validDate(milliseconds: number): Date | undefined {
  const date = new Date(milliseconds);
  return Number.isNaN(date.getTime()) ? undefined : date;
}

function offsetText(minutes: number): string {
  const size = Math.abs(minutes);
  const two = (number: number) => String(number).padStart(2, "0");
  return `${minutes < 0 ? "-" : "+"}${two(Math.floor(size / 60))}${two(size % 60)}`;
}

/** American English has names for American zones only, British English for European ones: else the offset. */
function zoneName(date: Date, offset: string): string {
  const minutes = -date.getTimezoneOffset();
  const known = zoneNames().get(minutes * 60);
  if (known !== undefined) return known;
  for (const language of ["en-US", "en-GB"]) {
    const parts = new Intl.DateTimeFormat(language, { timeZoneName: "short" }).formatToParts(date);
    const name = parts.find((part) => part.type === "timeZoneName")?.value;
    if (name && !/[+\d−-]/.test(name)) return name;
  }
  return offset.replace(/00$/, "");
}

let names: ReadonlyMap<number, string> | undefined;

/** The system's own names, read once; the runtime's take a tenth of a second to load, and know fewer. */
function zoneNames(): ReadonlyMap<number, string> {
  names ??= readZoneNames(timeZoneFiles());
  return names;
}
