import assert from "node:assert/strict";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { makeHome } from "../catalog/home.ts";
import type { Ending } from "../tests/support/temporary.ts";
import { commit, contents, readText, WHO, write } from "../tests/support/test_engine.ts";
import { testCli, type TestCliOptions } from "./testing.ts";

type Json = Record<string, unknown>;
type Contents = Readonly<Record<string, string | undefined>>;

const MERGE = ["merge", "lakefs://repo/side", "lakefs://repo/main"];
const TEXT = "one\ntwo\nthree\nfour\n";

/** Makes `main` and `side` out of a base, and a command line on them. */
async function withSides(
  t: Ending,
  base: Contents,
  { side, main }: { side: Contents; main: Contents },
  options: TestCliOptions = {},
) {
  const cli = testCli(t, options);
  const { store } = cli.engine;
  await store.createRepository("repo", { committer: WHO });
  await commit(store, "main", base);
  await store.createBranch("repo", "side", "main", WHO);
  await commit(store, "side", side);
  await commit(store, "main", main);
  const merge = (...options: string[]) => cli.run(...MERGE, ...options);
  return { ...cli, store, merge };
}

/** Three conflicts, and a folder in which two things change. */
const withConflicts = (t: Ending, options?: TestCliOptions) =>
  withSides(t, { a: "1", b: "1", "k=v/c": "1", "t/x": "1" }, {
    side: { a: "s", b: undefined, "k=v/c": "s", "t/x": "ss", "t/y": "s", z: "s" },
    main: { a: "m", b: "m", "k=v/c": "m", own: "m" },
  }, options);

describe("merge --preview", () => {
  it("prints folded changes, all conflicts with their checksums, and counts; exits with 4", async (t) => {
    const { merge, store } = await withConflicts(t);
    const before = await store.resolve("repo", "main");
    const { code, out } = await merge("--preview");
    assert.equal(code, 4);
    const lines = out.trimEnd().split("\n");
    assert.match(lines[0]!, /^conflict\ta\t[0-9a-f]{32}\t[0-9a-f]{32}\t[0-9a-f]{32}$/);
    assert.match(lines[1]!, /^conflict\tb\t[0-9a-f]{32}\t-\t[0-9a-f]{32}$/);
    assert.deepEqual(lines.slice(3), [
      "changed\tt/\t1\t0\t1\t3\t1",
      "added\tz",
      "2 added, 1 changed, 3 conflicts",
    ]);
    assert.match((await merge("--preview", "--depth", "2")).out, /changed\tt\/x\nadded\tt\/y\n/);
    assert.equal(await store.resolve("repo", "main"), before);
  });

  it("shows sizes of the sides on a terminal", async (t) => {
    const { merge } = await withConflicts(t, { terminal: true });
    assert.match(
      (await merge("--preview")).out,
      /! conflict b {2}\(base 1 B, source deleted, destination 1 B\)\n/,
    );
  });

  it("gives a document of conflicts and counts, or a line for each change and conflict", async (t) => {
    const { merge } = await withConflicts(t);
    const document = await merge("--preview", "--json");
    assert.equal(document.code, 4);
    const { conflicts, summary } = JSON.parse(document.out);
    assert.deepEqual(summary, { added: 2, removed: 0, changed: 1, conflict: 3 });
    assert.deepEqual(conflicts.map(({ path }: Json) => path), ["a", "b", "k=v/c"]);
    assert.deepEqual([conflicts[1].source, conflicts[1].base.size_bytes, conflicts[1].destination.path], [
      null,
      1,
      "b",
    ]);
    const lines = (await merge("--preview", "--jsonl")).out.trimEnd().split("\n").map((line) =>
      JSON.parse(line)
    );
    assert.deepEqual(lines.slice(0, -1).map(({ type, path }) => `${type} ${path}`), [
      "conflict a",
      "conflict b",
      "conflict k=v/c",
      "changed t/x",
      "added t/y",
      "added z",
    ]);
    assert.equal(lines[0].destination.size_bytes, 1);
    assert.deepEqual(lines.at(-1), { summary });
  });

  it("exits with 0 when nothing conflicts, and takes strategies and resolutions in", async (t) => {
    const { merge } = await withConflicts(t);
    const { code, out } = await merge("--preview", "--strategy", "dest-wins", "--json");
    assert.equal(code, 0);
    assert.deepEqual(JSON.parse(out), {
      conflicts: [],
      summary: { added: 2, removed: 0, changed: 1, conflict: 0 },
    });
    const some = await merge("--preview", "--resolve", "a=source", "--resolve", "k=v/*=delete");
    assert.match(some.out, /^changed\ta\nconflict\tb\t.*\nremoved\tk=v\/\t.*\n/);
    assert.equal(some.code, 4);
  });
});

