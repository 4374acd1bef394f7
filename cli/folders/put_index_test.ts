import assert from "node:assert/strict";
import * as fs from "node:fs";
import { dirname, join } from "node:path";
import { describe, it } from "node:test";
import { utf8 } from "../../base/bytes.ts";
import { sha256 } from "../../base/hashes.ts";
import { type Ending, temporaryFolder } from "../../tests/support/temporary.ts";
import { IndexReader, type IndexRecord, IndexWriter } from "./file_index.ts";
import { type FileState, lookByRuntime } from "../../base/file_state.ts";
import { PutIndex } from "./put_index.ts";

const TREE = { metaRangeId: "m", prefix: "p/", contentType: "t", metadata: { k: "é" } };

function record(i: number): IndexRecord {
  const state: FileState = {
    size: i * 2 ** 33,
    mtimeSeconds: -i,
    mtimeNanos: 999_999_999 - i,
    ctimeSeconds: 1_800_000_000 + i,
    ctimeNanos: i,
    inode: i * 2 ** 40,
  };
  return { key: `d/${String(i).padStart(6, "0")}é😀`, state, sha256: sha256(utf8(String(i))) };
}

function writeIndex(path: string, count: number, treeHolds = false): void {
  const writer = new IndexWriter(fs.openSync(path, "w"), { root: "/root", tree: TREE });
  for (let i = 0; i < count; i++) writer.add(record(i));
  writer.close({ treeHolds });
}

function readIndex(path: string): IndexRecord[] {
  const reader = IndexReader.open(path);
  const records: IndexRecord[] = [];
  for (let next = reader?.next(); next; next = reader?.next()) records.push(next);
  reader?.close();
  return records;
}

describe("the file of an index", () => {
  it("gives back every record, over many chunks, and its tree only if that holds", (t) => {
    const path = join(temporaryFolder(t), "index");
    for (const treeHolds of [true, false]) {
      writeIndex(path, 3000, treeHolds);
      const records = readIndex(path);
      assert.equal(records.length, 3000);
      for (const i of [0, 1, 1500, 2999]) assert.deepEqual(records[i], record(i));
      const reader = IndexReader.open(path)!;
      assert.deepEqual(reader.header.tree, treeHolds ? TREE : undefined);
      reader.close();
    }
  });

  it("ends before the damage, wherever it is", (t) => {
    const path = join(temporaryFolder(t), "index");
    writeIndex(path, 3000);
    const whole = fs.readFileSync(path);
    for (const at of [0, 3, 5, 40, 70_000, 140_000, whole.length - 1]) {
      const damaged = Uint8Array.from(whole);
      damaged[at]! ^= 1;
      fs.writeFileSync(path, damaged);
      const records = readIndex(path);
      assert.ok(records.length < 3000, String(at));
      records.forEach((found, i) => assert.deepEqual(found, record(i)));
      fs.writeFileSync(path, whole.subarray(0, at));
      assert.ok(readIndex(path).length <= records.length, String(at));
    }
    for (const text of ["", "not an index", "\0".repeat(100), "\xff".repeat(100)]) {
      fs.writeFileSync(path, text);
      assert.deepEqual(readIndex(path), [], JSON.stringify(text));
    }
  });
});

/** A folder with an index over it, whose files are read and learned as a put does. */
function withIndex(t: Ending) {
  const root = temporaryFolder(t), folder = join(temporaryFolder(t), "index");
  /** Returns the names of the files that had to be read. */
  function pass(names: readonly string[], duringRead: (name: string) => void = () => {}): string[] {
    const index = new PutIndex({ folder, root, look: lookByRuntime });
    index.begin(undefined);
    const read: string[] = [];
    for (const name of names) {
      const slot = index.slot(name, join(root, name));
      const known = index.known(slot);
      if (known) {
        assert.deepEqual(
          known.sha256,
          sha256(fs.readFileSync(join(root, name))),
          `${name} was skipped wrongly`,
        );
        index.keep(slot, known);
        continue;
      }
      read.push(name);
      const bytes = fs.readFileSync(join(root, name));
      duringRead(name);
      index.learn(slot, () => sha256(bytes));
    }
    index.save({ treeHolds: false });
    return read;
  }
  /** Writes a file as if it had been long ago; the time of change cannot be set, so the clock goes forward instead. */
  const write = (name: string, text: string) => fs.writeFileSync(join(root, name), text);
  return { root, folder, pass, write };
}

/** Moves the clock, so that files written just now have lain still for a while. */
function later<T>(milliseconds: number, run: () => T): T {
  const now = Date.now;
  Date.now = () => now() + milliseconds;
  try {
    return run();
  } finally {
    Date.now = now;
  }
}

