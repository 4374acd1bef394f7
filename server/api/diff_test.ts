import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { testRepository } from "./testing.ts";

interface Shown {
  type: string;
  path: string;
  path_type: string;
}

const shown = (answer: { json: { results: Shown[] } }) =>
  answer.json.results.map(({ type, path }) => `${type} ${path}`);

describe("differences", () => {
  it("between refs are those of the right side since both parted, or by two dots of both", async (t) => {
    const { ask, commit, branch } = await testRepository(t);
    await commit("main", "a", "1");
    await branch("topic");
    await commit("main", "left", "1");
    await commit("main", "a", "left");
    await commit("topic", "dir/b", "1");
    await commit("topic", "a", "right");
    const path = "/refs/main/diff/topic";
    assert.deepEqual(shown(await ask(200, "GET", path)), ["conflict a", "added dir/b"]);
    assert.deepEqual(shown(await ask(200, "GET", `${path}?type=three_dot`)), ["conflict a", "added dir/b"]);
    assert.deepEqual(shown(await ask(200, "GET", `${path}?type=two_dot`)), [
      "changed a",
      "added dir/b",
      "removed left",
    ]);
    await ask(400, "GET", `${path}?type=four_dot`);
    await ask(404, "GET", "/refs/main/diff/nowhere");
    assert.deepEqual(shown(await ask(200, "GET", "/refs/main~1/diff/main")), ["changed a"]);
  });

  it("come with what the right side has when that is asked for", async (t) => {
    const { ask, commit } = await testRepository(t);
    await commit("main", "a", "1");
    const path = "/refs/main~1/diff/main";
    assert.equal((await ask(200, "GET", path)).json.results[0].right, undefined);
    const [item] = (await ask(200, "GET", `${path}?include_right_stats=true`)).json.results;
    assert.equal(item.size_bytes, 1);
    assert.deepEqual(Object.keys(item.right).sort(), ["checksum", "content_type", "metadata", "mtime"]);
    assert.equal(item.right.checksum, "c4ca4238a0b923820dcc509a6f75849b");
    const back = await ask(200, "GET", "/refs/main/diff/main~1?type=two_dot&include_right_stats=true");
    assert.deepEqual([shown(back), back.json.results[0].right], [["removed a"], undefined]);
  });

  it("come in pages, by prefix and folded", async (t) => {
    const { ask, put, commit } = await testRepository(t);
    for (const path of ["a/1", "a/2", "b", "c/1", "c/d/1"]) await put("main", path, "x");
    const path = "/branches/main/diff";
    const paged = async (path: string) => {
      const all: string[] = [];
      for (let after = "";;) {
        const { results, pagination } =
          (await ask(200, "GET", `${path}&amount=1&after=${encodeURIComponent(after)}`)).json;
        assert.deepEqual([pagination.results, pagination.max_per_page], [1, 1000]);
        all.push(...results.map((one: Shown) => `${one.type} ${one.path} ${one.path_type}`));
        if (!pagination.has_more) return all;
        after = pagination.next_offset;
      }
    };
    const folded = ["prefix_changed a/ common_prefix", "added b object", "prefix_changed c/ common_prefix"];
    assert.deepEqual(await paged(`${path}?delimiter=/`), folded);
    assert.deepEqual(await paged(`${path}?delimiter=/&prefix=c/`), [
      "added c/1 object",
      "prefix_changed c/d/ common_prefix",
    ]);
    assert.equal((await paged(`${path}?prefix=`)).length, 5);
    await commit("main", "d", "x");
    assert.deepEqual(shown(await ask(200, "GET", path)), []);
    assert.deepEqual(await paged("/refs/main~1/diff/main?delimiter=/"), [...folded, "added d object"]);
    await ask(404, "GET", "/branches/nowhere/diff");
    await ask(400, "GET", `${path}?amount=1001`);
  });

  it("begin where two refs parted", async (t) => {
    const { ask, commit, branch } = await testRepository(t);
    const base = await commit("main", "a", "1");
    await branch("feature/x");
    const left = await commit("main", "b", "1");
    const right = await commit("feature/x", "c", "1");
    assert.deepEqual((await ask(200, "GET", "/refs/feature%2Fx/merge/main")).json, {
      source_commit_id: right,
      destination_commit_id: left,
      base_commit_id: base,
    });
    await ask(404, "GET", "/refs/none/merge/main");
  });
});

describe("the log", () => {
  it("goes by objects and prefixes, wherever a prefix ends", async (t) => {
    const { ask, commit } = await testRepository(t);
    for (const path of ["logs/2024-01", "logs/2024-02", "logs/2025-01", "logs/", "other"]) {
      await commit("main", path, "x");
    }
    const messages = async (query: string) =>
      (await ask(200, "GET", `/refs/main/commits?${query}`)).json.results
        .map(({ message }: { message: string }) => message.slice(0, -2));
    assert.deepEqual(await messages("prefixes=logs/2024-"), ["logs/2024-02", "logs/2024-01"]);
    assert.deepEqual(await messages("prefixes=logs/2024-02&prefixes=o"), ["other", "logs/2024-02"]);
    assert.deepEqual(await messages("objects=logs/"), ["logs/"]);
    assert.deepEqual(await messages("prefixes=logs/&amount=1"), ["logs/"]);
    assert.equal((await messages("prefixes=logs/")).length, 4);
    assert.deepEqual(await messages("objects=logs/2024-01&prefixes=other"), ["other", "logs/2024-01"]);
  });
});
