import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { copyFile, TargetFolder, writeFile, writeInPlace } from "./target.ts";

async function* bytes(...texts: string[]) {
  for (const text of texts) yield utf8(text);
}

async function* breaking(text: string) {
  yield utf8(text);
  throw new Error("the source broke");
}

describe("writeFile()", () => {
  it("leaves the old file and nothing else when the source breaks", async (t) => {
    const folder = temporaryFolder(t);
    fs.writeFileSync(join(folder, "a"), "old");
    await assert.rejects(writeFile(join(folder, "a"), breaking("new"), { flush: true }), {
      message: /broke/,
    });
    assert.deepEqual(fs.readdirSync(folder), ["a"]);
    assert.equal(fs.readFileSync(join(folder, "a"), "utf8"), "old");
  });

  it("keeps the mode of the file that it replaces", async (t) => {
    const path = join(temporaryFolder(t), "script");
    fs.writeFileSync(path, "old");
    fs.chmodSync(path, 0o750);
    assert.equal(await writeFile(path, bytes("n", "ew"), { flush: false }), 3);
    assert.equal(fs.statSync(path).mode & 0o777, 0o750);
    assert.equal(fs.readFileSync(path, "utf8"), "new");
  });

  it("refuses a folder, and a folder that is not there", async (t) => {
    const folder = temporaryFolder(t);
    await assert.rejects(writeFile(folder, bytes(), { flush: false }), { code: "folder_in_the_way" });
    await assert.rejects(writeFile(join(folder, "no", "x"), bytes(), { flush: false }), {
      code: "file_not_found",
    });
  });
});

describe("copyFile()", () => {
  it("puts another file's bytes in place whole, with the mode that any new file has, or the old one had", async (t) => {
    const folder = temporaryFolder(t);
    const from = join(folder, "from"), to = join(folder, "to"), plain = join(folder, "plain");
    fs.writeFileSync(from, "x".repeat(300_000), { mode: 0o400 });
    fs.writeFileSync(plain, "");
    assert.equal(await copyFile(to, from, { flush: true }), 300_000);
    assert.equal(fs.readFileSync(to, "utf8"), "x".repeat(300_000));
    assert.equal(fs.statSync(to).mode, fs.statSync(plain).mode);
    fs.chmodSync(to, 0o640);
    await copyFile(to, plain, { flush: false });
    assert.equal(fs.statSync(to).size, 0);
    assert.equal(fs.statSync(to).mode & 0o777, 0o640);
    await assert.rejects(copyFile(to, join(folder, "none"), { flush: false }));
    assert.deepEqual(fs.readdirSync(folder).sort(), ["from", "plain", "to"]);
  });
});

it("writeInPlace() writes into a FIFO and leaves it one", async (t) => {
  const fifo = join(temporaryFolder(t), "fifo");
  execFileSync("mkfifo", [fifo]);
  const read = new Promise<string>((resolve, reject) => {
    fs.readFile(fifo, "utf8", (error, text) => error ? reject(error) : resolve(text));
  });
  assert.equal(await writeInPlace(fifo, bytes("through")), 7);
  assert.equal(await read, "through");
  assert.equal(fs.lstatSync(fifo).isFIFO(), true);
});

describe("TargetFolder", () => {
  it("makes the folders that keys need", async (t) => {
    const root = join(temporaryFolder(t), "new", "root");
    const target = new TargetFolder(root);
    await target.write("a/b/c", bytes("x"));
    await target.write("a/d", bytes("y"));
    await target.flush();
    assert.equal(fs.readFileSync(join(root, "a/b/c"), "utf8"), "x");
    assert.equal(fs.readFileSync(join(root, "a/d"), "utf8"), "y");
  });

  it("does not write through a symlink that leads out of it, at any level", async (t) => {
    const root = temporaryFolder(t), outside = temporaryFolder(t);
    fs.symlinkSync(outside, join(root, "link"));
    fs.mkdirSync(join(root, "in"));
    fs.symlinkSync("../..", join(root, "in", "up"));
    fs.symlinkSync("in", join(root, "inside"));
    const target = new TargetFolder(root);
    await assert.rejects(target.write("link/x", bytes("x")), { code: "outside_folder" });
    await assert.rejects(target.write("in/up/x", bytes("x")), { code: "outside_folder" });
    await new TargetFolder(root).write("inside/x", bytes("x"));
    assert.deepEqual(fs.readdirSync(outside), []);
    assert.equal(fs.readFileSync(join(root, "in", "x"), "utf8"), "x");
  });

  it("does not let a symlink make two of its folders one", async (t) => {
    const root = temporaryFolder(t);
    fs.mkdirSync(join(root, "b"));
    for (const name of ["a", "c"]) fs.symlinkSync("b", join(root, name));
    const target = new TargetFolder(root);
    await target.write("a/x", bytes("a"));
    await assert.rejects(target.write("b/x", bytes("b")), { code: "outside_folder" });
    await assert.rejects(target.write("c/x", bytes("c")), { code: "outside_folder" });
    assert.equal(fs.readFileSync(join(root, "b", "x"), "utf8"), "a");
    const other = new TargetFolder(root);
    await other.write("b/x", bytes("b"));
    await assert.rejects(other.write("c/x", bytes("c")), { code: "outside_folder" });
  });

  it("replaces a symlink where a file goes, and leaves alone what it points at", async (t) => {
    const root = temporaryFolder(t), outside = temporaryFolder(t);
    fs.writeFileSync(join(outside, "precious"), "precious");
    fs.symlinkSync(join(outside, "precious"), join(root, "x"));
    await new TargetFolder(root).write("x", bytes("new"));
    assert.equal(fs.readFileSync(join(outside, "precious"), "utf8"), "precious");
    assert.equal(fs.readFileSync(join(root, "x"), "utf8"), "new");
  });

  it("refuses a file where a folder is needed", async (t) => {
    const root = temporaryFolder(t);
    fs.writeFileSync(join(root, "a"), "x");
    await assert.rejects(new TargetFolder(root).write("a/b", bytes("x")), { code: "file_in_the_way" });
    assert.throws(() => new TargetFolder(join(root, "a")), { code: "file_in_the_way" });
  });
});
