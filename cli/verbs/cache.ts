/** The verbs that look after the cache of the catalog. */

import { TABLE_OPTIONS, type VerbSpec } from "./verb.ts";

export const CACHE_VERBS: readonly VerbSpec[] = [
  {
    name: "cache ls",
    summary: "list what was fetched: files and folders, with their sizes and when they were last used",
    usage: ["cache ls [URI]"],
    about:
      "A URI lists what is at and below it. A folder that says unfinished was not fetched to its end. What was fetched by itself " +
      "and with a folder counts in both lines; it is on the disk once, and tarn cache stat counts it once.",
    takes: [0, 1],
    options: TABLE_OPTIONS,
    examples: ["cache ls", "cache ls lakefs://sales/main/tables/"],
    load: () => import("../commands/cache_ls.ts"),
  },
  {
    name: "cache stat",
    summary: "say where the cache is, how much it holds and how much it may",
    usage: ["cache stat"],
    about: "Each file counts once, whether it was fetched by itself, with a folder, or both.",
    takes: [0, 0],
    examples: ["cache stat", "cache stat --json"],
    load: () => import("../commands/cache_stat.ts"),
  },
  {
    name: "cache prune",
    summary: "remove what was fetched, what is old, or what is too much; and what killed commands left",
    usage: ["cache prune [URI…] [--unused-for DAYS] [--max-size SIZE]", "cache prune --all"],
    about:
      "What is used by a running command stays. Without a URI, a size or days only leftovers go, and what is over the limit of the " +
      "configuration. What is removed is fetched again when it is asked for; without the network it cannot be.",
    takes: [0, Infinity],
    options: {
      all: { help: "remove everything" },
      "max-size": { value: "SIZE", help: "keep at most this much, such as 5GB: what was used last" },
      "unused-for": { value: "DAYS", help: "remove what was not used for so many days" },
    },
    examples: [
      "cache prune",
      "cache prune lakefs://sales/main/tables/",
      "cache prune --unused-for 30",
      "cache prune --max-size 5GB",
      "cache prune --all --yes",
    ],
    load: () => import("../commands/cache_prune.ts"),
  },
  {
    name: "cache verify",
    summary: "hash everything in the cache, and remove what is damaged so that it is fetched again",
    usage: ["cache verify"],
    about: "Exits with 1 if anything was damaged.",
    takes: [0, 0],
    examples: ["cache verify"],
    load: () => import("../commands/cache_verify.ts"),
  },
];
