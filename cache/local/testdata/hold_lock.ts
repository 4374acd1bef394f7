/** `hold_lock.ts FOLDER NAME exclusive|shared`, as a process or a thread: takes a lock, says so, and holds it until it is killed. */

import * as fs from "node:fs";
import process from "node:process";
import { parentPort } from "node:worker_threads";
import { Locks } from "../locks.ts";

const [folder, name, kind] = process.argv.slice(2) as [string, string, string];
await new Locks(folder, (made) => fs.mkdirSync(made, { recursive: true })).take(name, {
  shared: kind === "shared",
});
if (parentPort) parentPort.postMessage("held");
else process.stdout.write("held\n");
setInterval(() => {}, 1000);
