/** Trees of files to put, and a comparison of what came back with what was put. */

import { Buffer } from "node:buffer";
import { spawnSync } from "node:child_process";
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { seededRandomness } from "../../base/randomness.ts";

/** Relative paths, all valid UTF-8 and within the limits of an object's path, each with a trap in it. */
export const HOSTILE_PATHS: readonly string[] = [
  "plain.txt",
  "a b/ lead and trail ",
  "plus+sign/100%",
  "percent%2Fencoded%00%",
  "query?at=branch:main#fragment",
  "new\nline",
  "tab\tand\rreturn",
  "escape\u001b[31mred",
  "emoji-\u{1f600}/\u{1f468}\u200d\u{1f469}\u200d\u{1f467}",
  "nfc/caf\u00e9",
  "nfd/cafe\u0301",
  "rtl/\u202egpj.exe",
  "cjk/\u6f22\u5b57/\ud55c\uae00",
  "replacement/\ufffd",
  "bom/\ufeffx",
  "quotes/'\"`$(x)",
  "back\\slash/c:\\x",
  "-rf",
  "--",
  "...",
  "..a/b..",
  ".hidden/.file",
  "a",
  "a.txt",
  "a!",
  "ab/c/d",
  "ab/c.d",
  "ab0",
  "Case",
  "case",
  `255/${"x".repeat(255)}`,
  `255/${"\u20ac".repeat(85)}`,
  `255/${"d".repeat(255)}/${"e".repeat(255)}/${"f".repeat(255)}`,
  `deep/${"d/".repeat(200)}leaf`,
  "empty/nothing",
  "empty/also nothing",
];

/** Writes {@link HOSTILE_PATHS} and random files beside them; returns what was written. The same seed, the same tree. */
export function makeHostileTree(
  folder: string,
  options: { seed?: number; randomFiles?: number; maxBytes?: number } = {},
): Map<string, Uint8Array> {
  const { seed = 1, randomFiles = 40, maxBytes = 300_000 } = options;
  const random = seededRandomness(seed);
  const paths = [...HOSTILE_PATHS];
  for (let i = 0; i < randomFiles; i++) paths.push(`random/${Math.floor(random.fraction() * 6)}/file ${i}`);
  const written = new Map<string, Uint8Array>();
  for (const path of paths) {
    const size = path.startsWith("empty/") ? 0 : Math.floor(random.fraction() ** 4 * maxBytes);
    const content = new Uint8Array(Buffer.alloc(size, random.bytes(1021)));
    writeInto(folder, path, content);
    written.set(path, content);
  }
  return written;
}

/** What stands in a folder and cannot be put, by how it is to be treated. */
export interface OddNames {
  readonly symlinks: readonly string[];
  readonly specials: readonly string[];
  /** Names that are not UTF-8. */
  readonly undecodable: readonly Uint8Array[];
}

/** Adds symlinks (to a file, a folder, nothing, and out of the folder), a pipe and a name that is not UTF-8. */
export function addOddNames(folder: string): OddNames {
  mkdirSync(join(folder, "odd/real"), { recursive: true });
  writeFileSync(join(folder, "odd/real/file"), "behind a link");
  const links = {
    "odd/to-file": "real/file",
    "odd/to-folder": "real",
    "odd/to-nothing": "missing",
    "odd/out": "/",
  };
  for (const [path, target] of Object.entries(links)) symlinkSync(target, join(folder, path));
  const { status } = spawnSync("mkfifo", [join(folder, "odd/pipe")]);
  const undecodable = Buffer.from([0x62, 0x61, 0x64, 0xff, 0xfe]);
  writeFileSync(Buffer.concat([Buffer.from(`${folder}/odd/`), undecodable]), "not UTF-8");
  return {
    symlinks: Object.keys(links),
    specials: status === 0 ? ["odd/pipe"] : [],
    undecodable: [undecodable],
  };
}

const PACKAGES = fileURLToPath(new URL("../../node_modules/", import.meta.url));
const MAX_REAL_BYTES = 32 * 1024;
const FILES_PER_COPY_AT_LEAST = 50;
const MOST_FILES_PER_COPY = 500;

/**
 * Writes `count` small real files: those of the installed packages, as often as it takes, each time below another
 * folder. Every copy but the first has its number at the end of each file, so that no two could be exchanged unseen.
 */
