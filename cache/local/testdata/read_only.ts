/** `read_only.ts FOLDER`, in a mount namespace of its own: uses `cache` and `copy` in a folder that may only be read. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import process from "node:process";
import { openLocalCache } from "../local_cache.ts";
import { download, FOLDER, KEY, listingOf } from "../testing.ts";

const folder = process.argv[2]!;
for (const args of [["--bind", folder, folder], ["-o", "remount,bind,ro", folder]]) {
  const mounted = spawnSync("mount", args, { encoding: "utf8" });
  if (mounted.status !== 0) {
    console.error(mounted.stderr);
    process.exit(77);
  }
}

for (const name of ["cache", "copy"]) {
  for (const isOffline of [true, false]) {
    const cache = await openLocalCache({ root: join(folder, name), isOffline });
    assert.equal((await cache.cachedFile(KEY))?.version, "v1");
    assert.equal(await cache.cachedFolder(FOLDER), join(folder, name, "s/repo/main/t"));
    const hold = cache.hold();
    assert.ok(await hold.cachedFile({ store: "s", parts: [...FOLDER.parts, "d", "b"] }));
    await hold.release();
    const current = { version: "v1" };
    assert.equal((await cache.file(KEY, current, () => assert.fail("it is there"))).version, "v1");
    if (isOffline) {
      assert.ok(await cache.folder(FOLDER, listingOf({}), { each: () => assert.fail("it is there") }));
    }
    await cache.close();
  }
  const cache = await openLocalCache({ root: join(folder, name) });
  await assert.rejects(cache.file(KEY, { version: "v2" }, async () => download("two", "v2")), {
    code: "file_forbidden",
    message: 'Cannot fetch "s://repo/main/data.csv": the cache may not be written',
  });
  await assert.rejects(cache.recordPin({ store: "s", place: "r", kind: "tag", name: "v1" }, "c"), {
    code: "file_forbidden",
  });
}
