import assert from "node:assert/strict";
import * as fs from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { isCoded } from "../../base/errors.ts";
import { utf8 } from "../../base/bytes.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { openOutputFile } from "./output_file.ts";

const PIECE = utf8("piece ".repeat(10_000));

it("openOutputFile() gives the file its name when it is finished, and not before", async (t) => {
  const path = join(temporaryFolder(t), "out");
  fs.writeFileSync(path, "before");
  const file = openOutputFile(path);
  for (let i = 0; i < 10; i++) await file.sink.write(PIECE);
  assert.equal(fs.readFileSync(path, "utf8"), "before");
  await file.finish();
  assert.equal(fs.statSync(path).size, 10 * PIECE.length);
});

it("openOutputFile() leaves what was there, and nothing else, when it is discarded", async (t) => {
  const folder = temporaryFolder(t);
  const path = join(folder, "out");
  fs.writeFileSync(path, "before");
  const file = openOutputFile(path);
  await file.sink.write(PIECE);
  await file.discard();
  assert.equal(fs.readFileSync(path, "utf8"), "before");
  assert.deepEqual(fs.readdirSync(folder), ["out"]);
});

it("openOutputFile() writes an empty file when nothing is written", async (t) => {
  const path = join(temporaryFolder(t), "out");
  await openOutputFile(path).finish();
  assert.equal(fs.readFileSync(path, "utf8"), "");
});

it("openOutputFile() says why it cannot write, to whoever writes or finishes", async (t) => {
  const folder = temporaryFolder(t);
  const cases: readonly [path: string, code: string][] = [
    [folder, "folder_in_the_way"],
    [join(folder, "none", "out"), "file_not_found"],
  ];
  for (const [path, code] of cases) {
    const file = openOutputFile(path);
    await assert.rejects(async () => {
      for (let i = 0; i < 10; i++) await file.sink.write(PIECE);
      await file.finish();
    }, (error) => isCoded(error, code));
    await file.discard();
    await assert.rejects(openOutputFile(path).finish(), (error) => isCoded(error, code));
  }
});

it("openOutputFile() writes through a symlink to what is not there yet, and refuses a loop of them", async (t) => {
  const folder = temporaryFolder(t);
  fs.mkdirSync(join(folder, "d"));
  fs.symlinkSync("d/inner", join(folder, "link"));
  fs.symlinkSync("../real", join(folder, "d", "inner"));
  const file = openOutputFile(join(folder, "link"));
  await file.sink.write(utf8("new"));
  await file.finish();
  assert.equal(fs.readFileSync(join(folder, "real"), "utf8"), "new");
  assert.ok(fs.lstatSync(join(folder, "link")).isSymbolicLink());
  fs.symlinkSync("nowhere/file", join(folder, "lost"));
  fs.symlinkSync("loop", join(folder, "loop"));
  for (const [name, code] of [["lost", "file_not_found"], ["loop", "file_unusable"]] as const) {
    const bad = openOutputFile(join(folder, name));
    await assert.rejects(bad.sink.write(utf8("x")).then(() => bad.finish()), { code });
    assert.ok(fs.lstatSync(join(folder, name)).isSymbolicLink());
  }
});

it("openOutputFile() writes through a symlink, and into a device without replacing it", async (t) => {
  const folder = temporaryFolder(t);
  fs.writeFileSync(join(folder, "real"), "before");
  fs.symlinkSync("real", join(folder, "link"));
  const file = openOutputFile(join(folder, "link"));
  await file.sink.write(utf8("after"));
  await file.finish();
  assert.equal(fs.readFileSync(join(folder, "real"), "utf8"), "after");
  assert.ok(fs.lstatSync(join(folder, "link")).isSymbolicLink());

  const device = openOutputFile("/dev/null");
  await device.sink.write(PIECE);
  await device.finish();
  assert.ok(fs.statSync("/dev/null").isCharacterDevice());
});
