import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseYaml } from "./yaml.ts";

const parse = (text: string) => parseYaml(text, { origin: "tarn.yaml", folder: "/work" });

describe("parseYaml()", () => {
  it("reads anchors and merge keys; what a map says itself goes first, then what is merged first", async () => {
    const { tree, positionOf } = await parse(`base: &base {driver: s3, region: a, profile: p}
other: &other {region: b, timeout: 3}
stores:
  one: {<<: *base, region: own}
  two: {<<: [*other, *base]}
  three: *base
  four: {"<<": text}
`);
    assert.deepEqual(tree["stores"], {
      one: { region: "own", driver: "s3", profile: "p" },
      two: { region: "b", timeout: 3, driver: "s3", profile: "p" },
      three: { driver: "s3", region: "a", profile: "p" },
      four: { "<<": "text" },
    });
    assert.deepEqual(positionOf(["stores", "one", "region"]), { line: 4, column: 20 });
    assert.deepEqual(positionOf(["stores", "one", "driver"]), { line: 1, column: 14 });
    // Of a key that is not there, the nearest one above it.
    assert.deepEqual(positionOf(["stores", "one", "none", "deeper"]), { line: 4, column: 3 });
  });

  it("refuses what is no plain tree of names and values, saying where", async () => {
    const bad: readonly [text: string, line: number][] = [
      ["a: 1\na: 2\n", 2],
      ["a: {b: 1, b: 2}\n", 1],
      ["x: 1\na: {b: 1, 'b': 2}\n", 2],
      ["a: {<<: {b: 1}, <<: {c: 1}}\n", 1],
      ["a: [\n", 2],
      ["a: b: c\n", 1],
      ["a: !!js/function 'x'\n", 1],
      ["a: !!python/object:os.system x\n", 1],
      ["a: !custom {b: 1}\n", 1],
      ["x: 1\na: *none\n", 2],
      ["a: &a [*a]\n", 1],
      ["a: &a {<<: *a}\n", 1],
      ["1: x\n", 1],
      ["? [a]\n: x\n", 1],
      ["null: x\n", 1],
      ["__proto__: {x: 1}\n", 1],
      ["- a\n", 1],
      ["text\n", 1],
      ["a: .nan\n", 1],
      ["a: {<<: 1}\n", 1],
      ["a: 1\n---\nb: 2\n", 2],
      ["%YAML 1.1\n---\na: !!binary aGk=\n", 3],
    ];
    for (const [text, line] of bad) {
      await assert.rejects(parse(text), (error: { code: string; details: { line: number } }) => {
        assert.equal(error.code, "invalid_configuration", text);
        assert.equal(error.details.line, line, text);
        return true;
      }, text);
    }
    assert.equal(({} as { x?: number }).x, undefined);
  });

  it("refuses aliases that make much of little", async () => {
    const lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"];
    for (let i = 1; i < 9; i++) lines.push(`a${i}: &a${i} [${Array(10).fill(`*a${i - 1}`).join(", ")}]`);
    await assert.rejects(parse(lines.join("\n")), { code: "invalid_configuration" });
    const merges = ["m0: &m0 {x: 1}"];
    for (let i = 1; i < 30; i++) merges.push(`m${i}: &m${i} {<<: [*m${i - 1}, *m${i - 1}]}`);
    await assert.rejects(parse(merges.join("\n")), { code: "invalid_configuration" });
  });

  it("refuses what is nested without end", async () => {
    await assert.rejects(parse(`a: ${"[".repeat(200)}${"]".repeat(200)}`), { code: "invalid_configuration" });
  });
});
