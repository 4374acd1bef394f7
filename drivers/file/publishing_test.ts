import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import test, { type TestContext } from "node:test";
import { isKind } from "../../tests/conformance/object_store_support.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { claimAndRename, publishIfAbsent, refuseTaken } from "./publishing.ts";

function setUp(t: TestContext) {
  const folder = temporaryFolder(t);
  const place = { key: "k", folder: "", path: join(folder, "k") };
  const temporary = join(folder, ".tarn-tmp-1");
  writeFileSync(temporary, "new");
  return { folder, place, temporary };
}

for (const publish of [publishIfAbsent, claimAndRename]) {
  test(`${publish.name}() gives a free name to the file and leaves no other`, (t) => {
    const { folder, place, temporary } = setUp(t);
    publish(place, temporary);
    assert.deepEqual(readdirSync(folder), ["k"]);
    assert.equal(readFileSync(place.path, "utf8"), "new");
  });

  test(`${publish.name}() leaves a taken name as it is`, (t) => {
    const { place, temporary } = setUp(t);
    writeFileSync(place.path, "old");
    assert.throws(() => publish(place, temporary), isKind("exists", "object_exists"));
    assert.equal(readFileSync(place.path, "utf8"), "old");
    assert.equal(readFileSync(temporary, "utf8"), "new");
  });
}

test("claimAndRename() frees the name when the rename fails", (t) => {
  const { folder, place } = setUp(t);
  assert.throws(() => claimAndRename(place, join(folder, ".tarn-tmp-gone")), /ENOENT/);
  assert.deepEqual(readdirSync(folder), [".tarn-tmp-1"]);
});

test("refuseTaken() removes an empty folder and refuses a full one", (t) => {
  const { folder, place } = setUp(t);
  mkdirSync(place.path);
  refuseTaken(place);
  assert.deepEqual(readdirSync(folder), [".tarn-tmp-1"]);
  mkdirSync(join(place.path, "in"), { recursive: true });
  assert.throws(() => refuseTaken(place), isKind("invalid", "unplaceable_key"));
});
