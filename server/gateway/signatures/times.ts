/** Times as signatures have them: `20130524T000000Z`. */

export interface SignedTime {
  readonly ms: number;
  readonly text: string;
}

/** Whether a text is a day as `20130524`. */
export function isDay(text: string): boolean {
  return parseBasicTime(`${text}T000000Z`) !== undefined;
}

/** Parses `20130524T000000Z`; `undefined` for all else, and for days that no month has. */
export function parseBasicTime(text: string): SignedTime | undefined {
  const match = /^(\d{4})(\d{2})(\d{2})T(\d{2})(\d{2})(\d{2})Z$/.exec(text);
  if (!match) return undefined;
  const [year, month, day, hour, minute, second] = match.slice(1);
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(ms) || basicTime(ms) !== text ? undefined : { ms, text };
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
