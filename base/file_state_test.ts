import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { temporaryFolder } from "../tests/support/temporary.ts";
import { fileLooker, type FileState, isSettled, lookByRuntime, sameState } from "./file_state.ts";

const STATE: FileState = {
  size: 5,
  mtimeSeconds: 1000,
  mtimeNanos: 7,
  ctimeSeconds: 1000,
  ctimeNanos: 8,
  inode: 9,
};

describe("fileLooker()", () => {
  it("says what the runtime says, to the nanosecond", async (t) => {
    const folder = temporaryFolder(t);
    const look = await fileLooker();
    for (const name of ["a", "é 😀", "x".repeat(255)]) {
      const path = join(folder, name);
      fs.writeFileSync(path, name);
      assert.deepEqual(look(path), lookByRuntime(path), name);
      assert.equal(look(path)!.size, fs.statSync(path).size);
      fs.utimesSync(path, -5.5, -5.5);
      assert.equal(look(path)!.mtimeSeconds * 1000 + look(path)!.mtimeNanos / 1e6, fs.statSync(path).mtimeMs);
    }
    const sparse = join(folder, "sparse");
    fs.writeFileSync(sparse, "");
    fs.truncateSync(sparse, 5 * 1024 ** 3);
    assert.equal(look(sparse)!.size, 5 * 1024 ** 3);
  });

  it("knows nothing of what is no regular file", async (t) => {
    const folder = temporaryFolder(t);
    const look = await fileLooker();
    fs.writeFileSync(join(folder, "file"), "x");
    fs.symlinkSync("file", join(folder, "link"));
    for (const name of ["link", "none", "file/below", ""]) {
      assert.equal(look(join(folder, name)), undefined, name);
      assert.equal(lookByRuntime(join(folder, name)), undefined, name);
    }
  });
});

it("sameState() sees every field", () => {
  assert.equal(sameState(STATE, { ...STATE }), true);
  for (const field of Object.keys(STATE) as (keyof FileState)[]) {
    assert.equal(sameState(STATE, { ...STATE, [field]: STATE[field] + 1 }), false, field);
  }
});

it("isSettled() wants both times to lie two seconds back, whatever their nanoseconds", () => {
  assert.equal(isSettled(STATE, 1_003_000), true);
  assert.equal(isSettled(STATE, 1_002_999), false);
  assert.equal(isSettled({ ...STATE, mtimeSeconds: 5000 }, 1_003_000), false);
  assert.equal(isSettled({ ...STATE, ctimeSeconds: 1001 }, 1_003_000), false);
});
