/** How files and folders of the catalog are shown. */

import type { Entry } from "../../drivers/catalog_store.ts";
import type { ListForm, Output } from "../output.ts";
import { humanSize } from "./sizes.ts";
import { timeColumn, timeWithZone, utcTime } from "./times.ts";

/** An entry under its path, which is its name or, in a listing of all that is below, the way to it. */
export interface ListedEntry {
  readonly path: string;
  readonly entry: Entry;
}

/** An entry in the words of the lakeFS API, as far as it has them. */
export function entryJson({ path, entry }: ListedEntry): Record<string, unknown> {
  const { kind, sizeBytes, version, sha256, modifiedMs } = entry;
  return {
    path,
    path_type: typeOf(entry),
    ...(sizeBytes === undefined || kind === "folder" ? {} : { size_bytes: sizeBytes }),
    ...(version === undefined ? {} : { version }),
    ...(sha256 === undefined ? {} : { sha256 }),
    ...(modifiedMs === undefined ? {} : { mtime: Math.floor(modifiedMs / 1000) }),
  };
}

/** Returns what is known of an entry, in the form of `stat` on an object. */
export function entryText(output: Output, uri: string, entry: Entry): string {
  const { kind, sizeBytes, version, sha256, modifiedMs } = entry;
  const fields: (readonly [string, string | undefined])[] = [
    ["URI", output.shown(uri)],
    ["Kind", kind],
    ["Modified Time", modifiedMs === undefined ? undefined : timeWithZone(modifiedMs, output.terminal)],
    ["Size", sizeBytes === undefined ? undefined : `${sizeBytes} bytes`],
    ["Human Size", sizeBytes === undefined ? undefined : humanSize(sizeBytes)],
    ["Version", version],
    ["SHA-256", sha256],
  ];
  return fields.flatMap(([name, value]) => value === undefined ? [] : [`${name}: ${value}`]).join("\n");
}

/** Returns the form of a listing: size, time and path for people, `SIZE\tTIME\tPATH` otherwise, as of objects. */
export function entriesForm(output: Output): ListForm<ListedEntry> {
  return {
    json: entryJson,
    line: (item) => {
      const { kind, sizeBytes, modifiedMs } = item.entry;
      const size = kind === "folder" ? "-" : sizeBytes ?? "-";
      return `${size}\t${modifiedMs === undefined ? "-" : utcTime(modifiedMs)}\t${shownPath(item)}`;
    },
    fields: [
      { name: "path", type: "text", of: ({ path }) => path },
      { name: "path_type", type: "text", of: ({ entry }) => typeOf(entry) },
      { name: "size_bytes", type: "integer", optional: true, of: ({ entry }) => entry.sizeBytes },
      { name: "version", type: "text", optional: true, of: ({ entry }) => entry.version },
      { name: "sha256", type: "text", optional: true, of: ({ entry }) => entry.sha256 },
      { name: "mtime", type: "time", optional: true, of: ({ entry }) => entry.modifiedMs },
    ],
    table: [
      {
        forms: [
          ({ entry: { kind, sizeBytes } }) =>
            kind === "folder" || sizeBytes === undefined ? "" : humanSize(sizeBytes),
        ],
        fill: "start",
      },
      timeColumn(({ entry }) => entry.modifiedMs),
      {
        forms: [(item) => output.shown(shownPath(item))],
        color: ({ entry }) => entry.kind === "folder" ? "cyan" : undefined,
        mayWrap: true,
      },
    ],
  };
}

function shownPath({ path, entry }: ListedEntry): string {
  return entry.kind === "folder" ? `${path}/` : path;
}

function typeOf({ kind }: Entry): string {
  return kind === "folder" ? "common_prefix" : "object";
}
