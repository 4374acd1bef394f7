import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import * as fs from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { testCli, writeBadlyNamed } from "./testing.ts";
import type { Ending } from "../tests/support/temporary.ts";
import { readText, write } from "../tests/support/test_engine.ts";

async function withRepo(t: Ending) {
  const cli = testCli(t);
  await cli.engine.store.createRepository("repo", { committer: "tester" });
  const file = (name: string, text: string | Uint8Array = "x") => {
    const path = join(cli.folder, name);
    fs.mkdirSync(join(path, ".."), { recursive: true });
    fs.writeFileSync(path, text);
    return path;
  };
  const paths = async (ref = "main") => {
    const listed = await cli.json(["ls", "-r", `lakefs://repo/${ref}`]) as { path: string }[];
    return listed.map(({ path }) => path);
  };
  return { ...cli, file, paths };
}

describe("put", () => {
  it("stores a file under the URI, or under its own name when the URI ends in a slash", async (t) => {
    const { run, file, paths } = await withRepo(t);
    const path = file("a b.txt");
    for (const uri of ["lakefs://repo/main/x", "lakefs://repo/main/d/", "lakefs://repo/main"]) {
      assert.equal((await run("put", uri, path)).code, 0);
    }
    assert.deepEqual(await paths(), ["a b.txt", "d/a b.txt", "x"]);
    const { out } = await run("put", "lakefs://repo/main/d/", path);
    assert.equal(out, "lakefs://repo/main/d/a%20b.txt\n");
  });

  it("H07 keeps a key that ends in a slash for an empty file, and any key given by --key", async (t) => {
    const { run, file, paths } = await withRepo(t);
    await run("put", "lakefs://repo/main/marker/", file("empty", ""));
    await run("put", "lakefs://repo/main", "--key", "raw/%2F", file("full", "x"));
    await run("put", "lakefs://repo/main", "--key", "raw/", file("full", "x"));
    assert.deepEqual(await paths(), ["marker/", "raw/", "raw/%2F"]);
  });

  it("keeps content type and metadata", async (t) => {
    const { run, json, file } = await withRepo(t);
    await run("put", "lakefs://repo/main/a", file("a"), "--content-type", "text/csv", "--meta", "k=v=1");
    const stat = await json(["stat", "lakefs://repo/main/a"]) as Record<string, unknown>;
    assert.deepEqual([stat.content_type, stat.metadata], ["text/csv", { k: "v=1" }]);
  });

  it("refuses a folder without -r, a file with it, and what is not there, with the way out", async (t) => {
    const { run, folder, file } = await withRepo(t);
    const path = file("a");
    const withoutR = await run("put", "lakefs://repo/main/x", folder);
    assert.deepEqual([withoutR.code, /Add -r/.test(withoutR.err)], [2, true]);
    const withR = await run("put", "lakefs://repo/main/x", path, "-r");
    assert.deepEqual([withR.code, /Leave out -r/.test(withR.err)], [2, true]);
    assert.equal((await run("put", "lakefs://repo/main/x", join(folder, "none"))).code, 3);
    const swapped = await run("put", path, "lakefs://repo/main/x");
    assert.deepEqual([swapped.code, /The URI comes first/.test(swapped.err)], [2, true]);
  });

  it("writes to branches only", async (t) => {
    const { run, file, engine } = await withRepo(t);
    await engine.store.createTag("repo", "v1", "main", "tester");
    for (
      const uri of [
        "lakefs://repo/v1/x",
        "lakefs://repo/x?at=tag:v1",
        "lakefs://repo/main/x?at=ts:2026-01-01",
      ]
    ) {
      const { code, err } = await run("put", uri, file("a"));
      assert.deepEqual([code, /not a branch|is a tag/.test(err)], [2, true], uri);
    }
    assert.equal((await run("put", "lakefs://repo/x?at=branch:main", file("a"))).code, 0);
    assert.equal((await run("put", "lakefs://repo/none/x", file("a"))).code, 3);
  });
});

