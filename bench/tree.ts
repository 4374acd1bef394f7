/** A tree of many small files, and comparing trees. */

import { createHash } from "node:crypto";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { seededRandomness } from "../base/randomness.ts";

const FOLDERS = 500;
const LEAST_BYTES = 100, MOST_BYTES = 2000;

/** Makes a tree: files of 100 to 2,000 random bytes in 500 folders, the same for the same number. */
export function makeTree(root: string, files: number): void {
  const chance = seededRandomness(files);
  const noise = chance.bytes(1 << 20);
  for (let i = 0; i < FOLDERS; i++) mkdirSync(join(root, folderName(i)), { recursive: true });
  for (let i = 0; i < files; i++) {
    const length = LEAST_BYTES + Math.floor(chance.fraction() * (MOST_BYTES - LEAST_BYTES + 1));
    const start = Math.floor(chance.fraction() * (noise.length - length));
    // Its number makes each file's content its own.
    const content = noise.slice(start, start + length);
    new DataView(content.buffer).setUint32(0, i);
    writeFileSync(join(root, folderName(i % FOLDERS), `file-${i}.bin`), content);
  }
}

function folderName(i: number): string {
  return `folder-${String(i).padStart(3, "0")}`;
}

/** Calls `look` with every file of a tree; reading it also brings it to memory, as a measurement wants it. */
export function readTree(root: string, look: (path: string, content: Uint8Array) => void = () => {}): void {
  for (const folder of readdirSync(root).filter((name) => name.startsWith("folder-")).sort()) {
    for (const name of readdirSync(join(root, folder)).sort()) {
      look(`${folder}/${name}`, readFileSync(join(root, folder, name)));
    }
  }
}

/** Returns a SHA-256 over all names and contents. */
export function treeDigest(root: string): string {
  const all = createHash("sha256");
  readTree(root, (path, content) => {
    all.update(`${path} ${createHash("sha256").update(content).digest("hex")}\n`);
  });
  return all.digest("hex");
}
