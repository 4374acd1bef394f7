import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { describe, it } from "node:test";
import { compareBytes, utf8 } from "../../base/bytes.ts";
import { OwnFolders } from "../../base/own_folders.ts";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { writeBadlyNamed } from "../testing.ts";
import { walkFolder } from "./walk.ts";

function filesIn(folder: string): string[] {
  return [...walkFolder(folder)].flatMap((item) => item.kind === "file" ? [item.key] : []);
}

/** Returns keys, and what is left out with its code. */
function shown(folder: string): string[] {
  return [...walkFolder(folder)].map((item) =>
    item.kind === "left_out" ? `${item.code} ${item.shown}` : item.key
  );
}

/** Runs as a user whom permissions hold back: root is not. */
function asAnyUser<T>(call: () => T): T {
  if (process.getuid?.() !== 0) return call();
  process.seteuid!(65534);
  try {
    return call();
  } finally {
    process.seteuid!(0);
  }
}

describe("walkFolder()", () => {
  it("yields files in the byte order of their keys, hidden ones included", (t) => {
    const folder = temporaryFolder(t);
    const keys = [
      "a",
      "a-b",
      "a.d/x",
      "b/c/d",
      "b/c.d",
      "b-",
      ".hidden/x",
      "\u{1f600}",
      "\uff5e",
      "Z",
      "é",
      "B/1",
    ];
    for (const key of [...keys, "b/a/1"]) {
      mkdirSync(join(folder, key, ".."), { recursive: true });
      writeFileSync(join(folder, key), "x");
    }
    mkdirSync(join(folder, "empty"));
    const sorted = [...keys, "b/a/1"].sort((a, b) => compareBytes(utf8(a), utf8(b)));
    assert.deepEqual(filesIn(folder), sorted);
    assert.deepEqual(filesIn(`${folder}//`), sorted);
  });

  it("names what is no file of this folder, and does not follow it", (t) => {
    const folder = temporaryFolder(t), outside = temporaryFolder(t);
    writeFileSync(join(outside, "secret"), "x");
    symlinkSync(outside, join(folder, "away"));
    symlinkSync("nowhere", join(folder, "dangling"));
    execFileSync("mkfifo", [join(folder, "fifo")]);
    assert.deepEqual(shown(folder), ["symlink away", "symlink dangling", "special_file fifo"]);
  });

  it("reports names that are no UTF-8 escaped, and takes those that only look like them", (t) => {
    const folder = temporaryFolder(t);
    writeBadlyNamed(folder, "bad\\377\\376");
    writeFileSync(join(folder, "good\ufffd"), "x");
    mkdirSync(join(folder, "sub"));
    writeBadlyNamed(join(folder, "sub"), "\\303");
    const items = [...walkFolder(folder)];
    const leftOut = items.flatMap((item) => item.kind === "left_out" ? [`${item.code} ${item.shown}`] : []);
    // A runtime that decodes names itself leaves only replacement characters to show.
    assert.match(
      leftOut.join(", "),
      /^name_not_utf8 bad(\\xff\\xfe|\ufffd+), name_not_utf8 sub\/(\\xc3|\ufffd)$/,
    );
    assert.deepEqual(filesIn(folder), ["good\ufffd"]);
  });

  it("goes on after a folder that it cannot read", (t) => {
    const folder = temporaryFolder(t);
    for (const name of ["a", "b"]) {
      mkdirSync(join(folder, name));
      writeFileSync(join(folder, name, "x"), "x");
    }
    chmodSync(folder, 0o755);
    chmodSync(join(folder, "a"), 0);
    const found = asAnyUser(() => shown(folder));
    chmodSync(join(folder, "a"), 0o700);
    assert.deepEqual(found, ["unreadable_folder a/", "b/x"]);
  });

  it("leaves out what .tarnignore files and patterns match, each in its own folder", (t) => {
    const folder = temporaryFolder(t);
    const put = (key: string, text = "") => {
      mkdirSync(join(folder, key, ".."), { recursive: true });
      writeFileSync(join(folder, key), text);
    };
    put(".tarnignore", "*.log\nbuild/\n!keep.log\n");
    put("sub/.tarnignore", "!b.log\n/only\n");
    for (
      const key of ["a", "a.log", "keep.log", "build/x", "sub/b.log", "sub/only", "sub/in/only", "x.tmp"]
    ) put(key);
    execFileSync("mkfifo", [join(folder, "fifo.log")]);
    const items = (exclude: string[]) =>
      [...walkFolder(folder, { exclude, ignoreFiles: true })].map((item) =>
        item.kind === "file" ? item.key : item.kind === "ignored" ? `!${item.key}` : item.code
      );
    assert.deepEqual(items(["*.tmp"]), [
      ".tarnignore",
      "a",
      "!a.log",
      "!build/",
      "!fifo.log",
      "keep.log",
      "sub/.tarnignore",
      "sub/b.log",
      "sub/in/only",
      "!sub/only",
      "!x.tmp",
    ]);
    assert.deepEqual(items(["*", "!/sub", "!b.log"]).filter((item) => !item.startsWith("!")), ["sub/b.log"]);
    assert.equal([...walkFolder(folder)].filter(({ kind }) => kind === "ignored").length, 0);
  });

  it("follows symlinks only inside the folder, and never round in a circle", (t) => {
    const folder = temporaryFolder(t), outside = temporaryFolder(t);
    mkdirSync(join(folder, "d/e"), { recursive: true });
    writeFileSync(join(folder, "d/file"), "x");
    writeFileSync(join(folder, "z"), "x");
    writeFileSync(join(outside, "secret"), "x");
    symlinkSync("d", join(folder, "a"));
    symlinkSync("../z", join(folder, "d/link"));
    symlinkSync("..", join(folder, "d/e/up"));
    symlinkSync(folder, join(folder, "d/root"));
    symlinkSync(outside, join(folder, "out"));
    symlinkSync(join(outside, "secret"), join(folder, "out2"));
    symlinkSync("nowhere", join(folder, "dangling"));
    symlinkSync("self", join(folder, "self"));
    symlinkSync("/dev/null", join(folder, "null"));
    const items = [...walkFolder(folder, { followSymlinks: true })].map((item) =>
      item.kind === "file" ? item.key : item.kind === "left_out" ? `${item.code} ${item.shown}` : item.kind
    );
    assert.deepEqual(items, [
      "symlink a/e/up",
      "a/file",
      "a/link",
      "symlink a/root",
      "symlink d/e/up",
      "d/file",
      "d/link",
      "symlink d/root",
      "symlink dangling",
      "symlink null",
      "symlink out",
      "symlink out2",
      "symlink self",
      "z",
    ]);
  });

  it("leaves out a given folder, by whatever name it is reached", (t) => {
    const folder = temporaryFolder(t), beside = temporaryFolder(t);
    mkdirSync(join(folder, ".tarn"));
    mkdirSync(join(folder, "sub/.tarn"), { recursive: true });
    writeFileSync(join(folder, ".tarn/home"), "x");
    writeFileSync(join(folder, "sub/.tarn/other"), "x");
    symlinkSync(folder, join(beside, "link"));
    const own = new OwnFolders([join(beside, "link", ".tarn")]);
    const items = [...walkFolder(folder, { leaveOut: (path) => own.isOwn(path) })];
    assert.deepEqual(items.map((item) => item.kind === "left_out" ? item.code : item.key), [
      ".tarn/",
      "sub/.tarn/other",
    ]);
  });

  it("fails on a folder that is not there", (t) => {
    assert.throws(() => [...walkFolder(join(temporaryFolder(t), "none"))], { code: "ENOENT" });
  });
});
