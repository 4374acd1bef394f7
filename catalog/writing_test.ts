import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { chmodSync, mkdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { utf8 } from "../base/bytes.ts";
import { writeBadlyNamed } from "../cli/testing.ts";
import { filesIn } from "./local_folder.ts";
import { CONFIG, fill, testCatalog } from "./testing.ts";

const read = async (engine: Parameters<typeof fill>[0], branch: string, path: string) => {
  const { body } = await engine.store.read("acme-sales", branch, path);
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece.slice());
  return Buffer.concat(pieces).toString();
};

describe("writes", () => {
  it("without a selector go to the default branch of the scheme, with a branch to that one", async (t) => {
    const { catalog, engine } = await testCatalog(t);
    await catalog.branch("data://acme/sales?at=branch:dev", "main");
    await catalog.put("data://acme/sales/a", { body: utf8("main") });
    await catalog.put("data://acme/sales/a?at=branch:dev", { body: utf8("dev") });
    assert.deepEqual([await read(engine, "main", "a"), await read(engine, "dev", "a")], ["main", "dev"]);
  });

  it("to a default branch that parts of the URI name go there", async (t) => {
    const config = CONFIG.replace("parts: [org, project]", "parts: [org, project, env]")
      .replace("ref: main\n", 'ref: "{env}"\n').replace(/stages:[\s\S]*/, "");
    const { catalog, engine } = await testCatalog(t, config);
    await engine.store.createBranch("acme-sales", "dev", "main", "x");
    await catalog.put("data://acme/sales/dev/a", { body: utf8("1") });
    assert.equal(await read(engine, "dev", "a"), "1");
  });

  const fixed = [["commit", "0123456789"], ["tag", "v1"], ["version", "3"], ["ts", "2025-01-01"]] as const;
  for (const [kind, value] of fixed) {
    const selector = `${kind}:${value}`;
    it(`to a fixed version are refused: ${kind}`, async (t) => {
      const { catalog, engine } = await testCatalog(t);
      await fill(engine, { a: "1" }, { message: "m" });
      await engine.store.createTag("acme-sales", "v1", "main", "x");
      const uris = [`data://acme/sales/a?at=${selector}`];
      if (!selector.startsWith("version:")) uris.push(`lakefs-acme://acme-sales/a?at=${selector}`);
      for (const uri of uris) {
        const calls = {
          put: () => catalog.put(uri, { body: utf8("x") }),
          folder: () => catalog.putFolder(uri, filesIn("/nowhere")),
          delete: () => catalog.delete(uri),
          commit: () => catalog.commit(uri, { message: "m" }),
          merge: () => catalog.merge(uri, "main"),
          branch: () => catalog.branch(uri, "main"),
        };
        for (const [name, call] of Object.entries(calls)) {
          await assert.rejects(call(), (error: { code: string; message: string }) => {
            const codes = ["not_a_branch", "selector_unusable"];
            assert.ok(codes.includes(error.code), `${name} ${uri}: ${error.message}`);
            if (error.code === "not_a_branch") assert.match(error.message, /fixed version/);
            return true;
          });
        }
      }
    });
  }

  it("through a stage are refused, even through one that points at a branch", async (t) => {
    const { catalog } = await testCatalog(t);
    await assert.rejects(catalog.put("data://acme/sales/t?at=stage:live", { body: utf8("x") }), {
      code: "not_a_branch",
      message:
        'Cannot change "data://acme/sales/t?at=stage:live": a stage is moved in the configuration; write to the branch ' +
        "itself",
    });
  });

  it("to a branch that the target of a scheme or entry would drop are refused", async (t) => {
    const { catalog, folder } = await testCatalog(t);
    mkdirSync(join(folder, "docs"));
    for (const uri of ["doc://guide?at=branch:dev", "data://acme/sales/old?at=branch:dev"]) {
      await assert.rejects(catalog.put(uri, { body: utf8("x") }), {
        code: "selector_unusable",
        message: /has no place in files:\/\/docs/,
      });
    }
  });

  it("to what a target fixes are refused", async (t) => {
    const config = `
stores: {lakefs-acme: {driver: graveler}}
schemes: {old: {parts: [name], target: "lakefs-acme://acme-sales/{name}?at=tag:v1"}}
`;
    const { catalog } = await testCatalog(t, config);
    await assert.rejects(catalog.put("old://a", { body: utf8("x") }), {
      code: "not_a_branch",
      message:
        'Cannot change "old://a": "tag:v1" names a fixed version, which cannot change; write to a branch',
    });
  });

  it("to a commit or a tag in the path say so", async (t) => {
    const { catalog, engine } = await testCatalog(t);
    const commit = await fill(engine, { a: "1" }, { message: "m" });
    await engine.store.createTag("acme-sales", "v1", "main", "x");
    for (const ref of [commit, "v1"]) {
      await assert.rejects(catalog.put(`lakefs-acme://acme-sales/${ref}/a`, { body: utf8("x") }), {
        code: "not_a_branch",
        message: /which does not change/,
      });
    }
  });

  it("to stores that cannot be written, and commits to those that have none, are typed errors", async (t) => {
    const { catalog, folder, asked } = await testCatalog(t);
    const file = `file://${folder}/x`;
    const calls: readonly (readonly [() => Promise<unknown>, RegExp])[] = [
      [() => catalog.put("github://o/r/x", { body: utf8("x") }), /driver "github" cannot be written/],
      [() => catalog.putFolder("hf://datasets/o/r/x", filesIn("/nowhere")), /driver "hf" cannot be written/],
      [() => catalog.delete("github://o/r/x"), /cannot be written/],
      [() => catalog.commit("github://o/r", { message: "m" }), /cannot commit/],
      [() => catalog.commit(file, { message: "m" }), /driver "file" cannot commit/],
      [() => catalog.branch(file, "main"), /cannot make branches/],
      [() => catalog.merge(file, "main"), /driver "file" cannot merge/],
      [() => catalog.merge("s3://bucket/main", "dev"), /driver "s3" cannot merge/],
      [() => catalog.stat("s3://bucket/main?at=ts:2025-01-01"), /driver "s3" cannot look back in time/],
    ];
    for (const [call, says] of calls) {
      await assert.rejects(call(), { kind: "unsupported", code: "unsupported_by_store", message: says });
    }
    assert.deepEqual(asked, []);
  });

  it("offline change what is on this machine, and nothing elsewhere", async (t) => {
    const { again, folder, engine } = await testCatalog(t);
    const catalog = await again({ isOffline: true });
    await catalog.put(`file://${folder}/x`, { body: utf8("x") });
    await catalog.put("data://acme/sales/x", { body: utf8("y") });
    assert.equal(await read(engine, "main", "x"), "y");
    await assert.rejects(catalog.put("s3://bucket/x", { body: utf8("x") }), {
      kind: "unavailable",
      code: "offline",
      message: 'Cannot change "s3://bucket/x" in offline mode: its store is reached over the network',
    });
  });

  it("replace a local file whole, and keep its mode", async (t) => {
    const { catalog, folder } = await testCatalog(t);
    mkdirSync(join(folder, "docs/guide"), { recursive: true });
    const path = join(folder, "docs/guide/one");
    writeFileSync(path, "old");
    chmodSync(path, 0o640);
    await catalog.put("doc://guide/one", { body: utf8("new") });
    assert.equal(readFileSync(path, "utf8"), "new");
    assert.equal(statSync(path).mode & 0o777, 0o640);
  });

  it("of a local file take it under its own name where the URI ends in a slash", async (t) => {
    const { catalog, engine, folder } = await testCatalog(t);
    writeFileSync(join(folder, "report.csv"), "r");
    await catalog.put("data://acme/sales/t/", { path: join(folder, "report.csv") });
    assert.equal(await read(engine, "main", "t/report.csv"), "r");
    for (
      const [uri, source] of [
        ["data://acme/sales/t/", { body: utf8("x") }],
        // What it leads to is a folder, and nobody said that it is one.
        ["data://acme/sales", { path: join(folder, "report.csv") }],
      ] as const
    ) {
      await assert.rejects(catalog.put(uri, source), {
        code: "invalid_uri",
        message: `Cannot put to "${uri}": it names no file`,
      });
    }
  });
});

