import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { temporaryFolder } from "../../tests/support/temporary.ts";
import { choiceRule, choiceRulesOf } from "./choices.ts";
import { pathPattern } from "./patterns.ts";

/** Reads a rule; shows its path and what it chooses. */
function shown(text: string): string {
  const { pattern, choice } = choiceRule(text, "it");
  const what = choice.kind === "uri"
    ? choice.location.text
    : choice.kind === "file"
    ? choice.path
    : choice.kind;
  return `${pattern.path} -> ${what}`;
}

describe("choiceRule()", () => {
  const cases: readonly (readonly [string, string])[] = [
    ["a=source", "a -> source"],
    ["a=dest", "a -> destination"],
    ["a=destination", "a -> destination"],
    ["a=base", "a -> base"],
    ["a=delete", "a -> delete"],
    ["year=2026/month=01/f=source", "year=2026/month=01/f -> source"],
    ["a=source=dest", "a=source -> destination"],
    ["a=lakefs://r/main/b", "a -> lakefs://r/main/b"],
    ["year=2026/f=lakefs://r/main/year=2026/f", "year=2026/f -> lakefs://r/main/year=2026/f"],
    ["a=./b", "a -> ./b"],
    ["a=../b=c", "a -> ../b=c"],
    ["a=/tmp/b", "a -> /tmp/b"],
    ["x%3D/y=source", "x=/y -> source"],
    ["x%3D/y=/tmp/z", "x=/y -> /tmp/z"],
    ["100%25=source", "100% -> source"],
  ];
  for (const [text, expected] of cases) {
    it(`reads ${text}`, () => assert.equal(shown(text), expected));
  }

  for (
    const text of [
      "",
      "a",
      "=source",
      "a=",
      "a=sauce",
      "a=b",
      "a=lakefs://",
      "a=lakefs://r",
      "a=s4://b/c",
      "%zz=source",
      "%ff=source",
    ]
  ) {
    it(`refuses "${text}"`, () => assert.throws(() => choiceRule(text, "it"), { kind: "invalid" }));
  }
});

describe("choiceRulesOf()", () => {
  it("reads a line a rule, without comments and empty lines, and names the line of a bad one", async (t) => {
    const file = join(temporaryFolder(t), "rules");
    writeFileSync(file, "\ufeff# a comment\n\na=source\r\n  b c=dest  \n%23d=base\ne f = source\ng =dest");
    const rules = await choiceRulesOf(file);
    assert.deepEqual(rules.map(({ pattern }) => pattern.path), ["a", "b c", "#d", "e f", "g "]);
    writeFileSync(file, "a=source\nnonsense\n");
    await assert.rejects(choiceRulesOf(file), /line 2 of/);
    await assert.rejects(choiceRulesOf(`${file}-not`), { code: "file_not_found" });
  });
});

describe("pathPattern()", () => {
  const cases: readonly (readonly [pattern: string, path: string, isMatch: boolean])[] = [
    ["a.csv", "a.csv", true],
    ["a.csv", "b/a.csv", false],
    ["*.csv", "a.csv", true],
    ["*.csv", "b/a.csv", false],
    ["**/*.csv", "a.csv", true],
    ["**/*.csv", "b/c/a.csv", true],
    ["b/**", "b/c/a.csv", true],
    ["data[1].csv", "data1.csv", true],
    ["data[1].csv", "data[1].csv", true],
    ["data%5B1%5D.csv", "data1.csv", false],
    ["%2A.csv", "*.csv", true],
    ["%2A.csv", "a.csv", false],
    ["%2A*.csv", "*a.csv", true],
    ["%2A*.csv", "ba.csv", false],
    ["[%5D-]", "]", true],
  ];
  for (const [pattern, path, isMatch] of cases) {
    it(`of ${pattern} ${isMatch ? "matches" : "does not match"} ${path}`, () => {
      assert.equal(pathPattern(pattern, "it").matches(path), isMatch);
    });
  }

  it("knows globs from paths", () => {
    assert.deepEqual(["a", "a*", "a%2A", "[a", "a?"].map((text) => pathPattern(text, "it").isGlob), [
      false,
      true,
      false,
      true,
      true,
    ]);
  });
});