describe("merge --resolve", () => {
  it("settles conflicts by the first rule that matches, in one commit", async (t) => {
    const { merge, store } = await withConflicts(t);
    const merged = await merge(
      "--resolve",
      "a=source",
      "--resolve",
      "a=base",
      "--resolve",
      "**=dest",
      "--json",
    );
    assert.equal(merged.code, 0, merged.err);
    assert.deepEqual(JSON.parse(merged.out).summary, { added: 2, removed: 0, changed: 2, conflict: 0 });
    const { t: _, ...rest } = { t: 0, ...await contents(store, "main") } as Record<string, unknown>;
    assert.deepEqual(rest, { a: "s", b: "m", "k=v/c": "m", own: "m", "t/x": "ss", "t/y": "s", z: "s" });
  });

  it("takes objects of this and another repository, folders of them, and local files", async (t) => {
    const { merge, store, folder } = await withConflicts(t);
    await commit(store, "main", { "fixed/a": "from a folder" });
    await store.createRepository("other", { committer: WHO });
    await write(store, "main", { b: "from elsewhere" }, "other");
    const file = join(folder, "c=d");
    writeFileSync(file, "from a file");
    const merged = await merge(
      "--resolve",
      "a=lakefs://repo/main/fixed/",
      "--resolve",
      "b=lakefs://other/main/b",
      "--resolve",
      `k=v/c=${file}`,
    );
    assert.equal(merged.code, 0, merged.err);
    const texts = await Promise.all(["a", "b", "k=v/c"].map((path) => readText(store, "main", path)));
    assert.deepEqual(texts, ["from a folder", "from elsewhere", "from a file"]);
  });

  it("names a path that is no conflict, and the one that was meant, and a glob that matches none of those there are", async (t) => {
    const { merge, store } = await withConflicts(t);
    const before = await store.resolve("repo", "main");
    const typo = await merge("--resolve", "k=v/d=source", "--strategy", "dest-wins");
    assert.equal(typo.code, 2);
    assert.match(typo.err, /^tarn: Cannot resolve "k=v\/d": .*\n {2}Did you mean "k=v\/c"\?\n/);
    assert.equal((await merge("--preview", "--resolve", "z=source")).code, 2);
    const document = await merge("--preview", "--resolve", "z=source", "--json");
    assert.deepEqual([document.code, document.out], [2, ""], "half a document is none");
    assert.equal(await store.resolve("repo", "main"), before);
    const glob = await merge("--resolve", "q*=source", "--resolve", "a*=source", "--strategy", "dest-wins");
    assert.deepEqual([glob.code, /Cannot resolve "q\*"/.test(glob.err)], [2, true], glob.err);
    assert.equal(await store.resolve("repo", "main"), before);
    // That another rule came first does not make it a typo.
    const shadowed = ["--resolve", "a=dest", "--resolve", "a*=source", "--strategy", "dest-wins"];
    const merged = await merge(...shadowed, "--driver", "q.csv=csv:id");
    assert.equal(merged.code, 0, merged.err);
    assert.match(merged.err, /^Not used: "--driver q\.csv" matches no conflict of this merge\n$/);
  });

  it("takes a glob that matches nothing where nothing conflicts: it may be a rule for all merges", async (t) => {
    const { merge } = await withSides(t, { a: "1" }, { side: { b: "s" }, main: { c: "m" } });
    const merged = await merge("--resolve", "q*=source");
    assert.deepEqual([merged.code, /^Not used: "--resolve q\*"/.test(merged.err)], [0, true], merged.err);
  });

  it("takes the destination's ref alone where the source names the repository", async (t) => {
    const { run, store } = await withSides(t, { a: "1" }, { side: { b: "s" }, main: { c: "m" } });
    assert.equal((await run("merge", "lakefs://repo/side", "main")).code, 0);
    assert.deepEqual(await contents(store, "main"), { a: "1", b: "s", c: "m" });
    assert.equal((await run("merge", "side", "main")).code, 2);
  });

  it("leaves the rest to the strategy, and without one lists it", async (t) => {
    const { merge, store } = await withConflicts(t);
    const failed = await merge("--resolve", "a=source", "--json");
    assert.equal(failed.code, 4);
    assert.deepEqual(JSON.parse(failed.err).details.conflicts.map(({ path }: Json) => path), ["b", "k=v/c"]);
    assert.equal(await readText(store, "main", "a"), "m");
    await merge("--resolve", "a=dest", "--strategy", "source-wins");
    assert.deepEqual([await readText(store, "main", "a"), await readText(store, "main", "b")], [
      "m",
      undefined,
    ]);
  });

  it("reads rules from a file, after those of the command line", async (t) => {
    const { merge, store, folder } = await withConflicts(t);
    const file = join(folder, "rules");
    writeFileSync(file, "# settled by hand\na=source\nb=source\n\nk%3Dv/c=base\n");
    const merged = await merge("--resolve-from", file, "--resolve", "a=dest");
    assert.equal(merged.code, 0, merged.err);
    const texts = await Promise.all(["a", "b", "k=v/c"].map((path) => readText(store, "main", path)));
    assert.deepEqual(texts, ["m", undefined, "1"]);
  });

  it("shows the first conflicts on a terminal, and the way out", async (t) => {
    const many = (text: string) =>
      Object.fromEntries(Array.from({ length: 30 }, (_, i) => [`f${100 + i}`, text]));
    const sides = { side: many("s"), main: many("m") };
    const onTerminal = await withSides(t, many("1"), sides, { onMessage: () => {} });
    const { err } = await onTerminal.merge();
    assert.match(
      err,
      /^tarn: .*30 paths\n {2}--preview .*--resolve .*\n {2}--strategy .*\n {2}conflict: f100\n/,
    );
    assert.match(err, / {2}conflict: f119\n {2}and 10 more\n$/);
    const elsewhere = await withSides(t, many("1"), sides);
    assert.match((await elsewhere.merge()).err, / {2}conflict: f129\n$/);
  });
});

