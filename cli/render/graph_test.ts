import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, it } from "node:test";
import { CommitGraph } from "./graph.ts";

const CASES = readFileSync(new URL("./testdata/graphs.txt", import.meta.url), "utf8").trimEnd().split("\n\n")
  .slice(1);

describe("CommitGraph draws", () => {
  for (const text of CASES) {
    const [name, ...lines] = text.split("\n");
    const middle = lines.indexOf("----");
    it(name!, () => {
      const graph = new CommitGraph();
      const picture: string[] = [];
      for (const line of lines.slice(0, middle)) {
        const [id, ...parents] = line.split(" ");
        const { commit, joints } = graph.add({ id: id!, parents });
        picture.push(`${commit} ${id}`, ...joints);
      }
      assert.deepEqual(picture, lines.slice(middle + 1));
    });
  }
});

it("CommitGraph leaves as many lanes as there are commits awaited", () => {
  const graph = new CommitGraph();
  // A pseudo-random history: each commit has one or two parents among the next few.
  let state = 7;
  const chance = (below: number) => (state = (state * 1103515245 + 12345) % 2147483648) % below;
  const awaited = new Set<string>();
  for (let id = 0; id < 500; id++) {
    const parents = [...new Set([id + 1 + chance(4), id + 1 + chance(9)])].map(String);
    const { commit, joints, padding } = graph.add({ id: String(id), parents });
    awaited.delete(String(id));
    for (const parent of parents) awaited.add(parent);
    assert.equal(commit.split("*").length, 2);
    assert.equal(padding.split(" ").length, awaited.size);
    for (const row of [commit, ...joints]) assert.match(row, /^[|\\/_* ]+$/);
  }
});
