/** How objects and listings are shown. */

import { objectJson } from "../../drivers/store.ts";
import type { ListItem, ObjectStats } from "../../drivers/store.ts";
import type { ListForm, Output } from "../output.ts";
import type { Field } from "../tables/fields.ts";
import { humanSize } from "./sizes.ts";
import { timeColumn, timeWithZone, utcTime } from "./times.ts";

const ofObject = <Value>(read: (stats: ObjectStats) => Value) => (item: ListItem): Value | undefined =>
  item.kind === "object" ? read(item.stats) : undefined;

/** The columns of a listing; what a common prefix lacks is missing. */
export const LISTING_FIELDS: readonly Field<ListItem>[] = [
  { name: "path", type: "text", of: (item) => item.kind === "object" ? item.stats.path : item.path },
  { name: "path_type", type: "text", of: ({ kind }) => kind },
  {
    name: "physical_address",
    type: "text",
    optional: true,
    of: ofObject(({ physicalAddress }) => physicalAddress),
  },
  { name: "checksum", type: "text", optional: true, of: ofObject(({ checksum }) => checksum) },
  { name: "size_bytes", type: "integer", optional: true, of: ofObject(({ sizeBytes }) => sizeBytes) },
  { name: "mtime", type: "time", optional: true, of: ofObject(({ mtimeMs }) => mtimeMs) },
  { name: "metadata", type: "json", optional: true, of: ofObject(({ metadata }) => metadata) },
  { name: "content_type", type: "text", optional: true, of: ofObject(({ contentType }) => contentType) },
];

/** Returns the form of a listing: size, time and path for people, `SIZE\tTIME\tPATH` otherwise. */
export function listingForm(output: Output): ListForm<ListItem> {
  return {
    json: (item) =>
      item.kind === "object" ? objectJson(item.stats) : { path: item.path, path_type: "common_prefix" },
    line: stableLine,
    fields: LISTING_FIELDS,
    table: [
      { forms: [(item) => item.kind === "object" ? humanSize(item.stats.sizeBytes) : ""], fill: "start" },
      timeColumn((item) => item.kind === "object" ? item.stats.mtimeMs : undefined),
      {
        forms: [(item) => output.shown(item.kind === "object" ? item.stats.path : item.path)],
        color: (item) => item.kind === "object" ? undefined : "cyan",
        mayWrap: true,
      },
    ],
  };
}

function stableLine(item: ListItem): string {
  if (item.kind === "common_prefix") return `-\t-\t${item.path}`;
  const { sizeBytes, mtimeMs, path } = item.stats;
  return `${sizeBytes}\t${utcTime(mtimeMs)}\t${path}`;
}

/** Returns what is known of an object, in the form of lakeFS's `fs stat`. */
export function statText(output: Output, stats: ObjectStats): string {
  const fields: (readonly [string, string])[] = [
    ["Path", output.shown(stats.path)],
    ["Modified Time", timeWithZone(stats.mtimeMs, output.terminal)],
    ["Size", `${stats.sizeBytes} bytes`],
    ["Human Size", humanSize(stats.sizeBytes)],
    ["Physical Address", output.shown(stats.physicalAddress)],
    ["Checksum", stats.checksum],
    ["Content-Type", output.shown(stats.contentType)],
  ];
  const metadata = Object.entries(stats.metadata).sort(([a], [b]) => (a < b ? -1 : 1));
  const lines = fields.map(([name, value]) => `${name}: ${value}`);
  if (metadata.length > 0) lines.push("Metadata:");
  for (const [key, value] of metadata) lines.push(`    ${output.shown(key)} = ${output.shown(value)}`);
  return lines.join("\n");
}
