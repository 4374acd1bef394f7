/** Times as they are shown: local with their zone for people, UTC otherwise. */

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
  for (const language of ["en-US", "en-GB"]) {
    const parts = new Intl.DateTimeFormat(language, { timeZoneName: "short" }).formatToParts(date);
    const name = parts.find((part) => part.type === "timeZoneName")?.value;
    if (name && !/[+\d−-]/.test(name)) return name;
  }
  return offset.replace(/00$/, "");
}
