/** A process of its own that has a store open until it is killed: `reader.ts FOLDER PLACES`. It says when it has read. */

import { writeSync } from "node:fs";
import process from "node:process";
import { utf8 } from "../../../base/bytes.ts";
import { openLmdb } from "../mod.ts";

const [folder, places] = process.argv.slice(2) as [string, string];
const store = await openLmdb(folder, { maxReaders: Number(places) });
await store.get(utf8("partition"), utf8("key"));
writeSync(1, "open\n");
setInterval(() => {}, 1000);
