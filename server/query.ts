/** The query of a request's URL, decoded once and strictly: what does not decode is refused, not passed on as it is. */

import { CodedError } from "../base/errors.ts";

/** A parameter's value, or its values where it is given several times. */
export type Query = Readonly<Record<string, string | string[]>>;

/** Returns the query of a URL. Fails with `invalid_request`. */
export function queryOf(url: string): Query {
  const question = url.indexOf("?");
  const query: Record<string, string | string[]> = Object.create(null);
  if (question < 0) return query;
  for (const pair of url.slice(question + 1).split("&")) {
    if (pair === "") continue;
    const equals = pair.indexOf("=");
    const name = decode(equals < 0 ? pair : pair.slice(0, equals));
    const value = equals < 0 ? "" : decode(pair.slice(equals + 1));
    const before = query[name];
    query[name] = before === undefined ? value : Array.isArray(before) ? [...before, value] : [before, value];
  }
  return query;
}

function decode(text: string): string {
  const spaced = text.includes("+") ? text.replaceAll("+", " ") : text;
  if (!spaced.includes("%")) return spaced;
  return decodePercent(spaced);
}

/** Decodes percent-encoding. Fails with `invalid_request`. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch (error) {
    throw new CodedError(
      "invalid",
      "invalid_request",
      "Cannot read the URL: its percent-encoding is not UTF-8",
      {
        cause: error,
      },
    );
  }
}
