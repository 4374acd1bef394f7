/**
 * Text in headers. HTTP gives us bytes: what reads as UTF-8 is that, else Latin-1. What is not plain ASCII goes out as words
 * of RFC 2047 (`=?UTF-8?B?…?=`), and such words are understood when they come in, as S3 does with metadata.
 */

import { Buffer } from "node:buffer";
import { tryUtf8Text, utf8 } from "../../base/bytes.ts";

const WORDS = /=\?([A-Za-z0-9-]+)\?([BbQq])\?([^? ]*)\?=(?:[ \t]+(?==\?[A-Za-z0-9-]+\?[BbQq]\?[^? ]*\?=))?/g;
const PLAIN = /^[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?$/;

/** Returns the text of a header's value, which the runtime gives one character a byte. */
export function headerText(value: string): string {
  const text = /[\x80-\xff]/.test(value) ? tryUtf8Text(Buffer.from(value, "latin1")) ?? value : value;
  return text.includes("=?") ? text.replace(WORDS, decodedWord) : text;
}

/** Returns a header's value for a text. */
export function headerValue(text: string): string {
  if (text === "" || (PLAIN.test(text) && !text.includes("=?"))) return text;
  return `=?UTF-8?B?${Buffer.from(utf8(text)).toString("base64")}?=`;
}

/** A word that is not what it says it is stays as it is. */
function decodedWord(word: string, charset: string, encoding: string, text: string): string {
  const bytes = encoding.toUpperCase() === "B" ? Buffer.from(text, "base64") : quotedBytes(text);
  switch (charset.toLowerCase()) {
    case "utf-8":
    case "us-ascii":
      return tryUtf8Text(bytes) ?? word;
    case "iso-8859-1":
      return Buffer.from(bytes).toString("latin1");
  }
  return word;
}

function quotedBytes(text: string): Uint8Array {
  const bytes = text.replaceAll("_", " ")
    .replaceAll(
      /=([0-9A-Fa-f]{2})/g,
      (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 16)),
    );
  return Buffer.from(bytes, "latin1");
}

/** Returns text as it is shown in an answer's header if it can be sent as it is; else `undefined`. */
export function plainHeader(text: string): string | undefined {
  return /^[\x20-\x7e]*$/.test(text) ? text : undefined;
}