describe("a folder that is put", () => {
  it("is written file by file under the URI, hidden files included", async (t) => {
    const { catalog, engine, folder } = await testCatalog(t);
    const from = join(folder, "in");
    mkdirSync(join(from, ".git/x"), { recursive: true });
    for (const name of ["a b", ".hidden", ".git/x/HEAD", "%41"]) writeFileSync(join(from, name), name);
    const done = await catalog.put("data://acme/sales/t", { path: from });
    assert.deepEqual(done, { name: "t", kind: "folder", sizeBytes: 3 + 7 + 11 + 3 });
    for (const name of ["a b", ".hidden", ".git/x/HEAD", "%41"]) {
      assert.equal(await read(engine, "main", `t/${name}`), name);
    }
  });

  it("has all its names checked before the first byte is written", async (t) => {
    const spoil: Readonly<Record<string, (folder: string) => void>> = {
      "a name that is no UTF-8": (folder) => writeBadlyNamed(folder, "zz\\377"),
      "two names that a disk would merge": (folder) => {
        writeFileSync(join(folder, "Straße"), "1");
        writeFileSync(join(folder, "strasse"), "2");
      },
      "a key that is too long": (folder) => {
        const deep = join(folder, ...Array.from({ length: 5 }, () => "z".repeat(250)));
        mkdirSync(deep, { recursive: true });
        writeFileSync(join(deep, "x"), "");
      },
      "a symlink": (folder) => symlinkSync("/etc/passwd", join(folder, "zz")),
    };
    for (const [name, make] of Object.entries(spoil)) {
      const { catalog, engine, folder } = await testCatalog(t);
      const from = join(folder, "in");
      mkdirSync(from);
      for (let i = 0; i < 20; i++) writeFileSync(join(from, `a${i}`), "x");
      make(from);
      await assert.rejects(
        catalog.putFolder("data://acme/sales/t", filesIn(from)),
        (error: { code: string }) => {
          assert.ok(["file_unusable", "unplaceable_key"].includes(error.code), `${name}: ${error.code}`);
          return true;
        },
      );
      for await (const page of engine.store.list("acme-sales", "main")) assert.deepEqual(page, [], name);
    }
  });
});

