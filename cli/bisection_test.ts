import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import type { CommitInfo } from "../drivers/store.ts";
import { commit } from "../tests/support/test_engine.ts";
import type { Ending } from "../tests/support/temporary.ts";
import { bisect, type Verdict } from "./bisection.ts";
import { testCli } from "./testing.ts";

const commits = (count: number) => Array.from({ length: count }, (_, i) => ({ id: String(i) }) as CommitInfo);

describe("bisect()", () => {
  it("finds the first bad one of any number, in as many tests as halving takes", async () => {
    for (let count = 1; count <= 33; count++) {
      for (let fault = 0; fault < count; fault++) {
        let tests = 0;
        const { firstBad } = await bisect(commits(count), (commit) => {
          tests++;
          return Promise.resolve(Number(commit.id) >= fault ? "bad" : "good");
        });
        assert.deepEqual(firstBad.map(({ id }) => id), [String(fault)], `${fault} of ${count}`);
        assert.ok(tests <= Math.ceil(Math.log2(count)), `${tests} tests for ${count}`);
      }
    }
  });

  it("goes around what cannot be tested, and says among which it is when that is all that is left", async () => {
    for (let count = 2; count <= 12; count++) {
      for (let fault = 0; fault < count; fault++) {
        for (let mask = 0; mask < 2 ** (count - 1); mask += 3) {
          const tested = new Set<string>();
          const { firstBad } = await bisect(commits(count), (commit): Promise<Verdict> => {
            assert.ok(!tested.has(commit.id), "no commit is tested twice");
            tested.add(commit.id);
            const at = Number(commit.id);
            return Promise.resolve((mask >> at) & 1 ? "skipped" : at >= fault ? "bad" : "good");
          });
          const found = firstBad.map(({ id }) => Number(id));
          assert.ok(found.includes(fault), `${fault} of ${count}, skipping ${mask}`);
          // All but the last one, which is bad, are in doubt because they were skipped.
          for (const at of found.slice(0, -1)) assert.equal((mask >> at) & 1, 1);
        }
      }
    }
  });
});

/** Ten commits, of which the seventh brings a fault that a merge of another branch does not hide. */
async function withFault(t: Ending) {
  const cli = testCli(t);
  const { store } = cli.engine;
  await store.createRepository("repo", { committer: "tester" });
  const made: string[] = [];
  for (let i = 0; i < 10; i++) {
    made.push(await commit(store, "main", { count: String(i), ...(i === 6 ? { fault: "x" } : {}) }, `c${i}`));
  }
  return { ...cli, store, made };
}

describe("bisect run", () => {
  it("prints the first bad commit, and tells each test's program which commit it is about", async (t) => {
    const { run, made, folder } = await withFault(t);
    // The faulty commits are told to the program by a file, since the engine of this test is in memory.
    const script = `echo "$TARN_URI" >> '${folder}/tested'; case "${
      made.slice(6).join(" ")
    }" in *$TARN_COMMIT*) exit 1;; esac`;
    const ran = await run(
      "bisect",
      "run",
      "lakefs://repo/main",
      "--good",
      made[0]!,
      "--",
      "sh",
      "-c",
      script,
    );
    assert.deepEqual([ran.code, ran.out], [0, `lakefs://repo/${made[6]}\n`], ran.err);
    assert.match(ran.err, /^Testing [0-9a-f]{12}, one of 9 commits: c4\n[0-9a-f]{12} is good\n/);
    const search = ["bisect", "run", "lakefs://repo", "--good", made[0]!, "--bad", "main", "--json"];
    const found = JSON.parse((await run(...search, "--", "sh", "-c", script)).out);
    assert.equal(found.first_bad.message, "c6");
    assert.deepEqual([found.good, found.bad, found.candidates], [made[0], made[9], [made[6]]]);
    assert.ok(found.tested.length <= 4);
    assert.deepEqual(found.tested[0], { commit_id: made[4], verdict: "good" });
    const tested = readFileSync(join(folder, "tested"), "utf8").split("\n");
    assert.equal(tested[0], `lakefs://repo/${made[4]}`);
  });

  it("exits with 1 and names all that it may be when nothing could be tested", async (t) => {
    const { run, made } = await withFault(t);
    const search = ["bisect", "run", "lakefs://repo/main", "--good", made[6]!];
    const ran = await run(...search, "--", "sh", "-c", "exit 125");
    assert.deepEqual([ran.code, ran.out], [1, made.slice(7).map((id) => `lakefs://repo/${id}\n`).join("")]);
    assert.match(ran.err, /one of 3 commits: those between/);
    assert.equal(
      JSON.parse((await run(...search, "--json", "--", "sh", "-c", "exit 125")).out).first_bad,
      null,
    );
  });

  it("ends when its program says nothing of use, or is not there", async (t) => {
    const { run, made, folder } = await withFault(t);
    const search = ["bisect", "run", "lakefs://repo/main", "--good", made[0]!, "--"];
    const failed = async (...command: string[]) => {
      const { code, out, err } = await run(...search, ...command);
      assert.deepEqual([code, out], [2, ""]);
      return err;
    };
    assert.match(
      await failed("sh", "-c", "exit 128"),
      /"sh" ended with exit code 128 for commit [0-9a-f]{12}/,
    );
    assert.match(await failed("sh", "-c", "kill -9 $$"), /"sh" ended with signal SIGKILL/);
    assert.match(await failed("no-such-program-here"), /"no-such-program-here": there is no such program/);
    assert.match(await failed(""), /Cannot run "": it is no name of a program/);
    const noScript = join(folder, "no-script");
    writeFileSync(noScript, "no first line\n", { mode: 0o755 });
    assert.match(
      await failed(noScript),
      /Cannot run ".*no-script": it is no program; a script must begin with #!/,
    );
    assert.match(await failed("sh", "-c", "no-such-program-here"), /"sh" ended with exit code 127/);
    assert.equal((await run(...search, "sh", "-c", "exit 124")).code, 0);
  });

  it("wants a good commit behind a bad one", async (t) => {
    const { run, store, made } = await withFault(t);
    const error = async (...words: string[]) => {
      const { code, err } = await run("bisect", "list", ...words);
      assert.equal(code, 2);
      return err;
    };
    assert.match(await error("lakefs://repo/main"), /add --good REF/);
    assert.match(await error("lakefs://repo", "--good", "main~2"), /--bad REF/);
    assert.match(await error("lakefs://repo/main", "--good", "main~2", "--bad", "main"), /named twice/);
    assert.match(await error("lakefs://repo/main", "--good", "main"), /the same commit/);
    assert.match(await error("lakefs://repo/main~4", "--good", "main"), /not in the history/);
    await store.createBranch("repo", "side", made[0]!, "x");
    const side = await commit(store, "side", { side: "1" });
    assert.match(await error("lakefs://repo/main", "--good", side), /not in the history/);
    // A merged branch's commit is behind the merge; only commits of the first-parent line are searched.
    const { reference } = await store.merge("repo", "side", "main", { committer: "x" });
    const { out } = await run("bisect", "list", "lakefs://repo/main", "--good", side, "--json");
    const listed = JSON.parse(out).map(({ id }: { id: string }) => id);
    assert.deepEqual(listed, [reference, ...made.slice(1).reverse()]);
  });
});
