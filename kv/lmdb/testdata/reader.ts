/**
 * A process of its own that reads by LMDB and keeps what it has seen, as no store of ours does, until it is killed:
 * `reader.ts FOLDER`. It says when it has read.
 */

import { writeSync } from "node:fs";
import process from "node:process";

const lmdb = await import("lmdb");
const database = lmdb.open(process.argv[2]!, { noSubdir: false, overlappingSync: false, maxDbs: 1 });
database.useReadTransaction();
writeSync(1, "open\n");
setInterval(() => {}, 1000);