describe("put -r", () => {
  it("stores every file at its relative path, and names what it leaves out", async (t) => {
    const { run, file, folder, paths } = await withRepo(t);
    file("tree/a");
    file("tree/.hidden/b+%\n");
    file("tree/big", Buffer.alloc(3 * 1024 * 1024, "ab"));
    fs.symlinkSync("a", join(folder, "tree/link"));
    writeBadlyNamed(join(folder, "tree"), "bad\\377");
    const { code, out, err } = await run("put", "lakefs://repo/main/to", join(folder, "tree"), "-r");
    assert.equal(code, 7);
    assert.match(out, /^Put 3 files \(3\.1 MB\), 2 left out\n$/);
    assert.match(err, /"link": it is a symlink/);
    assert.match(err, /"bad(\\xff|\ufffd)": its name is not UTF-8/);
    assert.deepEqual(await paths(), ["to/.hidden/b+%\n", "to/a", "to/big"]);
  });

  it("leaves what is there with the same bytes as it is, staged or committed", async (t) => {
    const { json, run, file, folder, engine } = await withRepo(t);
    file("tree/a", "one");
    file("tree/d/b", "two");
    const put = ["put", "lakefs://repo/main", join(folder, "tree"), "-r"];
    const counts = async () => {
      const { put: done, unchanged } = await json(put) as Record<string, number>;
      return [done, unchanged];
    };
    assert.deepEqual(await counts(), [2, 0]);
    assert.deepEqual(await counts(), [0, 2]);
    await run("commit", "lakefs://repo/main", "-m", "x");
    const before = await engine.store.stat("repo", "main", "a");
    assert.deepEqual(await counts(), [0, 2]);
    file("tree/a", "ONE");
    assert.deepEqual(await counts(), [1, 1]);
    assert.equal(await readText(engine.store, "main", "a"), "ONE");
    assert.notEqual((await engine.store.stat("repo", "main", "a")).physicalAddress, before.physicalAddress);
  });

  it("takes another content type or metadata for a change", async (t) => {
    const { json, file, folder } = await withRepo(t);
    file("tree/a");
    const put = ["put", "lakefs://repo/main", join(folder, "tree"), "-r"];
    await json(put);
    for (const more of [["--content-type", "text/plain"], ["--meta", "k=v"]]) {
      assert.equal((await json([...put, ...more]) as { put: number }).put, 1, more.join(" "));
    }
    // What is not named stays as it is.
    assert.equal((await json(put) as { put: number }).put, 0);
  });
});

