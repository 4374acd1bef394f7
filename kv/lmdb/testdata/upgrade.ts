/**
 * A process of its own whose first write puts a database of an older version into the newest one: `upgrade.ts FOLDER MODE`. It
 * says when that begins and when the write was answered; with the mode `die` it ends itself in between.
 */

import { writeSync } from "node:fs";
import process from "node:process";
import { utf8 } from "../../../base/bytes.ts";
import { openLmdb } from "../mod.ts";

const [folder, mode] = process.argv.slice(2) as [string, string];
const store = await openLmdb(folder, {
  beforeWriting: () => {
    writeSync(1, "begins\n");
    if (mode === "die") process.kill(process.pid, "SIGKILL");
  },
});
await store.set(utf8("new"), utf8("key"), utf8("value"));
writeSync(1, "answered\n");
await store.close();
