import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError } from "../../base/errors.ts";
import type { BranchWriter, FileBody } from "../../drivers/store.ts";
import { SmallFiles } from "./small_files.ts";

/** A writer that keeps the paths it was given, and refuses those that begin with "bad". */
function recordingWriter(): {
  writer: BranchWriter;
  batches: string[][];
  single: string[];
  mostAtOnce: () => number;
} {
  const batches: string[][] = [], single: string[] = [];
  let running = 0, most = 0;
  const refuse = (path: string) => {
    if (path.startsWith("bad")) throw new CodedError("invalid", "invalid_path", `Cannot use path "${path}"`);
  };
  const writer = {
    async putMany(files: readonly FileBody[]) {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve, 1));
      running--;
      for (const { path } of files) refuse(path);
      batches.push(files.map(({ path }) => path));
    },
    async put(path: string) {
      refuse(path);
      single.push(path);
    },
  } as unknown as BranchWriter;
  return { writer, batches, single, mostAtOnce: () => most };
}

const fileOf = (path: string, bytes = 10) => ({ path, body: new Uint8Array(bytes), about: path });

test("files are put in batches, in order, each settled once", async () => {
  const { writer, batches } = recordingWriter();
  const settled: string[] = [];
  const small = new SmallFiles<string>(writer, { put: {}, settled: ({ about }) => settled.push(about) });
  const names = Array.from({ length: 1000 }, (_, i) => `file-${String(i).padStart(4, "0")}`);
  for (const name of names) await small.add(fileOf(name));
  await small.finish();
  assert.deepEqual(batches.flat(), names);
  assert.deepEqual(settled, names);
  assert.ok(batches.length < 20, `${batches.length} batches`);
});

test("memory is bounded: batches by their bytes, and how many of them run", async () => {
  const { writer, batches, mostAtOnce } = recordingWriter();
  const small = new SmallFiles<string>(writer, { put: {}, settled: () => {} });
  for (let i = 0; i < 40; i++) await small.add(fileOf(`file-${i}`, 600_000));
  await small.finish();
  assert.ok(batches.every((batch) => batch.length <= 2));
  assert.ok(mostAtOnce() <= 3, `${mostAtOnce()} at once`);
});

test("a file that is refused is told alone, and the others of its batch are put", async () => {
  const { writer, single } = recordingWriter();
  const failed: string[] = [];
  const small = new SmallFiles<string>(writer, {
    put: {},
    settled: ({ about }, failure) => failure && failed.push(about),
  });
  for (const name of ["a", "bad", "c"]) await small.add(fileOf(name));
  await small.finish();
  assert.deepEqual(single, ["a", "c"]);
  assert.deepEqual(failed, ["bad"]);
});

test("what the caller throws on a failure ends everything", async () => {
  const { writer } = recordingWriter();
  const small = new SmallFiles<string>(writer, {
    put: {},
    settled: (_file, failure) => {
      if (failure) throw failure.error;
    },
  });
  await small.add(fileOf("bad"));
  await assert.rejects(small.finish(), { code: "invalid_path" });
});