describe("PutIndex", () => {
  it("knows what was read, and reads again what was written since", (t) => {
    const { root, pass, write } = withIndex(t);
    for (const name of ["a", "b", "c"]) write(name, "first");
    const names = ["a", "b", "c"];
    assert.deepEqual(later(5000, () => pass(names)), names);
    assert.deepEqual(later(5000, () => pass(names)), []);
    write("b", "other");
    assert.deepEqual(later(10_000, () => pass(names)), ["b"]);
    fs.rmSync(join(root, "a"));
    write("0", "new");
    assert.deepEqual(later(20_000, () => pass(["0", "b", "c"])), ["0"]);
    assert.deepEqual(later(20_000, () => pass(["0", "b", "c"])), []);
  });

  it("remembers nothing of a file that was written just before it was read", (t) => {
    const { pass, write } = withIndex(t);
    write("a", "first");
    assert.deepEqual(pass(["a"]), ["a"]);
    // In the same tick of the disk's clock this may change nothing but the bytes.
    write("a", "other");
    assert.deepEqual(pass(["a"]), ["a"]);
  });

  it("remembers nothing of a file that was written while it was read", (t) => {
    const { pass, write } = withIndex(t);
    write("a", "first");
    assert.deepEqual(later(5000, () => pass(["a"], () => write("a", "other"))), ["a"]);
    assert.deepEqual(later(5000, () => pass(["a"])), ["a"]);
  });

  it("sees an old time of change that was put back, and another file under the same name", (t) => {
    const { root, pass, write } = withIndex(t);
    write("a", "first");
    const path = join(root, "a");
    const { atime, mtime } = fs.statSync(path);
    later(5000, () => pass(["a"]));
    write("a", "other");
    fs.utimesSync(path, atime, mtime);
    assert.deepEqual(later(10_000, () => pass(["a"])), ["a"]);
    write("b", "third");
    fs.utimesSync(join(root, "b"), atime, mtime);
    fs.renameSync(join(root, "b"), path);
    assert.deepEqual(later(20_000, () => pass(["a"])), ["a"]);
  });

  it("counts for nothing when it is damaged, of another folder, or cannot be written", (t) => {
    const { root, folder, pass, write } = withIndex(t);
    write("a", "first");
    later(5000, () => pass(["a"]));
    const [name] = fs.readdirSync(folder);
    const whole = fs.readFileSync(join(folder, name!));
    for (const bytes of [whole.subarray(0, 50), new Uint8Array(200), utf8("{}")]) {
      fs.writeFileSync(join(folder, name!), bytes);
      assert.deepEqual(later(5000, () => pass(["a"])), ["a"]);
    }
    fs.writeFileSync(
      join(folder, name!),
      whole.toString("latin1").replace(root, "/".repeat(root.length)),
      "latin1",
    );
    assert.deepEqual(later(5000, () => pass(["a"])), ["a"]);
    fs.rmSync(folder, { recursive: true });
    fs.writeFileSync(folder, "a file is in the way");
    assert.deepEqual(later(5000, () => pass(["a"])), ["a"]);
    assert.equal(fs.readFileSync(folder, "utf8"), "a file is in the way");
  });

  it("does not make the home anew that it lies in", (t) => {
    const { folder, pass, write } = withIndex(t);
    write("a", "first");
    fs.renameSync(dirname(folder), `${dirname(folder)} moved`);
    assert.deepEqual(later(5000, () => pass(["a"])), ["a"]);
    assert.ok(!fs.existsSync(dirname(folder)));
  });

  it("leaves no temporary file behind", (t) => {
    const { folder, root, pass, write } = withIndex(t);
    write("a", "x");
    pass(["a"]);
    const index = new PutIndex({ folder, root, look: lookByRuntime });
    index.begin(undefined);
    index.discard();
    assert.equal(fs.readdirSync(folder).length, 1);
  });

  it("keeps records in the order of their keys, whatever is decided first", (t) => {
    const { root, folder, write } = withIndex(t);
    const names = ["a", "b", "c", "d"];
    for (const name of names) write(name, name);
    later(5000, () => {
      const index = new PutIndex({ folder, root, look: lookByRuntime });
      index.begin(undefined);
      const slots = names.map((name) => index.slot(name, join(root, name)));
      for (const i of [3, 1, 2, 0]) index.learn(slots[i]!, () => sha256(utf8(names[i]!)));
      index.save({ treeHolds: false });
    });
    assert.deepEqual(readIndex(join(folder, fs.readdirSync(folder)[0]!)).map(({ key }) => key), names);
  });
});
