/**
 * Waits until a line comes on standard input, then puts each of the keys 0 to COUNT-1 in mode `if_absent` and writes, as
 * one line of JSON, those for which it was the first.
 *
 * Usage: put_if_absent.ts ROOT COUNT CONTENT
 */

import { Buffer } from "node:buffer";
import process from "node:process";
import { isCoded } from "../../../base/errors.ts";
import { openFileObjectStore } from "../mod.ts";

const [root, count, content] = process.argv.slice(2);
const store = openFileObjectStore({ root: root!, address: "local://raced" });
console.log("ready");
await new Promise((resolve) => process.stdin.once("data", resolve));

const won: number[] = [];
for (let i = 0; i < Number(count); i++) {
  try {
    await store.put(`raced/${i}`, Buffer.from(content!), { mode: "if_absent" });
    won.push(i);
  } catch (error) {
    if (!isCoded(error, "object_exists")) throw error;
  }
}
console.log(JSON.stringify(won));
process.exit(0);