describe("merge --driver", () => {
  it("merges files by text, JSON and CSV, and leaves what overlaps with a note", async (t) => {
    const { merge, store } = await withSides(
      t,
      { "a.txt": TEXT, "b.json": '{"x":1,"y":1}', "c.csv": "id,v\n1,a\n2,b\n", "d.txt": TEXT },
      {
        side: {
          "a.txt": TEXT.replace("one", "ONE"),
          "b.json": '{"x":2,"y":1}',
          "c.csv": "id,v\n1,A\n2,b\n",
          "d.txt": "s",
        },
        main: {
          "a.txt": TEXT.replace("four", "FOUR"),
          "b.json": '{"x":1,"y":2}',
          "c.csv": "id,v\n1,a\n2,B\n",
          "d.txt": "m",
        },
      },
    );
    const drivers = ["--driver", "**/*.txt=text", "--driver", "*.json=json", "--driver", "*.csv=csv:id"];
    const failed = await merge(...drivers);
    assert.equal(failed.code, 4);
    assert.match(failed.err, /^d\.txt: text: both sides changed line 1\n/);
    assert.match(failed.err, /both sides changed "d\.txt"/);
    assert.equal((await merge(...drivers, "--resolve", "d.txt=dest")).code, 0);
    assert.deepEqual(await contents(store, "main"), {
      "a.txt": "ONE\ntwo\nthree\nFOUR\n",
      "b.json": '{"x":2,"y":2}',
      "c.csv": "id,v\n1,A\n2,B\n",
      "d.txt": "m",
    });
  });

  it("writes markers only with --driver-markers", async (t) => {
    const { merge, store } = await withSides(t, { a: "1\n" }, { side: { a: "s\n" }, main: { a: "m\n" } });
    assert.equal((await merge("--driver", "a=text")).code, 4);
    assert.equal((await merge("--driver", "a=text", "--driver-markers")).code, 0);
    assert.match((await readText(store, "main", "a"))!, /^<{7} destination\nm\n/);
  });

  it("runs programs that the command line or the chosen home names, and takes them in order", async (t) => {
    const { merge, store, folder } = await withSides(t, { a: "1", b: "1", c: "1" }, {
      side: { a: "s", b: undefined, c: "s" },
      main: { a: "m", b: "m", c: "m" },
    });
    const program = join(folder, "joined.sh");
    writeFileSync(program, '#!/bin/sh\ncat "$3" "$2" "$1" > "$4"; echo " $TARN_MERGE_MISSING" >> "$4"\n');
    chmodSync(program, 0o755);
    makeHome(join(folder, "home"));
    writeFileSync(join(folder, "home", "merge_drivers"), `# ours\n*=exec:${program}\nc=text\n`);
    const merged = await merge("--driver", "c=exec:./joined.sh", "--resolve", "a=source");
    assert.equal(merged.code, 0, merged.err);
    assert.deepEqual(await contents(store, "main"), { a: "s", b: "m1 source\n", c: "ms1 \n" });
  });

  it("refuses a driver that it does not know, and a relative program in the home", async (t) => {
    const { merge, folder } = await withSides(t, { a: "1" }, { side: { a: "s" }, main: { a: "m" } });
    assert.match((await merge("--driver", "a=jsn")).err, /Did you mean "json"/);
    assert.match((await merge("--driver", "a=csv")).err, /Did you mean "csv:COLUMN"/);
    for (const bad of ["a", "a=", "a=csv", "a=csv:", "a=exec:", "=text"]) {
      assert.equal((await merge("--driver", bad)).code, 2, bad);
    }
    makeHome(join(folder, "home"));
    writeFileSync(join(folder, "home", "merge_drivers"), "a=exec:./x\n");
    assert.match((await merge()).err, /line 1 of .*"\.\/x" is no absolute path/);
  });

  it("merges metadata as it merges bytes, and keeps the content type", async (t) => {
    const { engine: { store }, run } = testCli(t);
    await store.createRepository("repo", { committer: WHO });
    const put = async (branch: string, text: string, metadata: Record<string, string>) => {
      const writer = await store.writer("repo", branch);
      await writer.put("m.txt", new TextEncoder().encode(text), { metadata, contentType: "text/plain" });
      await writer.close();
      await store.commit("repo", branch, { committer: WHO, message: branch });
    };
    await put("main", TEXT, { a: "1", b: "1" });
    await store.createBranch("repo", "two", "main", WHO);
    await put("two", TEXT.replace("one", "ONE"), { a: "2", b: "1" });
    await put("main", TEXT.replace("four", "FOUR"), { a: "1", b: "1", c: "1" });
    const from = ["merge", "lakefs://repo/main", "--from", "two", "--driver", "*.txt=text"];
    assert.equal((await run(...from)).code, 0);
    const { metadata, contentType } = await store.stat("repo", "main", "m.txt");
    assert.deepEqual([metadata, contentType], [{ a: "2", b: "1", c: "1" }, "text/plain"]);
  });
});

