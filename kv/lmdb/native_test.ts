import assert from "node:assert/strict";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { test } from "node:test";
import { hex, utf8 } from "../../base/bytes.ts";
import { sha256 } from "../../base/hashes.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { type NativeSource, placeAndLoad } from "./native.ts";

const CONTENT = utf8("machine code");
const NAME = "lmdb-0123.node";

/** A native part whose loading shows from where, and fails in folders that `refuses` names (as with noexec). */
function source(refuses: (folder: string) => boolean = () => false): NativeSource {
  return {
    name: NAME,
    sha256: hex(sha256(CONTENT)),
    read: () => CONTENT,
    load: (path) => {
      assert.deepEqual(new Uint8Array(readFileSync(path)), CONTENT);
      if (refuses(dirname(path))) throw new Error("failed to map segment from shared object");
      return path;
    },
  };
}

test("the native part is written to the first folder, which becomes private", (t) => {
  const folder = join(temporaryFolder(t), "home", "native");
  assert.equal(placeAndLoad(source(), { lasting: [folder], temporary: [] }), join(folder, NAME));
  assert.equal(statSync(folder).mode & 0o777, 0o700);
  assert.equal(statSync(join(folder, NAME)).mode & 0o777, 0o600);
  assert.deepEqual(readdirSync(folder), [NAME]);
});

test("a file that is there already and equal is not written again", (t) => {
  const folder = temporaryFolder(t);
  placeAndLoad(source(), { lasting: [folder] });
  utimesSync(join(folder, NAME), 1, 1);
  placeAndLoad(source(), { lasting: [folder] });
  assert.equal(statSync(join(folder, NAME)).mtimeMs, 1000);
});

test("a file with other content is never loaded but replaced", (t) => {
  for (const other of ["MACHINE CODE", "machine", "", "machine code and more"]) {
    const folder = temporaryFolder(t);
    writeFileSync(join(folder, NAME), other);
    assert.equal(placeAndLoad(source(), { lasting: [folder], temporary: [] }), join(folder, NAME));
    assert.deepEqual(readdirSync(folder), [NAME]);
  }
});

test("a link in the place of the file is replaced, and what it leads to left alone", (t) => {
  const folder = temporaryFolder(t);
  const elsewhere = join(temporaryFolder(t), "elsewhere");
  writeFileSync(elsewhere, CONTENT);
  symlinkSync(elsewhere, join(folder, NAME));
  placeAndLoad(source(), { lasting: [folder], temporary: [] });
  assert.ok(!existsSync(`${elsewhere}.old`) && statSync(join(folder, NAME)).ino !== statSync(elsewhere).ino);
});

test("a folder that others may write to, or that is a link, is passed over", (t) => {
  const base = temporaryFolder(t);
  const [open, link, good] = ["open", "link", "good"].map((name) => join(base, name)) as [
    string,
    string,
    string,
  ];
  mkdirSync(open);
  chmodSync(open, 0o777);
  mkdirSync(join(base, "target"), { mode: 0o700 });
  symlinkSync(join(base, "target"), link);
  assert.equal(placeAndLoad(source(), { lasting: [open, link, good] }), join(good, NAME));
  assert.deepEqual([...readdirSync(open), ...readdirSync(join(base, "target"))], []);
});

test("a folder that cannot be made, or from which nothing may be executed, is passed over", (t) => {
  const base = temporaryFolder(t);
  writeFileSync(join(base, "file"), "");
  const noexec = join(base, "noexec"), good = join(base, "good");
  const lasting = [join(base, "file", "native"), noexec, good];
  const loaded = placeAndLoad(source((folder) => folder === noexec), { lasting });
  assert.equal(loaded, join(good, NAME));
});

test("a folder within one that is gone is passed over, and nothing is made in its place", (t) => {
  const base = temporaryFolder(t), home = join(base, "home"), good = join(base, "good");
  const lasting = [{ folder: join(home, "native"), within: home }, good];
  assert.equal(placeAndLoad(source(), { lasting, temporary: [] }), join(good, NAME));
  assert.ok(!existsSync(home));
  mkdirSync(home);
  assert.equal(placeAndLoad(source(), { lasting, temporary: [] }), join(home, "native", NAME));
});

test("without a lasting folder a fresh one is used and removed after loading", (t) => {
  const temporary = temporaryFolder(t);
  const loaded = placeAndLoad(source(), { temporary: [join(temporary, "missing"), temporary] }) as string;
  assert.equal(dirname(dirname(loaded)), temporary);
  assert.deepEqual(readdirSync(temporary), []);
});

test("when no folder works the error says so and leaves nothing behind", (t) => {
  const base = temporaryFolder(t);
  const lasting = join(base, "lasting"), temporary = join(base, "temporary");
  mkdirSync(temporary);
  assert.throws(
    () => placeAndLoad(source(() => true), { lasting: [lasting], temporary: [temporary] }),
    { code: "native_unavailable", kind: "unavailable", message: /failed to map segment/ },
  );
  assert.deepEqual(readdirSync(temporary), []);
});
