/**
 * `fetch_folder.ts ROOT VERSION COUNT`: fetches a folder whose files are made up, checks that it holds exactly that, and
 * prints how many of them it downloaded.
 */

import assert from "node:assert/strict";
import process from "node:process";
import { openLocalCache } from "../local_cache.ts";
import { contentOf, download, FOLDER, listingOf, sha256Hex } from "../testing.ts";
import { madeUpFiles } from "./made_up_files.ts";

const [root, version, count] = process.argv.slice(2) as [string, string, string];
const files = madeUpFiles(version, Number(count));
const cache = await openLocalCache({ root });
process.stdout.write("started\n");
let downloads = 0;
const path = await cache.folder(FOLDER, listingOf(files, 50), {
  each: async (file) => {
    downloads++;
    // As of a network: others get their turn.
    await new Promise((resolve) => setTimeout(resolve, 1));
    const text = files[file.path]!;
    return download(text, sha256Hex(text));
  },
});
assert.deepEqual(contentOf(path), files);
await cache.close();
process.stdout.write(`${downloads}\n`);
