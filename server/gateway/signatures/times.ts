/** Times as signatures have them: `20130524T000000Z`. */

export interface SignedTime {
  readonly ms: number;
  readonly text: string;
}

const DAY = /^\d{4}(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])$/;
const BASIC = /^(\d{8})T(?:[01]\d|2[0-3])[0-5]\d[0-5]\dZ$/;

/** Whether a text is a day as `20130524`. */
export function isDay(text: string): boolean {
  return DAY.test(text);
}

/** Parses `20130524T000000Z`; `undefined` for all else. */
export function parseBasicTime(text: string): SignedTime | undefined {
  if (!DAY.test(BASIC.exec(text)?.[1] ?? "")) return undefined;
  const part = (start: number, end: number) => Number(text.slice(start, end));
  const month = part(4, 6) - 1;
  const ms = Date.UTC(part(0, 4), month, part(6, 8), part(9, 11), part(11, 13), part(13, 15));
  // The 31st of a shorter month would be a day of the next.
  return new Date(ms).getUTCMonth() === month ? { ms, text } : undefined;
}

/** Parses the time of a request's header: as above, or as HTTP writes dates. */
export function parseTime(header: string | null): SignedTime | undefined {
  if (header === null) return undefined;
  const basic = parseBasicTime(header);
  if (basic) return basic;
  if (!/^[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT$/.test(header)) return undefined;
  const ms = Date.parse(header);
  return Number.isNaN(ms) ? undefined : { ms, text: basicTime(ms) };
}

function basicTime(ms: number): string {
  return `${new Date(ms).toISOString().slice(0, 19).replace(/[-:]/g, "")}Z`;
}
