/**
 * Reads a time in milliseconds since the epoch from standard input. From then on it puts one of the keys 0 to COUNT-1
 * every INTERVAL in mode `if_absent`, at the same instants as every process that was told the same time. Writes, as one
 * line of JSON, the keys for which it was the first.
 *
 * Usage: put_if_absent.ts ROOT COUNT CONTENT
 */

import { Buffer } from "node:buffer";
import process from "node:process";
import { isCoded } from "../../../base/errors.ts";
import { openFileObjectStore } from "../mod.ts";

const INTERVAL_MS = 1;
const [root, count, content] = process.argv.slice(2);
const store = openFileObjectStore({ root: root!, address: "local://raced" });
console.log("ready");
const start = Number(await new Promise((resolve) => process.stdin.once("data", resolve)));

const won: number[] = [];
for (let i = 0; i < Number(count); i++) {
  // Not by a timer, which would be late by more than the moment in which a wrong put can be caught.
  while (performance.timeOrigin + performance.now() < start + i * INTERVAL_MS);
  try {
    await store.put(`raced/${i}`, Buffer.from(content!), { mode: "if_absent" });
    won.push(i);
  } catch (error) {
    if (!isCoded(error, "object_exists")) throw error;
  }
}
console.log(JSON.stringify(won));
process.exit(0);
