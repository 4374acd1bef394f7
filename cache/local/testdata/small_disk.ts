/**
 * `small_disk.ts FOLDER`, in a mount namespace of its own: fetches into a cache on a small disk that is full, with a page more of
 * room each time until it succeeds. Prints how often it was refused.
 */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { isCoded } from "../../../base/errors.ts";
import { openLocalCache } from "../local_cache.ts";
import { contentOf, download, FOLDER, KEY, leftovers, listingOf, sha256Hex } from "../testing.ts";
import { isWhole, madeUpFiles } from "./made_up_files.ts";

const PAGE_BYTES = 4096;
const COUNT = 12;
const LARGE = `[v2 9 ${"x".repeat((9 * 37) % 5000)}]`;

const disk = join(process.argv[2]!, "disk");
fs.mkdirSync(disk, { recursive: true });
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=1m", "tmpfs", disk], { encoding: "utf8" });
if (mounted.status !== 0) {
  console.error(mounted.stderr);
  process.exit(77);
}

const root = join(disk, "cache"), filler = join(disk, "filler");

function fill(freePages: number): void {
  const { bavail, bsize } = fs.statfsSync(disk);
  fs.writeFileSync(filler, new Uint8Array(Math.max(0, bavail * bsize - freePages * PAGE_BYTES)));
}

/** Fetches a file and a folder; returns whether there was room. */
async function fetchAll(version: string): Promise<boolean> {
  const cache = await openLocalCache({ root });
  const files = madeUpFiles(version, COUNT);
  try {
    await cache.file(KEY, { version }, async () => download(LARGE.replace("v2", version), version));
    await cache.folder(FOLDER, listingOf(files), {
      each: async ({ path }) => download(files[path]!, sha256Hex(files[path]!)),
    });
    assert.deepEqual(contentOf(cache.parts.layout.contentOf(FOLDER)), files);
    return true;
  } catch (error) {
    assert.ok(isCoded(error, "disk_full"), String((error as Error).stack));
    return false;
  } finally {
    await cache.close();
  }
}

/** After a refusal everything that the cache gives out is whole. */
async function check(): Promise<void> {
  const cache = await openLocalCache({ root, isOffline: true });
  for (const [path, text] of Object.entries(contentOf(join(root, "s")))) assert.ok(isWhole(text), path);
  const file = await cache.cachedFile(KEY);
  if (file) assert.equal(sha256Hex(fs.readFileSync(file.path, "utf8")), file.sha256);
  const folder = await cache.cachedFolder(FOLDER);
  if (folder !== undefined) {
    const files = contentOf(folder);
    assert.ok(
      ["v1", "v2"].some((version) => JSON.stringify(madeUpFiles(version, COUNT)) === JSON.stringify(files)),
    );
  }
  await cache.close();
}

/** Tries with more and more room, over a cache that has another version or nothing; returns how often it was refused. */
async function tryAllRooms(before: string | undefined): Promise<number> {
  for (let pages = 0;; pages++) {
    fs.rmSync(root, { recursive: true, force: true });
    if (before !== undefined) assert.ok(await fetchAll(before));
    fill(pages);
    const hadRoom = await fetchAll("v2");
    await check();
    fs.rmSync(filler);
    if (hadRoom) return pages;
    assert.ok(await fetchAll("v2"), "with room it succeeds");
    const cache = await openLocalCache({ root });
    assert.deepEqual(leftovers(cache), []);
  }
}

console.log(JSON.stringify([await tryAllRooms(undefined), await tryAllRooms("v1")]));
