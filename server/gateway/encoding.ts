/** The query's and the documents' own encodings of keys. */

import { Buffer } from "node:buffer";
import { tryUtf8Text, utf8 } from "../../base/bytes.ts";
import { S3Error } from "./errors.ts";
import type { S3Query } from "./request.ts";

/** Returns how a document of a listing shows keys: percent-encoded if the request asks for that. Fails with `InvalidArgument`. */
export function keyEncoding(query: S3Query): (key: string) => string {
  const asked = query.get("encoding-type");
  if (asked === undefined || asked === "") return (key) => key;
  if (asked !== "url") {
    throw invalidArgument("encoding-type", asked, "Invalid Encoding Method specified in Request");
  }
  return urlEncoded;
}

/** Percent-encodes a key, all but "/". */
export function urlEncoded(key: string): string {
  if (/^[A-Za-z0-9_./-]*$/.test(key)) return key;
  return encodeURIComponent(key)
    .replaceAll("%2F", "/")
    .replaceAll(/[!'()~]/g, (one) => `%${one.charCodeAt(0).toString(16).toUpperCase()}`);
}

/** Returns a token that stands for a place in a listing, and means nothing to clients. */
export function tokenOf(text: string): string {
  return Buffer.from(utf8(text)).toString("base64url");
}

/** Returns the place that a token stands for. Fails with `InvalidArgument`. */
export function placeOfToken(name: string, token: string): string {
  const text = /^[A-Za-z0-9_-]+$/.test(token) ? tryUtf8Text(Buffer.from(token, "base64url")) : undefined;
  if (text) return text;
  throw invalidArgument(name, token, "The continuation token provided is incorrect");
}

/** Returns a number in the query, of what may be listed at once. Fails with `InvalidArgument`. */
export function countOf(query: S3Query, name: string, { most }: { readonly most: number }): number {
  const text = query.get(name);
  if (text === undefined || text === "") return most;
  if (/^[0-9]{1,10}$/.test(text) && Number(text) < 2 ** 31) return Math.min(most, Number(text));
  throw invalidArgument(name, text, `Argument ${name} must be an integer between 0 and 2147483647`);
}

export function invalidArgument(name: string, value: string, message: string): S3Error {
  return new S3Error("InvalidArgument", message, { details: { ArgumentName: name, ArgumentValue: value } });
}
