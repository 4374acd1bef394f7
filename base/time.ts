/** Times as people give them: RFC 3339 or a date; without a zone it is UTC; fractions count. */

import { CodedError } from "./errors.ts";

const TIME =
  /^(\d{4})-(\d{2})-(\d{2})(?:[Tt ](\d{2}):(\d{2})(?::(\d{2})(\.\d+)?)?([Zz]|[+-]\d{2}:?\d{2})?)?$/;

/** Returns milliseconds since the epoch. Fails with `invalid_time`, and for a time after `nowMs` with `future_time`. */
export function parseTime(text: string, nowMs: number): number {
  const match = TIME.exec(text);
  if (!match) refuse(text, `it must look like "2026-03-31" or "2026-03-31T23:59:59Z"`);
  const [, year, month, day, hour = "0", minute = "0", second = "0", fraction = "", zone = "Z"] = match;
  // Set year by year: Date.UTC takes the years 0 to 99 for 1900 to 1999, and both roll over what does not exist.
  const back = new Date(0);
  back.setUTCFullYear(Number(year), Number(month) - 1, Number(day));
  back.setUTCHours(Number(hour), Number(minute), Number(second));
  const wholeMs = back.getTime();
  const isReal = back.getUTCFullYear() === Number(year) && back.getUTCMonth() === Number(month) - 1 &&
    back.getUTCDate() === Number(day) &&
    back.getUTCHours() === Number(hour) && back.getUTCMinutes() === Number(minute) &&
    back.getUTCSeconds() === Number(second);
  if (!isReal) refuse(text, "there is no such time");
  const timeMs = wholeMs + Number(`0${fraction}`) * 1000 - zoneMs(text, zone);
  if (timeMs > nowMs) {
    throw new CodedError("invalid", "future_time", `Cannot use time "${text}": it is in the future`, {
      details: { time: text },
    });
  }
  return timeMs;
}

function zoneMs(text: string, zone: string): number {
  if (zone === "Z" || zone === "z") return 0;
  const hours = Number(zone.slice(1, 3)), minutes = Number(zone.slice(-2));
  if (hours > 23 || minutes > 59) refuse(text, "its zone does not exist");
  return (zone[0] === "-" ? -1 : 1) * (hours * 60 + minutes) * 60_000;
}

function refuse(text: string, why: string): never {
  throw new CodedError("invalid", "invalid_time", `Cannot use time "${text}": ${why}`, {
    details: { time: text },
  });
}
