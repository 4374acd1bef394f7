/** The verbs that fix names to what they stand for, and bring it here. */

import type { VerbSpec } from "./verb.ts";

export const PIN_VERBS: readonly VerbSpec[] = [
  {
    name: "pin",
    summary: "print URIs with a fixed version, lock them, or say what has moved",
    usage: ["pin URI…", "pin --write FILE [URI…]", "pin --check [--lock FILE] [URI…]"],
    about:
      "A branch, tag or time becomes a commit. --write notes in a lock file what each URI stands for now, with the SHA-256 and " +
      "size of every file; URIs that are in it already and are not named stay, and without any URI all of them are locked anew. " +
      "--check compares the lock file with what its URIs stand for now, and exits with 1 if one has moved.",
    takes: [0, Infinity],
    options: {
      write: { value: "FILE", help: "lock the URIs in this file, such as tarn.lock" },
      check: { help: "say which URIs of the lock file have moved since (exit code 1)" },
      lock: { value: "FILE", help: "with --check: the lock file (default tarn.lock)" },
    },
    examples: [
      "pin lakefs://sales/main/tables/",
      "pin data://sales/tables 'data://sales/tables?at=ts:2026-01-31'",
      "pin --write tarn.lock lakefs://sales/main/tables/ lakefs://sales/v1.0/report.csv",
      "pin --check --lock sales.lock",
    ],
    load: () => import("../commands/pin.ts"),
  },
  {
    name: "fetch",
    summary: "bring a file or folder into the cache, or into a folder; print where it is",
    usage: ["fetch URI [DIR]", "fetch --locked FILE"],
    about:
      "Only what changed is downloaded. With DIR a copy is placed there, and without it the path in the cache is printed, which " +
      "holds until it is evicted or fetched again. --locked fetches exactly what a lock file says and checks every byte; with " +
      "--offline nothing but the cache is asked.",
    takes: [0, 2],
    options: { locked: { value: "FILE", help: "fetch what this lock file says, and nothing else" } },
    examples: [
      "fetch data://sales/tables",
      "fetch 'lakefs://sales/main/report.csv?at=ts:2026-03-31' ./march",
      "fetch --locked sales.lock",
      "fetch --locked sales.lock --offline",
    ],
    load: () => import("../commands/fetch.ts"),
  },
  {
    name: "snapshot",
    summary: "place a read-only copy that no later fetch rewrites",
    usage: ["snapshot URI DIR"],
    about:
      "Pins the URI, fetches it, and places a copy in DIR, which must not be there, whole or not at all. Its manifest, " +
      ".tarn-snapshot.lock, is a lock file of what DIR holds. Its folders are read-only, too: before it can be removed, chmod -R u+w DIR.",
    takes: [2, 2],
    examples: ["snapshot lakefs://sales/v1.0/tables/ ./tables-v1"],
    load: () => import("../commands/snapshot.ts"),
  },
];
