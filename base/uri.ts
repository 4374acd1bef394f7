/**
 * Our own URI grammar: `scheme://place/segment/…?at=kind:value`.
 *
 * Never parsed by `URL`, which folds `%2e%2e` and drops tabs. Every segment is percent-decoded exactly once. A `%`
 * without two hex digits, a `?` that does not begin a trailing `?at=kind:value`, and `#` are refused. Spaces and
 * non-ASCII may stand as they are; what {@link formatUri} prints is encoded, so that it parses back to the same.
 */

import { Buffer } from "node:buffer";
import { isWellFormed, tryUtf8Text, utf8 } from "./bytes.ts";
import { CodedError } from "./errors.ts";

export const SELECTOR_KINDS = ["branch", "tag", "commit", "version", "ts", "stage"] as const;
export type SelectorKind = typeof SELECTOR_KINDS[number];

/** The `?at=kind:value` part of a URI: picks a version. */
export interface Selector {
  readonly kind: SelectorKind;
  readonly value: string;
}

/** A parsed URI; `segments` are decoded, and an empty last one stands for a trailing slash. */
export interface Uri {
  readonly scheme: string;
  readonly place: string;
  readonly segments: readonly string[];
  readonly at?: Selector;
}

/** Returns whether a command-line argument is meant as a URI, well-formed or not. */
export function looksLikeUri(text: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*:\/\//.test(text);
}

/** Parses a URI. Fails with `invalid_uri`. */
export function parseUri(text: string): Uri {
  const scheme = /^([a-z][a-z0-9+.-]*):\/\//.exec(text);
  if (!scheme) refuse(text, `it does not begin with a scheme such as "lakefs://"`);
  if (!isWellFormed(text)) refuse(text, "it is not valid text");
  let rest = text.slice(scheme[0].length);
  const hash = rest.indexOf("#");
  if (hash >= 0) refuse(text, `"#" must be written as "%23"`);
  const question = rest.indexOf("?");
  let at: Selector | undefined;
  if (question >= 0) {
    at = parseSelector(text, rest.slice(question));
    rest = rest.slice(0, question);
  }
  const [place, ...segments] = rest.split("/").map((part) => decode(text, part));
  return { scheme: scheme[1]!, place: place!, segments, ...(at ? { at } : {}) };
}

/** Returns the URI's text, percent-encoded so that {@link parseUri} gives the same URI back. */
export function formatUri(uri: Uri): string {
  const parts = [uri.place, ...uri.segments].map(encodeSegment);
  const at = uri.at ? `?at=${uri.at.kind}:${encodePath(uri.at.value)}` : "";
  return `${uri.scheme}://${parts.join("/")}${at}`;
}

/** What may not stand in a segment as it is. */
const UNSAFE = /[^A-Za-z0-9._~!$&'()*+,;=:@^-]/;

const UNSAFE_IN_PATH = /[^A-Za-z0-9._~!$&'()*+,;=:@^/-]/;

/** Percent-encodes one segment; a slash inside it too. */
export function encodeSegment(text: string): string {
  if (!UNSAFE.test(text)) return text;
  let out = "";
  for (const byte of utf8(text)) {
    const char = String.fromCharCode(byte);
    out += !UNSAFE.test(char) ? char : `%${byte.toString(16).toUpperCase().padStart(2, "0")}`;
  }
  return out;
}

/** Percent-encodes a path, keeping its slashes. */
export function encodePath(path: string): string {
  if (!UNSAFE_IN_PATH.test(path)) return path;
  return path.split("/").map(encodeSegment).join("/");
}

/** Returns the text of a selector, `kind:value`, its value as it is. */
export function selectorText({ kind, value }: Selector): string {
  return `${kind}:${value}`;
}

/** Reads the text of a selector that stands by itself, not percent-encoded; `undefined` when it is none. */
export function readSelector(text: string): Selector | undefined {
  const match = /^([a-z]+):(.+)$/s.exec(text);
  const kind = SELECTOR_KINDS.find((known) => known === match?.[1]);
  return kind && isWellFormed(text) && !text.includes("\0") ? { kind, value: match![2]! } : undefined;
}

/** The parts of `TIME` or `BRANCH@TIME`, the value of `ts:`. A time never holds an "@", so the last one ends the branch. */
export function splitTimeValue(value: string): { readonly branch?: string; readonly time: string } {
  const at = value.lastIndexOf("@");
  return at < 0 ? { time: value } : { branch: value.slice(0, at), time: value.slice(at + 1) };
}

function parseSelector(text: string, query: string): Selector {
  const match = /^\?at=([a-z]+):(.+)$/s.exec(query);
  if (!match || match[2]!.includes("?")) {
    refuse(text, `"?" must be written as "%3F", or begin a trailing "?at=kind:value"`);
  }
  const kind = SELECTOR_KINDS.find((known) => known === match[1]);
  if (!kind) refuse(text, `"${match[1]}" is no selector; known are ${SELECTOR_KINDS.join(", ")}`);
  return { kind, value: decode(text, match[2]!) };
}

function decode(whole: string, part: string): string {
  const stray = /%(?![0-9a-fA-F]{2})/.exec(part);
  if (stray) {
    refuse(whole, `a "%" that stands for itself must be written as "%25"`);
  }
  const decoded = part.includes("%") ? decodeBytes(whole, part) : part;
  if (decoded.includes("\0")) refuse(whole, "it contains a NUL character");
  return decoded;
}

function decodeBytes(whole: string, part: string): string {
  const bytes: Buffer[] = [];
  for (let at = 0; at < part.length;) {
    const next = part.indexOf("%", at);
    if (next < 0) {
      bytes.push(Buffer.from(part.slice(at), "utf8"));
      break;
    }
    bytes.push(Buffer.from(part.slice(at, next), "utf8"), Buffer.from(part.slice(next + 1, next + 3), "hex"));
    at = next + 3;
  }
  const text = tryUtf8Text(Buffer.concat(bytes));
  if (text === undefined) refuse(whole, "its percent-encoded bytes are not UTF-8");
  return text;
}

function refuse(text: string, why: string): never {
  throw new CodedError("invalid", "invalid_uri", `Cannot parse URI "${text}": ${why}`, {
    details: { uri: text },
  });
}
