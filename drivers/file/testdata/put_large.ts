/**
 * Puts objects larger than a file may become (the caller sets the limit) and writes what came of it as one line of JSON.
 *
 * Usage: put_large.ts ROOT
 */

import process from "node:process";
import { CodedError } from "../../../base/errors.ts";
import { openFileObjectStore } from "../mod.ts";

const SIZE = 3_000_000;
const store = openFileObjectStore({ root: process.argv[2]!, address: "local://full" });

async function* inPieces() {
  for (let i = 0; i < 30; i++) yield new Uint8Array(SIZE / 30);
}

const outcomes: string[] = [];
for (const mode of ["replace", "if_absent", "fresh"] as const) {
  for (const body of [new Uint8Array(SIZE), inPieces()]) {
    await store.put("old/small", new Uint8Array(10), { mode: "replace" });
    const key = mode === "replace" ? "old/small" : "new/large";
    try {
      await store.put(key, body, { mode });
      outcomes.push("stored");
    } catch (error) {
      outcomes.push(
        error instanceof CodedError ? `${error.kind} ${error.code}: ${error.message}` : String(error),
      );
    }
  }
}
const left: string[] = [];
for await (const page of store.pages()) {
  left.push(...page.objects.map(({ key, sizeBytes }) => `${key} ${sizeBytes}`));
}
console.log(JSON.stringify({ outcomes, left }));
