/** `hold_item.ts ROOT file|folder NAME`: holds something of a cache, says so, and keeps it until it is killed. */

import process from "node:process";
import { openLocalCache } from "../local_cache.ts";

const [root, kind, name] = process.argv.slice(2) as [string, string, string];
const hold = (await openLocalCache({ root })).hold();
const key = { store: "s", parts: ["repo", "main", name] };
const found = kind === "file" ? await hold.cachedFile(key) : await hold.cachedFolder(key);
process.stdout.write(found === undefined ? "missing\n" : "held\n");
setInterval(() => {}, 1000);
