/**
 * Puts objects for ever, and writes a line after each put that has returned: `mode key generation`. The content is the
 * generation as one byte, repeated; its length follows from it.
 *
 * Usage: put_for_ever.ts ROOT
 */

import { writeSync } from "node:fs";
import process from "node:process";
import { openFileObjectStore } from "../mod.ts";

const store = openFileObjectStore({ root: process.argv[2]!, address: "local://killed" });
const modes = ["replace", "if_absent", "fresh"] as const;

async function* inPieces(body: Uint8Array) {
  for (let at = 0; at < body.length; at += 50_000) yield body.subarray(at, at + 50_000);
}

for (let i = 1;; i++) {
  const mode = modes[i % 3]!;
  const generation = i % 200;
  const key = mode === "replace" ? `replaced/${i % 5}` : `${mode}/${i}`;
  const body = new Uint8Array(1 + generation * 4001).fill(generation);
  await store.put(key, i % 2 === 0 ? body : inPieces(body), { mode });
  writeSync(1, `${mode} ${key} ${generation}\n`);
}