describe("get", () => {
  it("writes a file, into a folder under its own name, or to standard output", async (t) => {
    const { run, engine, folder } = await withRepo(t);
    await write(engine.store, "main", { "d/a": "text" });
    fs.mkdirSync(join(folder, "out"));
    assert.equal((await run("get", "lakefs://repo/main/d/a", join(folder, "file"))).code, 0);
    await run("get", "lakefs://repo/main/d/a", join(folder, "out"));
    assert.equal((await run("get", "lakefs://repo/main/d/a", "-")).out, "text");
    for (const path of ["file", "out/a"]) assert.equal(fs.readFileSync(join(folder, path), "utf8"), "text");
  });

  it("tells the file by the name that it was given, whether it is there or not", async (t) => {
    const { run, engine, folder } = await withRepo(t);
    await write(engine.store, "main", { "a": "text" });
    for (const [path, shown] of [["new", "new"], ["new", "new"], [".", "a"]]) {
      const { out } = await run("get", "lakefs://repo/main/a", join(folder, path!));
      assert.equal(out.replace(/ \(.*\n/, ""), join(folder, shown!));
    }
    fs.symlinkSync("new", join(folder, "link"));
    assert.match((await run("get", "lakefs://repo/main/a", join(folder, "link"))).out, /\/link \(/);
  });

  it("writes through a symlink to a file, and never replaces what is no file", async (t) => {
    const { run, engine, folder } = await withRepo(t);
    await write(engine.store, "main", { "a": "text" });
    fs.writeFileSync(join(folder, "real"), "");
    fs.symlinkSync("real", join(folder, "link"));
    await run("get", "lakefs://repo/main/a", join(folder, "link"));
    assert.equal(fs.readFileSync(join(folder, "real"), "utf8"), "text");
    assert.equal((await run("get", "lakefs://repo/main/a", "/dev/null")).code, 0);
    assert.equal(fs.lstatSync("/dev/null").isCharacterDevice(), true);
  });

  it("does not place a single key outside a folder that it was given", async (t) => {
    const { run, engine, folder } = await withRepo(t);
    await write(engine.store, "main", { "x/..": "evil", "d/": "marker" });
    for (const key of ["x/..", "d/"]) {
      const { code } = await run("get", "lakefs://repo/main", "--key", key, folder);
      assert.equal(code, 2, key);
    }
    assert.equal((await run("get", "lakefs://repo/main", "--key", "d/", join(folder, "named"))).code, 0);
  });
});

describe("get -r", () => {
  it("brings everything back byte for byte, a past state too", async (t) => {
    const { run, file, folder, engine } = await withRepo(t);
    const contents: Record<string, string> = { "a": "1", "d/é+%\n": "2", "d/e/😀": "", ".h/x": "4" };
    for (const [name, text] of Object.entries(contents)) file(`tree/${name}`, text);
    await run("put", "lakefs://repo/main", join(folder, "tree"), "-r");
    await run("commit", "lakefs://repo/main", "-m", "x");
    await write(engine.store, "main", { "a": "changed", "d/e/😀": undefined });
    await run("commit", "lakefs://repo/main", "-m", "y");
    assert.equal((await run("get", "lakefs://repo/main~1", join(folder, "out"), "-r")).code, 0);
    for (const [name, text] of Object.entries(contents)) {
      assert.equal(fs.readFileSync(join(folder, "out", name), "utf8"), text);
    }
    await run("get", "lakefs://repo/main/d", join(folder, "part"), "-r");
    assert.deepEqual(fs.readdirSync(join(folder, "part")), ["é+%\n"]);
  });

  it("H39, H40 writes nothing at all when one name cannot be placed", async (t) => {
    for (const key of ["../../evil", "A", "a/b", "x//y", "/abs", "C:/x"]) {
      const { run, engine, folder } = await withRepo(t);
      await write(engine.store, "main", { "a": "1", "0": "1", "zz": "2", [key]: "3" });
      const { code, err } = await run("get", "lakefs://repo/main", join(folder, "out"), "-r");
      assert.deepEqual([code, /--skip-unplaceable/.test(err)], [2, true], key);
      assert.equal(fs.existsSync(join(folder, "out")), false, key);
    }
  });

  it("leaves out what cannot be placed on request, and names it", async (t) => {
    const { run, engine, folder } = await withRepo(t);
    await write(engine.store, "main", { "../../evil": "1", "ok": "2", "dir/": "3" });
    const { code, err } = await run(
      "get",
      "lakefs://repo/main",
      join(folder, "out"),
      "-r",
      "--skip-unplaceable",
    );
    assert.equal(code, 7);
    assert.match(err, /"\.\.\/\.\.\/evil"/);
    assert.match(err, /"dir\/"/);
    assert.deepEqual(fs.readdirSync(join(folder, "out")), ["ok"]);
  });

  it("says so when nothing is there", async (t) => {
    const { run, folder } = await withRepo(t);
    const { code } = await run("get", "lakefs://repo/main/none", join(folder, "out"), "-r");
    assert.equal(code, 3);
    assert.equal(fs.existsSync(join(folder, "out")), false);
  });
});

describe("cat", () => {
  it("writes bytes as they are, whole or a range", async (t) => {
    const { run, engine } = await withRepo(t);
    await write(engine.store, "main", { "a": "0123456789" });
    const out = async (...more: string[]) => (await run("cat", "lakefs://repo/main/a", ...more)).out;
    assert.deepEqual(
      [await out(), await out("--range", "0-0"), await out("--range", "5-15"), await out("--range", "8-")],
      ["0123456789", "0", "56789", "89"],
    );
    for (const range of ["5-4", "-3", "x", "10-12", ""]) {
      assert.equal((await run("cat", "lakefs://repo/main/a", "--range", range)).code, 2, range);
    }
  });

  it("reads what a printed URI names", async (t) => {
    const { run, file } = await withRepo(t);
    for (const key of ["a b+%25", "?#", "é\n", "//x", "d/.."]) {
      const { out } = await run("put", "lakefs://repo/main", "--key", key, file("f", key));
      assert.equal((await run("cat", out.trimEnd())).out, key);
    }
  });
});

describe("ls", () => {
  it("lists folders folded, an object and a folder of one name, or everything", async (t) => {
    const { run, engine } = await withRepo(t);
    await write(engine.store, "main", { "a": "", "d": "1", "d/x": "2", "d/y/z": "3", "d-": "4" });
    const names = async (...argv: string[]) =>
      (await run("ls", ...argv)).out.split("\n").map((line) => line.split("\t")[2]);
    assert.deepEqual(await names("lakefs://repo/main"), ["a", "d", "d-", "d/", undefined]);
    assert.deepEqual(await names("lakefs://repo/main/d"), ["d", "d/x", "d/y/", undefined]);
    assert.deepEqual(await names("lakefs://repo/main/d/"), ["d/x", "d/y/", undefined]);
    assert.deepEqual(await names("lakefs://repo/main/d", "-r"), ["d", "d/x", "d/y/z", undefined]);
    assert.deepEqual(await names("lakefs://repo/main", "--after", "d", "--amount", "1"), ["d-", undefined]);
    assert.deepEqual(await names("lakefs://repo/main/d", "--after", "d", "--amount", "1"), [
      "d/x",
      undefined,
    ]);
    assert.deepEqual(await names("lakefs://repo/main/d", "--delimiter", "-"), [
      "d",
      "d-",
      "d/x",
      "d/y/z",
      undefined,
    ]);
  });

  it("H58 lists repositories and refs too, and nothing as an empty array", async (t) => {
    const { json, engine } = await withRepo(t);
    await engine.store.createTag("repo", "v1", "main", "tester");
    const ids = (list: unknown) => (list as { id: string }[]).map(({ id }) => id);
    assert.deepEqual(ids(await json(["ls"])), ["repo"]);
    assert.deepEqual(ids(await json(["ls", "lakefs://repo"])), ["main", "v1"]);
    for (
      const argv of [["ls", "lakefs://repo/main"], ["status", "lakefs://repo/main"], ["ls", "--after", "z"]]
    ) {
      assert.deepEqual(await json(argv), []);
    }
  });

  it("says so when nothing stands at a key; an empty version and lakectl's form are silent", async (t) => {
    const { run, json, engine } = await withRepo(t);
    const { code, out, err } = await run("ls", "lakefs://repo/main/none/");
    assert.deepEqual([code, out], [3, ""]);
    assert.match(
      err,
      /^tarn: Cannot list "lakefs:\/\/repo\/main\/none\/": there is nothing under "none\/"\n/,
    );
    await write(engine.store, "main", { "a": "", "d/x": "" });
    for (const argv of [["d/y"], ["", "--key", "?"], ["d/y", "--delimiter", "."], ["b", "-r"]]) {
      const [key, ...options] = argv;
      for (const form of [[], ["--json"], ["--jsonl"], ["--format", "csv"]]) {
        const ran = await run("ls", `lakefs://repo/main/${key}`, ...options, ...form);
        assert.deepEqual([ran.code, ran.out], [3, ""], argv.join(" "));
      }
    }
    assert.deepEqual(await json(["ls", "lakefs://repo/main/d/", "--after", "d/x"]), []);
    assert.deepEqual(await json(["fs", "ls", "lakefs://repo/main/none/"]), []);
    assert.equal((await run("fs", "ls", "lakefs://repo/main/none/")).code, 0);
    assert.deepEqual(await json(["ls", "lakefs://repo/main@"]), []);
  });

  it("uses the field names of the lakeFS API", async (t) => {
    const { json, engine } = await withRepo(t);
    await write(engine.store, "main", { "a": "x", "d/b": "y" });
    const [object, prefix] = await json(["ls", "lakefs://repo/main"]) as [Record<string, unknown>, unknown];
    assert.deepEqual(Object.keys(object), [
      "path",
      "path_type",
      "physical_address",
      "checksum",
      "size_bytes",
      "mtime",
      "metadata",
      "content_type",
    ]);
    assert.equal(Number.isInteger(object.mtime), true);
    assert.deepEqual(prefix, { path: "d/", path_type: "common_prefix" });
  });
});

describe("rm", () => {
  it("deletes one object, or with -r a folder and the object of its name", async (t) => {
    const { run, engine, paths } = await withRepo(t);
    await write(engine.store, "main", { "a": "", "d": "", "d/x": "", "d/y": "", "d2": "", "e/f": "" });
    assert.equal((await run("rm", "lakefs://repo/main/a")).code, 0);
    assert.match((await run("rm", "lakefs://repo/main/d", "-r")).out, /^Removed 3 objects/);
    assert.deepEqual(await paths(), ["d2", "e/f"]);
    await run("rm", "lakefs://repo/main", "-r");
    assert.deepEqual(await paths(), []);
  });

  it("says so when nothing is there", async (t) => {
    const { run } = await withRepo(t);
    assert.equal((await run("rm", "lakefs://repo/main/none")).code, 3);
    assert.equal((await run("rm", "lakefs://repo/main/none", "-r")).code, 3);
  });
});

it("stat prints the fields of lakeFS's fs stat", async (t) => {
  const { run, file } = await withRepo(t);
  await run("put", "lakefs://repo/main/a", file("a", "x".repeat(916393)), "--meta", "k=v");
  const { out } = await run("fs", "stat", "--pre-sign=false", "lakefs://repo/main/a");
  const lines = out.split("\n").map((line) => line.replace(/^(Physical Address|Checksum): .+/, "$1: …"));
  assert.match(lines[1]!, /^Modified Time: \d{4}-\d\d-\d\d \d\d:\d\d:\d\d \+0000 UTC$/);
  lines.splice(1, 1);
  assert.deepEqual(lines, [
    "Path: a",
    "Size: 916393 bytes",
    "Human Size: 916.4 kB",
    "Physical Address: …",
    "Checksum: …",
    "Content-Type: application/octet-stream",
    "Metadata:",
    "    k = v",
    "",
  ]);
});
