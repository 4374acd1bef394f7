import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { HOME_MARKER, OwnFolders } from "../../base/own_folders.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { OwnBelow } from "./own_below.ts";

class Counted extends OwnFolders {
  readonly asked: string[] = [];
  override isOwn(folder: string): boolean {
    this.asked.push(folder);
    return super.isOwn(folder);
  }
}

function folderWithHome(t: Parameters<typeof temporaryFolder>[0]): string {
  const folder = temporaryFolder(t);
  mkdirSync(join(folder, "sub/.tarn/kv"), { recursive: true });
  writeFileSync(join(folder, "sub/.tarn", HOME_MARKER), "{}");
  return folder;
}

describe("keys below a folder", () => {
  it("lead into a home that lies there, and beside it not", (t) => {
    const below = new OwnBelow(new OwnFolders(), folderWithHome(t));
    const keys = [
      "a",
      "sub/.tarn/kv/data.mdb",
      "sub/.tarn/new/deep/x",
      "sub/.tarn/tarn-home.json",
      "sub/.tarn2/kv/x",
      "sub/x",
      "sub2/.tarn/kv/data.mdb",
    ];
    assert.deepEqual(keys.filter((key) => below.leadsIn(key)), keys.slice(1, 4));
  });

  it("lead into it through a symlink", (t) => {
    const folder = folderWithHome(t);
    symlinkSync("sub/.tarn/kv", join(folder, "link"));
    symlinkSync("sub", join(folder, "other"));
    const below = new OwnBelow(new OwnFolders(), folder);
    assert.ok(below.leadsIn("link/data.mdb"));
    assert.ok(below.leadsIn("other/.tarn/x"));
    assert.ok(!below.leadsIn("other/x"));
  });

  it("are not asked for where the folder itself lies in a home", (t) => {
    const folder = folderWithHome(t);
    assert.throws(() => new OwnBelow(new OwnFolders(), join(folder, "sub/.tarn/kv")), {
      code: "own_storage",
    });
  });

  it("have each folder looked at once, and none below one that is not there", (t) => {
    const folder = temporaryFolder(t);
    mkdirSync(join(folder, "a/b"), { recursive: true });
    const own = new Counted();
    const below = new OwnBelow(own, folder);
    own.asked.length = 0;
    for (const key of ["a/1", "a/2", "a/b/1", "a/b/2", "a/c", "n/1", "n/m/1", "n/m/2"]) {
      assert.ok(!below.leadsIn(key));
    }
    assert.deepEqual(own.asked, [join(folder, "a"), join(folder, "a/b")]);
  });
});
