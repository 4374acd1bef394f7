/** Makes a file ahead that is never put, says whether it could, and ends. */

import process from "node:process";
import { openFileObjectStore } from "../mod.ts";

const store = openFileObjectStore({ root: process.argv[2]!, address: "local://name" });
await store.put("a/first", new Uint8Array(1), { mode: "fresh" });
process.stdout.write(`${store.makeReady!("a/b")}`);
