/** The verbs of objects. */

import type { OptionTable } from "../arguments.ts";
import { FOUND_TYPES } from "./choices.ts";
import { KEY_OPTION, META_OPTION, RECURSIVE_OPTION, TABLE_OPTIONS, type VerbSpec } from "./verb.ts";

const DRY_RUN_OPTION: OptionTable = {
  "dry-run": { help: "with -r: show what would be done, and do nothing" },
};

const FROM_FOLDER_OPTIONS: OptionTable = {
  exclude: {
    value: "PATTERN",
    multiple: true,
    help: "with -r: leave out local files and folders that match, as a line of .tarnignore; may be repeated",
  },
  reread: { help: "with -r: read every local file, also those that were not written since the last time" },
};

const FOLLOW_OPTION: OptionTable = {
  "follow-symlinks": { help: "with -r: take what local symlinks point at, as far as it is in the folder" },
};

const TO_FOLDER_OPTIONS: OptionTable = {
  "skip-unplaceable": { help: "leave out what is refused, and name it (exit code 7)" },
};

export const OBJECT_VERBS: readonly VerbSpec[] = [
  {
    name: "put",
    summary: "store a file, a folder or standard input on a branch",
    usage: ["put URI PATH [-r]"],
    about:
      "A URI that ends in / takes the file under its own name. With -r each file of the folder goes to URI + " +
      "its relative path, hidden ones included; what is already there with the same bytes is skipped. Symlinks, " +
      "special files, unreadable files and names that are not UTF-8 are named, left out, and make the exit code 7. " +
      "A file .tarnignore in any folder leaves out what its patterns match, in the syntax of .gitignore. Homes and " +
      "caches of tarn that lie in the folder are left out. Empty folders and modes of files, such as whether they are executable, are not kept. Files " +
      "that were deleted locally stay on the branch until rm takes them away. A file that changes while it is read is left out.",
    takes: [1, 2],
    options: {
      source: { short: "s", value: "PATH", hidden: true, help: "PATH, as lakectl gives it" },
      recursive: { short: "r", help: "PATH is a folder: store all its files" },
      ...FROM_FOLDER_OPTIONS,
      ...FOLLOW_OPTION,
      ...DRY_RUN_OPTION,
      "content-type": { value: "TYPE", help: 'the content type (default "application/octet-stream")' },
      ...META_OPTION,
      ...KEY_OPTION,
    },
    examples: [
      "put lakefs://sales/main/report.csv report.csv",
      "put lakefs://sales/main/ ./data -r",
      "put lakefs://sales/main/ ./data -r --exclude '*.tmp' --exclude build/ --dry-run",
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
      "the first byte is written: names that a disk cannot hold, or would merge, and what leads into a home of tarn are refused. Files land by " +
      "temporary name and rename, their bytes checked. Folders are made as needed. What stands under the same names is replaced " +
      "without asking, also what was edited since; with -r files that hold the same bytes are left as they are. Other files in the folder stay.",
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
    usage: ["ls [lakefs://]", "ls lakefs://REPO", "ls lakefs://REPO/REF[/PATH] [-r]", "ls URI [-r]"],
    about:
      "PATH is a folder or an object; nothing under it is an error (exit code 3). With a --delimiter other than / it is a " +
      "prefix as it stands.",
    takes: [0, 1],
    options: {
      ...RECURSIVE_OPTION,
      delimiter: { value: "D", help: 'fold keys at the next D (default "/", none with -r)' },
      after: { value: "KEY", help: "only keys that sort after KEY (the whole key, undecoded)" },
      amount: { value: "N", help: "at most N lines" },
      ...KEY_OPTION,
      ...TABLE_OPTIONS,
    },
    examples: [
      "ls",
      "ls lakefs://sales",
      "ls lakefs://sales/main/tables/",
      "ls lakefs://sales/v1.0 -r --json",
      "ls lakefs://sales/v1.0 -r --format parquet --output listing.parquet",
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
    about:
      "The deletion is staged like any change: commits keep what they had, and no room on the disk is freed. Does not ask.",
    takes: [1, 1],
    options: { ...RECURSIVE_OPTION, ...DRY_RUN_OPTION, ...KEY_OPTION },
    examples: [
      "rm lakefs://sales/main/report.csv",
      "rm lakefs://sales/main/tables/ -r --dry-run",
      "rm lakefs://sales/main/tables/ -r",
    ],
    load: () => import("../commands/rm.ts"),
  },
  {
    name: "cp",
    summary: "copy objects or files",
    usage: ["cp SRC DST [-r]"],
    about:
      "Each side is a URI or a path on this machine, and one of them a URI. Inside one repository no bytes move, " +
      "from any version to any branch. A DST that ends in / takes an object under its own name; with -r what is in " +
      "the folder SRC goes to the folder DST.",
    takes: [2, 2],
    options: {
      recursive: { short: "r", help: "everything in the folder SRC" },
      ...DRY_RUN_OPTION,
      ...FROM_FOLDER_OPTIONS,
      ...FOLLOW_OPTION,
      ...TO_FOLDER_OPTIONS,
    },
    examples: [
      "cp lakefs://sales/main/report.csv lakefs://sales/main/archive/",
      "cp -r lakefs://sales/v1.0/tables/ lakefs://sales/dev/tables-before/",
      "cp -r lakefs://sales/main/ lakefs://backup/main/sales/",
      "cp report.csv lakefs://sales/main/",
      "cp -r lakefs://sales/main/tables/ ./tables",
    ],
    load: () => import("../commands/cp.ts"),
  },
  {
    name: "mv",
    summary: "move or rename objects or files",
    usage: ["mv SRC DST [-r]"],
    about:
      "Like cp, and takes SRC away once DST is durable, each object or file only if it is still what was moved. " +
      "What is moved from or to a repository lies on a branch: a tag or commit keeps what it has. A file that is put " +
      "by mv is gone from this machine until it is fetched again.",
    takes: [2, 2],
    options: {
      recursive: { short: "r", help: "everything in the folder SRC" },
      ...DRY_RUN_OPTION,
      ...FROM_FOLDER_OPTIONS,
      ...TO_FOLDER_OPTIONS,
    },
    examples: [
      "mv lakefs://sales/main/raport.csv lakefs://sales/main/report.csv",
      "mv -r lakefs://sales/main/2025/ lakefs://sales/main/archive/2025/",
      "mv -r ./incoming lakefs://sales/main/incoming/",
    ],
    load: () => import("../commands/mv.ts"),
  },
  {
    name: "find",
    summary: "find objects by name, size or time",
    usage: ["find URI"],
    about:
      "Prints the URI of each object under URI that passes all tests, so that other verbs take it as it is. In a " +
      "GLOB * and ? match anything but a slash, ** any number of folders, [a-z] one of some characters.",
    takes: [1, 1],
    options: {
      name: { value: "GLOB", help: "the last part of its path matches" },
      path: { value: "GLOB", help: "its whole path matches" },
      size: {
        value: "[+-]N",
        multiple: true,
        help: "more than N bytes, less, or exactly N; kB, MB, KiB… may follow",
      },
      "newer-than": { value: "TIME", help: "it was written after TIME" },
      type: {
        value: "TYPE",
        choices: FOUND_TYPES,
        help: '"object" (default), or "folder" for the folders that objects lie in',
      },
      amount: { value: "N", help: "at most N lines" },
      ...KEY_OPTION,
      ...TABLE_OPTIONS,
    },
    examples: [
      "find lakefs://sales/main --name '*.csv'",
      "find lakefs://sales/v1.0/tables/ --path 'tables/**/2026-*' --size +10MB",
      "find lakefs://sales/main --newer-than 2026-03-31 --json",
    ],
    load: () => import("../commands/find.ts"),
  },
  {
    name: "du",
    summary: "show how much is in each folder",
    usage: ["du URI [--depth N]"],
    about:
      "Counts objects and their bytes. What several paths or versions share counts for each of them, so the store " +
      "may take less.",
    takes: [1, 1],
    options: {
      depth: { value: "N", help: "folders up to N levels below URI (default 1; 0: the sum alone)" },
      ...KEY_OPTION,
      ...TABLE_OPTIONS,
    },
    examples: ["du lakefs://sales/main", "du lakefs://sales/v1.0/tables/ --depth 3"],
    load: () => import("../commands/du.ts"),
  },
];
