/** `count_under_lock.ts FOLDER COUNTER TIMES`: adds to a number in a file, which only the lock keeps right. */

import * as fs from "node:fs";
import process from "node:process";
import { Locks } from "../locks.ts";

const [folder, counter, times] = process.argv.slice(2) as [string, string, string];
const locks = new Locks(folder, (made) => fs.mkdirSync(made, { recursive: true }));
for (let i = 0; i < Number(times); i++) {
  await locks.holding("x", async () => {
    const count = Number(fs.readFileSync(counter, "utf8"));
    fs.writeFileSync(`${counter}.${process.pid}`, String(count + 1));
    fs.renameSync(`${counter}.${process.pid}`, counter);
  });
}
