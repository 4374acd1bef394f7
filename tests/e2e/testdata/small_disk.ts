/**
 * `small_disk.ts FOLDER CASE…`, in a mount namespace of its own: mounts a small disk below FOLDER and tries commands on it with
 * more and more room. Prints a line a command: how often it was refused.
 */

import { spawnSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { tryAllRooms } from "../../support/full_disk.ts";

const [folder, ...names] = process.argv.slice(2) as [string, ...string[]];
const disk = join(folder, "disk");
fs.mkdirSync(disk, { recursive: true });
const mounted = spawnSync("mount", ["-t", "tmpfs", "-o", "size=16m", "tmpfs", disk], { encoding: "utf8" });
if (mounted.status !== 0) {
  console.error(mounted.stderr);
  process.exit(77);
}
for (const name of names) {
  const refused = tryAllRooms(folder, { name, disk: { folder: disk, stepPages: 1, limit: fill, free } });
  console.log(`${name}: ${refused}`);
}

function fill(bytes: number): readonly string[] {
  const { bavail, bsize } = fs.statfsSync(disk);
  const rest = Math.max(0, bavail * bsize - bytes);
  fs.writeFileSync(join(disk, "filler"), new Uint8Array(rest));
  return [];
}

function free(): void {
  fs.rmSync(join(disk, "filler"), { force: true });
}
