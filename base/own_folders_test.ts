import assert from "node:assert/strict";
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { temporaryFolder } from "../tests/support/temporary.ts";
import { CACHE_MARKER, HOME_MARKER, OwnFolders } from "./own_folders.ts";

describe("own folders", () => {
  it("are homes and what lies in them, by whatever way a path leads there", (t) => {
    const folder = temporaryFolder(t), own = new OwnFolders();
    mkdirSync(join(folder, "home/kv"), { recursive: true });
    mkdirSync(join(folder, "beside"));
    writeFileSync(join(folder, "home", HOME_MARKER), "{}");
    symlinkSync(join(folder, "home/kv"), join(folder, "beside/link"));
    for (
      const path of [
        "home",
        "home/",
        "home/kv/data.mdb",
        "home/new/deeper/x",
        "beside/../home/kv",
        "beside/link",
        "beside/link/data.mdb",
      ]
    ) assert.ok(own.holds(`${folder}/${path}`), path);
    // The system follows the link before it goes up.
    assert.ok(own.holds(`${folder}/beside/link/../x`));
    for (const path of ["", "beside", "beside/x", "home2/kv", "none/kv/data.mdb"]) {
      assert.ok(!own.holds(`${folder}/${path}`), path);
    }
  });

  it("are caches of the catalog", (t) => {
    const folder = temporaryFolder(t);
    mkdirSync(join(folder, "cache", CACHE_MARKER), { recursive: true });
    assert.ok(new OwnFolders().holds(join(folder, "cache/lakefs/x")));
    assert.ok(!new OwnFolders().holds(join(folder, "x")));
  });

  it("are those that were named, whatever symlinks lead to them", (t) => {
    const folder = temporaryFolder(t);
    mkdirSync(join(folder, "storage/a"), { recursive: true });
    mkdirSync(join(folder, "elsewhere"));
    symlinkSync(join(folder, "storage"), join(folder, "link"));
    const own = new OwnFolders([join(folder, "link/a"), join(folder, "not there")]);
    assert.ok(own.holds(join(folder, "storage/a/x")));
    assert.ok(own.isOwn(join(folder, "link/a")));
    assert.ok(!own.holds(join(folder, "storage/b")));
    assert.ok(!own.holds(join(folder, "elsewhere")));
  });

  it("do not count as others' where only those that were named do", (t) => {
    const folder = temporaryFolder(t);
    for (const name of ["mine", "other"]) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, HOME_MARKER), "{}");
    }
    const own = new OwnFolders([join(folder, "mine")]);
    assert.ok(own.isOwn(join(folder, "other")));
    assert.ok(!own.onlyNamed.isOwn(join(folder, "other")));
    assert.ok(own.onlyNamed.isOwn(join(folder, "mine")));
  });

  it("are refused with what was to be done", (t) => {
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, HOME_MARKER), "{}");
    assert.throws(() => new OwnFolders().refuse(join(folder, "x"), "write"), {
      code: "own_storage",
      message: `Cannot write "${join(folder, "x")}": tarn keeps its own data there`,
    });
  });
});