describe("merge --squash and --keep-staged", () => {
  it("makes one commit with one parent", async (t) => {
    const { merge, json } = await withSides(t, { a: "1" }, { side: { b: "s" }, main: { c: "m" } });
    assert.equal((await merge("--squash")).code, 0);
    const [head] = await json(["log", "lakefs://repo/main"]) as Json[];
    assert.equal((head!.parents as string[]).length, 1);
    assert.match(String((head!.metadata as Json)["squash-origin"]), /^[0-9a-f]{64}$/);
    assert.equal((await merge("--squash")).code, 6);
  });

  it("keeps staged changes apart from the merge's, and says how when they are refused", async (t) => {
    const { merge, store } = await withSides(t, { a: "1" }, { side: { a: "s" }, main: { c: "m" } });
    await write(store, "main", { x: "staged" });
    const refused = await merge();
    assert.equal(refused.code, 4);
    assert.match(refused.err, /--keep-staged/);
    const preview = await merge("--preview", "--depth", "9");
    assert.deepEqual([preview.code, preview.out.split("\n")[0]], [4, "changed\ta"], preview.err);
    assert.match(preview.err, /^The merge itself would be refused: .*uncommitted changes\n$/);
    assert.equal(JSON.parse((await merge("--preview", "--json")).out).summary.changed, 1);
    assert.equal(await readText(store, "main", "x"), "staged");
    assert.equal((await merge("--keep-staged")).code, 0);
    assert.deepEqual(await contents(store, "main@"), { a: "s", c: "m" });
    assert.equal(await readText(store, "main", "x"), "staged");
    await commit(store, "side", { x: "s" });
    const met = await merge("--keep-staged", "--preview");
    assert.equal(met.code, 4);
    assert.match(met.err, /the merge changes "x", which has uncommitted changes/);
  });
});
