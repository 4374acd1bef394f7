/** The values of options: what each type takes, and what it makes of it. */

import { isAbsolute, resolve } from "node:path";
import type { OptionType } from "../../drivers/catalog_store.ts";
import type { Plain } from "./tree.ts";

export type OptionValue = string | number | boolean | readonly string[];

/** What paths in a configuration start from. */
export interface Places {
  /** Where the configuration lies; absent where it lies in no folder. */
  readonly folder?: string;
  /** What `~` stands for. */
  readonly userFolder: string;
}

/** What was read, or why it cannot be. */
export type Read<T> = { readonly value: T } | { readonly why: string };

/** Reads a value as one of a type. */
export function readOption(type: OptionType, value: Plain, places: Places): Read<OptionValue> {
  switch (type) {
    case "text":
    case "name":
      return readText(value);
    case "url":
      return readUrl(value);
    case "folder":
    case "file":
      return readPath(value, places);
    case "boolean":
      return readBoolean(value);
    case "seconds":
      return readSeconds(value);
    case "list":
      return readList(value);
  }
}

export function readText(value: Plain): Read<string> {
  if (typeof value !== "string") return { why: "it must be text; put it in quotes" };
  if (value === "") return { why: "it is empty" };
  return /[\0-\x1f\x7f]/.test(value) ? { why: "it has control characters" } : { value };
}

/** An address of a server: its credentials stand elsewhere, and are named. */
export function readUrl(value: Plain): Read<string> {
  const text = readText(value);
  if ("why" in text) return text;
  if (/^https?:\/\/[^/]*@/.test(text.value)) {
    return { why: "it must hold no user and no password; name a profile or a variable" };
  }
  const match = URL_FORM.exec(text.value);
  if (!match || Number(match[1] ?? 1) > 65535 || match[1] === "0") {
    return { why: "it must look like https://HOST or https://HOST:PORT/PATH" };
  }
  return { value: text.value.replace(/\/+$/, "") };
}

const URL_FORM = /^https?:\/\/(?:[A-Za-z0-9_.-]+|\[[0-9A-Fa-f:.]+\])(?::(\d{1,5}))?(?:\/[^\s?#]*)?$/;

/** Returns whether an address is this machine's: what is said to it passes no network. */
export function isLocalUrl(url: string): boolean {
  return /^https?:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?::\d+)?(?:\/|$)/i.test(url);
}

export function readPath(value: Plain, { folder, userFolder }: Places): Read<string> {
  const text = readText(value);
  if ("why" in text) return text;
  const home = /^~(?:\/(.*))?$/s.exec(text.value);
  if (home) return { value: resolve(userFolder, home[1] ?? "") };
  if (text.value.startsWith("~")) return { why: "only ~ alone and ~/ stand for a user's own folder" };
  if (isAbsolute(text.value)) return { value: resolve(text.value) };
  if (folder === undefined) return { why: "it must be absolute: the configuration lies in no folder" };
  return { value: resolve(folder, text.value) };
}

/** What a variable holds is text. */
export function readBoolean(value: Plain): Read<boolean> {
  if (typeof value === "boolean") return { value };
  if (value === "true" || value === "false") return { value: value === "true" };
  return { why: "it must be true or false" };
}

function readSeconds(value: Plain): Read<number> {
  const seconds = typeof value === "string" && /^\d+(?:\.\d+)?$/.test(value) ? Number(value) : value;
  if (typeof seconds === "number" && seconds > 0 && seconds <= 86_400) return { value: seconds };
  return { why: "it must be seconds: a number above 0, up to 86400" };
}

export function readList(value: Plain): Read<readonly string[]> {
  if (!Array.isArray(value)) return { why: "it must be a list" };
  const texts: string[] = [];
  for (const item of value) {
    const text = readText(item);
    if ("why" in text) return { why: `each item must be text that is not empty` };
    texts.push(text.value);
  }
  return { value: texts };
}

const UNITS: Readonly<Record<string, number>> = {
  "": 1,
  b: 1,
  kb: 1e3,
  mb: 1e6,
  gb: 1e9,
  tb: 1e12,
  pb: 1e15,
  kib: 2 ** 10,
  mib: 2 ** 20,
  gib: 2 ** 30,
  tib: 2 ** 40,
  pib: 2 ** 50,
};

/** Reads a size: a count of bytes, or `20GB`, `512 MiB`. */
export function readSize(value: Plain): Read<number> {
  const match = /^(\d+(?:\.\d+)?) ?([kmgtp]?i?b)?$/i.exec(String(value));
  const unit = UNITS[(match?.[2] ?? "").toLowerCase()];
  const bytes = match && unit !== undefined ? Math.round(Number(match[1]) * unit) : NaN;
  if (Number.isSafeInteger(bytes) && bytes > 0) return { value: bytes };
  return { why: "it must be a size such as 20GB or 512MiB" };
}
