import assert from "node:assert/strict";
import { existsSync, statfsSync } from "node:fs";
import process from "node:process";
import { test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { requireThat } from "../../tests/support/requires.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { openFileObjectStore } from "./mod.ts";

const LENGTH = 1024 * 1024;

interface Bun {
  mmap(path: string, options: { readonly shared: boolean }): Uint8Array;
}
const bun = (globalThis as { Bun?: Bun }).Bun;
const canAsk = bun !== undefined && process.platform === "linux" && !existsSync("/lib/ld-musl-x86_64.so.1");
const TMPFS = 0x01021994;

test("file: the pages of a file that was let go of serve others", async (t) => {
  const root = temporaryFolder(t);
  if (!requireThat(t, canAsk, "only where the C library of Linux can be called")) return;
  if (!requireThat(t, statfsSync(root).type !== TMPFS, "the folder for temporary files lies in memory")) {
    return;
  }
  const store = openFileObjectStore({ root, address: "local://name" });
  // The calls are looked for once it pays.
  for (let i = 0; i < 10; i++) {
    const object = store.begin!("f");
    await object.add(new Uint8Array(LENGTH).fill(i));
    await object.name(`f/${i}`, "if_absent");
    await setTimeout(10);
  }
  await store.flush(["f/9"]);
  const file = await store.localFile!("f/9"), { path } = file!;
  assert.equal(await pagesInMemory(path), LENGTH / 4096);
  store.letGo!(["f/9"]);
  assert.equal(await pagesInMemory(path), 0);
  assert.deepEqual(await store.read("f/9", LENGTH - 2, 10), new Uint8Array([9, 9]));
});

/** Asks the system by `mincore`, which looks at a mapping and touches no page of it. */
async function pagesInMemory(path: string): Promise<number> {
  const { dlopen, ptr } = await import("bun:ffi" as string);
  const { symbols } = dlopen("libc.so.6", { mincore: { args: ["ptr", "usize", "ptr"], returns: "int" } });
  const mapped = bun!.mmap(path, { shared: true }), pages = new Uint8Array(LENGTH / 4096);
  assert.equal(symbols.mincore(ptr(mapped), LENGTH, ptr(pages)), 0);
  return pages.filter((page) => page & 1).length;
}