export function makeRealTree(folder: string, count: number): { files: number; sizeBytes: number } {
  const originals = smallFilesOf(PACKAGES, MOST_FILES_PER_COPY);
  if (originals.length < FILES_PER_COPY_AT_LEAST) throw new Error("the packages are not installed");
  const made = new Set<string>();
  let sizeBytes = 0;
  for (let i = 0; i < count; i++) {
    const copy = Math.floor(i / originals.length);
    const { path, content } = originals[i % originals.length]!;
    const target = `copy-${String(copy).padStart(4, "0")}/${path}`;
    const body = copy === 0 ? content : Buffer.concat([content, Buffer.from(`copy ${copy}\n`)]);
    const parent = dirname(target);
    if (!made.has(parent)) mkdirSync(join(folder, parent), { recursive: true });
    made.add(parent);
    writeFileSync(`${folder}/${target}`, body);
    sizeBytes += body.length;
  }
  return { files: count, sizeBytes };
}

function smallFilesOf(folder: string, most: number): { path: string; content: Buffer }[] {
  const found: { path: string; content: Buffer }[] = [];
  for (const { name, path, kind, sizeBytes } of walk(folder)) {
    if (found.length === most) break;
    if (kind !== "file" || sizeBytes > MAX_REAL_BYTES) continue;
    found.push({ path: name.toString(), content: readFileSync(path) });
  }
  return found;
}

/**
 * Returns how two trees differ, one line a difference and at most 20 lines: names by their bytes, kinds, and contents.
 * Folders count only for what is in them, since an empty one is not kept.
 */
export function compareTrees(left: string, right: string): string[] {
  const differences: string[] = [];
  const leftFiles = walk(left), rightFiles = walk(right);
  let a = leftFiles.next().value, b = rightFiles.next().value;
  while ((a || b) && differences.length < 20) {
    const order = !a ? 1 : !b ? -1 : Buffer.compare(a.name, b.name);
    if (order < 0) differences.push(`only left: ${JSON.stringify(a!.name.toString())}`);
    else if (order > 0) differences.push(`only right: ${JSON.stringify(b!.name.toString())}`);
    else if (!isSame(a!, b!)) differences.push(`differs: ${JSON.stringify(a!.name.toString())}`);
    if (order <= 0) a = leftFiles.next().value;
    if (order >= 0) b = rightFiles.next().value;
  }
  return differences;
}

interface Found {
  /** The path below the folder, as bytes. */
  readonly name: Buffer;
  readonly path: Buffer;
  readonly kind: "file" | "symlink" | "other";
  readonly sizeBytes: number;
}

/** Yields what is in a folder, at any depth, in byte order of names. Names are bytes: decoding would change some. */
function* walk(folder: string): Generator<Found, undefined> {
  yield* walkInto(Buffer.from(`${folder.replace(/\/+$/, "")}/`), Buffer.alloc(0));
}

function* walkInto(folder: Buffer, base: Buffer): Generator<Found, undefined> {
  const entries = readdirSync(folder, { encoding: "buffer" }).map((name) => {
    const path = Buffer.concat([folder, name]);
    const stats = lstatSync(path);
    return { path, stats, order: stats.isDirectory() ? Buffer.concat([name, Buffer.from("/")]) : name };
  });
  entries.sort((a, b) => Buffer.compare(a.order, b.order));
  for (const { path, stats, order } of entries) {
    const name = Buffer.concat([base, order]);
    if (stats.isDirectory()) yield* walkInto(Buffer.concat([folder, order]), name);
    else {
      const kind = stats.isFile() ? "file" : stats.isSymbolicLink() ? "symlink" : "other";
      yield { name, path, kind, sizeBytes: stats.size };
    }
  }
}

function isSame(a: Found, b: Found): boolean {
  if (a.kind !== b.kind) return false;
  if (a.kind !== "file") return true;
  return a.sizeBytes === b.sizeBytes && Buffer.compare(readFileSync(a.path), readFileSync(b.path)) === 0;
}

function writeInto(folder: string, path: string, content: Uint8Array): void {
  mkdirSync(dirname(`${folder}/${path}`), { recursive: true });
  writeFileSync(`${folder}/${path}`, content);
}