describe("commits and merges", () => {
  it("through a logical URI keep it as provcat.uri; through a physical one they do not", async (t) => {
    const { catalog, engine } = await testCatalog(t);
    await catalog.put("data://acme/sales/t/a", { body: utf8("1") });
    const pinned = await catalog.commit("data://acme/sales/t", { message: "first", metadata: { run: "42" } });
    const { store } = engine;
    const head = await store.getCommit("acme-sales", "main");
    assert.equal(pinned, `lakefs-acme://acme-sales/${head.id}/t`);
    assert.deepEqual(head.metadata, { run: "42", "provcat.uri": "data://acme/sales/t" });
    assert.equal(head.committer, "ann");

    await catalog.branch("data://acme/sales?at=branch:dev", "main");
    await catalog.put("data://acme/sales/t/b?at=branch:dev", { body: utf8("2") });
    await catalog.commit("lakefs-acme://acme-sales/dev", {
      message: "second",
      metadata: { "provcat.uri": "mine" },
    });
    assert.deepEqual((await store.getCommit("acme-sales", "dev")).metadata, { "provcat.uri": "mine" });

    const merged = await catalog.merge("data://acme/sales/t", "dev", {
      message: "merge",
      metadata: { by: "me" },
    });
    const merge = await store.getCommit("acme-sales", "main");
    assert.equal(merged, `lakefs-acme://acme-sales/${merge.id}/t`);
    assert.equal(merge.metadata["provcat.uri"], "data://acme/sales/t");
    assert.equal(merge.metadata["by"], "me");
    assert.equal(merge.parents.length, 2);
  });

  it("may not have the logical URI said by somebody else", async (t) => {
    const { catalog } = await testCatalog(t);
    const metadata = { "provcat.uri": "data://globex/x" };
    for (
      const call of [
        () => catalog.commit("data://acme/sales", { message: "m", metadata }),
        () => catalog.merge("data://acme/sales", "dev", { metadata }),
      ]
    ) await assert.rejects(call(), { code: "invalid_metadata" });
  });

  it("of a branch take what is on it, and nothing of another branch", async (t) => {
    const { catalog, engine } = await testCatalog(t);
    await catalog.branch("data://acme/sales?at=branch:dev", "main");
    await catalog.put("data://acme/sales/a?at=branch:dev", { body: utf8("1") });
    await catalog.put("data://acme/sales/b", { body: utf8("2") });
    await catalog.commit("data://acme/sales?at=branch:dev", { message: "dev" });
    const staged = [];
    for await (const page of engine.store.status("acme-sales", "main")) staged.push(...page);
    assert.deepEqual(staged.map(({ path }) => path), ["b"]);
  });

  it("of a part take what lies at and under the URI alone", async (t) => {
    const { catalog, engine } = await testCatalog(t);
    for (const path of ["t/a", "t/b", "u"]) {
      await catalog.put(`data://acme/sales/${path}`, { body: utf8(path) });
    }
    await catalog.commit("data://acme/sales/t", { message: "t", isPartial: true });
    const staged = [];
    for await (const page of engine.store.status("acme-sales", "main")) staged.push(...page);
    assert.deepEqual(staged.map(({ path }) => path), ["u"]);
  });

  it("what is not committed is not seen in a pinned URI", async (t) => {
    const { catalog } = await testCatalog(t);
    await catalog.put("data://acme/sales/a", { body: utf8("1") });
    const pinned = await catalog.pin("data://acme/sales");
    await assert.rejects(catalog.stat(`${pinned}a`), { code: "object_not_found" });
    await catalog.commit("data://acme/sales", { message: "m" });
    assert.equal((await catalog.stat(`${await catalog.pin("data://acme/sales")}a`)).sizeBytes, 1);
  });

  it("merges take the last commit of the source; what is not committed there stays there", async (t) => {
    const { catalog, engine } = await testCatalog(t);
    await catalog.branch("data://acme/sales?at=branch:dev", "main");
    await fill(engine, { a: "1" }, { branch: "dev", message: "dev" });
    await fill(engine, { b: "2" }, { branch: "dev" });
    await catalog.merge("data://acme/sales", "dev");
    assert.equal(await read(engine, "main", "a"), "1");
    await assert.rejects(read(engine, "main", "b"), { code: "object_not_found" });
    assert.equal(await read(engine, "dev", "b"), "2");
  });

  it("merges settle conflicts by strategy, and say why they are refused", async (t) => {
    const { catalog, engine } = await testCatalog(t);
    await fill(engine, { a: "0" }, { message: "base" });
    await catalog.branch("data://acme/sales?at=branch:dev", "main");
    await assert.rejects(catalog.merge("data://acme/sales", "dev"), { code: "nothing_to_merge" });
    await fill(engine, { a: "1" }, { branch: "dev", message: "dev" });
    await fill(engine, { a: "2" }, { message: "main" });
    await assert.rejects(catalog.merge("data://acme/sales", "dev"), { code: "merge_conflict" });
    await fill(engine, { a: "3" });
    await assert.rejects(catalog.merge("data://acme/sales", "dev", { strategy: "source-wins" }), {
      code: "branch_dirty",
    });
    await catalog.commit("data://acme/sales", { message: "m" });
    await catalog.merge("data://acme/sales", "dev", { strategy: "source-wins" });
    assert.equal(await read(engine, "main", "a"), "1");
  });
});
