/** Fetches single files of the packages that the lock file names, for platforms other than this one. */

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from "node:fs";
import { renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { gunzipSync } from "node:zlib";

interface LockedPackage {
  readonly version: string;
  readonly integrity: string;
}

/**
 * Returns the path of a file of a package, which is looked for in `node_modules`, then in the cache there, and then
 * fetched with npm. What was fetched must be what the lock file says.
 */
export function packageFile(root: string, wanted: { package: string; file: string }): string {
  const installed = join(root, "node_modules", wanted.package, wanted.file);
  if (existsSync(installed)) return installed;
  const locked = lockedPackage(root, wanted.package);
  const cached = join(root, "node_modules", ".cache", "tarn", wanted.package, locked.version, wanted.file);
  if (existsSync(cached)) return cached;
  const content = fileInArchive(fetchArchive(wanted.package, locked), `package/${wanted.file}`);
  if (!content) throw new Error(`package ${wanted.package} ${locked.version} has no file ${wanted.file}`);
  mkdirSync(dirname(cached), { recursive: true });
  const unfinished = `${cached}.${process.pid}`;
  writeFileSync(unfinished, content);
  chmodSync(unfinished, 0o755);
  renameSync(unfinished, cached);
  return cached;
}

function lockedPackage(root: string, name: string): LockedPackage {
  const lock = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as {
    packages: Record<string, LockedPackage>;
  };
  const locked = lock.packages[`node_modules/${name}`];
  if (!locked) throw new Error(`package-lock.json does not name ${name}`);
  return locked;
}

function fetchArchive(name: string, { version, integrity }: LockedPackage): Uint8Array {
  console.error(`fetching ${name} ${version}`);
  const folder = mkdtempSync(join(process.cwd(), "node_modules", ".tarn-fetch-"));
  try {
    const npm = process.platform === "win32" ? "npm.cmd" : "npm";
    execFileSync(npm, ["pack", `${name}@${version}`, "--silent", "--pack-destination", folder], {
      stdio: ["ignore", "ignore", "inherit"],
      shell: process.platform === "win32",
    });
    const archive = readFileSync(join(folder, readdirSync(folder)[0]!));
    const digest = `sha512-${createHash("sha512").update(archive).digest("base64")}`;
    if (digest !== integrity) throw new Error(`${name} ${version} is not what package-lock.json says it is`);
    return archive;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Returns a file of a gzipped tar archive: blocks of 512 bytes, a header with name and octal size before each file. */
export function fileInArchive(archive: Uint8Array, name: string): Uint8Array | undefined {
  const tar = gunzipSync(archive);
  const text = (start: number, length: number) =>
    tar.toString("latin1", start, start + length).split("\0")[0]!;
  for (let at = 0; at + 512 <= tar.length && tar[at] !== 0;) {
    const folder = text(at + 345, 155);
    const path = folder === "" ? text(at, 100) : `${folder}/${text(at, 100)}`;
    const size = parseInt(text(at + 124, 12), 8);
    if (path === name) return tar.subarray(at + 512, at + 512 + size);
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return undefined;
}
