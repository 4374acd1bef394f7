/** The verbs of objects. */

import { KEY_OPTION, META_OPTION, RECURSIVE_OPTION, type VerbSpec } from "./verb.ts";

export const OBJECT_VERBS: readonly VerbSpec[] = [
  {
    name: "put",
    summary: "store a file, a folder or standard input on a branch",
    usage: ["put URI PATH [-r]"],
    about:
      "A URI that ends in / takes the file under its own name. With -r each file of the folder goes to URI + " +
      "its relative path, hidden ones included; what is already there with the same bytes is skipped. Symlinks, " +
      "special files, unreadable files and names that are not UTF-8 are named, left out, and make the exit code 7.",
    takes: [1, 2],
    options: {
      source: { short: "s", value: "PATH", hidden: true, help: "PATH, as lakectl gives it" },
      recursive: { short: "r", help: "PATH is a folder: store all its files" },
      "content-type": { value: "TYPE", help: 'the content type (default "application/octet-stream")' },
      ...META_OPTION,
      ...KEY_OPTION,
    },
    examples: [
      "put lakefs://sales/main/report.csv report.csv",
      "put lakefs://sales/main/ ./data -r",
      "gzip -c log | tarn put lakefs://sales/main/log.gz -",
    ],
    load: () => import("../commands/put.ts"),
  },
  {
    name: "get",
    summary: "fetch an object or everything under a URI into files",
    usage: ["get URI [PATH] [-r]"],
    about:
      "PATH is a file, a folder that is there (the working folder without PATH), or - for standard output. With -r all names are checked before " +
      "the first byte is written: names that a disk cannot hold, or would merge, are refused. Files land by " +
      "temporary name and rename, their bytes checked.",
    takes: [1, 2],
    options: {
      ...RECURSIVE_OPTION,
      "skip-unplaceable": { help: "leave out what no folder can hold, and name it (exit code 7)" },
      ...KEY_OPTION,
    },
    examples: [
      "get lakefs://sales/main/report.csv report.csv",
      "get lakefs://sales/main~1/ ./before -r",
      "get 'lakefs://sales/main/?at=ts:2026-03-31' ./march -r",
    ],
    load: () => import("../commands/get.ts"),
  },
  {
    name: "cat",
    summary: "write an object's bytes to standard output",
    usage: ["cat URI [--range A-B]"],
    takes: [1, 1],
    options: {
      range: { value: "A-B", help: "only bytes A to B, both included, counted from 0; B may be left out" },
      ...KEY_OPTION,
    },
    examples: ["cat lakefs://sales/main/report.csv", "cat lakefs://sales/v1.0/report.csv --range 0-99"],
    load: () => import("../commands/cat.ts"),
  },
  {
    name: "ls",
    summary: "list repositories, refs, or objects",
    usage: ["ls [lakefs://]", "ls lakefs://REPO", "ls lakefs://REPO/REF[/PATH] [-r]"],
    about: "PATH is a folder or an object. With a --delimiter other than / it is a prefix as it stands.",
    takes: [0, 1],
    options: {
      ...RECURSIVE_OPTION,
      delimiter: { value: "D", help: 'fold keys at the next D (default "/", none with -r)' },
      after: { value: "KEY", help: "only keys that sort after KEY (the whole key, undecoded)" },
      amount: { value: "N", help: "at most N lines" },
      ...KEY_OPTION,
    },
    examples: [
      "ls",
      "ls lakefs://sales",
      "ls lakefs://sales/main/tables/",
      "ls lakefs://sales/v1.0 -r --json",
    ],
    load: () => import("../commands/ls.ts"),
  },
  {
    name: "stat",
    summary: "show what is known of an object",
    usage: ["stat URI"],
    takes: [1, 1],
    options: KEY_OPTION,
    examples: ["stat lakefs://sales/main/report.csv", "stat lakefs://sales/dev~3/report.csv"],
    load: () => import("../commands/stat.ts"),
  },
  {
    name: "rm",
    summary: "delete an object, or with -r everything under a URI",
    usage: ["rm URI [-r]"],
    about: "The deletion is staged like any change: commits keep what they had. Does not ask.",
    takes: [1, 1],
    options: { ...RECURSIVE_OPTION, ...KEY_OPTION },
    examples: ["rm lakefs://sales/main/report.csv", "rm lakefs://sales/main/tables/ -r"],
    load: () => import("../commands/rm.ts"),
  },
];
