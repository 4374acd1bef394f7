import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lossyText, utf8 } from "../../base/bytes.ts";
import { mergeJson } from "./json.ts";

function merged(base: string | undefined, source: string, destination: string): string {
  const result = mergeJson({
    base: base === undefined ? undefined : utf8(base),
    source: utf8(source),
    destination: utf8(destination),
  });
  return result instanceof Uint8Array ? lossyText(result) : `(${result.conflict})`;
}

describe("mergeJson()", () => {
  const cases: readonly (readonly [
    name: string,
    base: string,
    source: string,
    destination: string,
    expected: string,
  ])[] = [
    ["merges by key", '{"a":1,"b":1}', '{"a":2,"b":1}', '{"a":1,"b":3}', '{"a":2,"b":3}'],
    [
      "merges at every depth",
      '{"a":{"b":{"c":1,"d":1}}}',
      '{"a":{"b":{"c":2,"d":1}}}',
      '{"a":{"b":{"c":1,"d":3}}}',
      '{"a":{"b":{"c":2,"d":3}}}',
    ],
    [
      "removes what one side removed",
      '{"a":1,"b":1,"c":1}',
      '{"a":1,"c":1}',
      '{"a":2,"b":1,"c":1}',
      '{"a":2,"c":1}',
    ],
    [
      "puts new keys after what they follow",
      '{"a":1,"z":1}',
      '{"a":1,"m":1,"n":1,"z":1}',
      '{"a":2,"z":1}',
      '{"a":2,"m":1,"n":1,"z":1}',
    ],
    [
      "takes arrays as a whole",
      '{"a":[1],"b":1}',
      '{"a":[1,2],"b":1}',
      '{"a":[1],"b":2}',
      '{"a":[1,2],"b":2}',
    ],
    [
      "keeps arrays that both changed a conflict",
      '{"a":[1]}',
      '{"a":[1,2]}',
      '{"a":[0,1]}',
      '(both sides changed "a")',
    ],
    [
      "names the key of a conflict",
      '{"a":{"b":1}}',
      '{"a":{"b":2}}',
      '{"a":{"b":3}}',
      '(both sides changed "a"."b")',
    ],
    ["keeps a deletion beside a change a conflict", '{"a":1}', "{}", '{"a":2}', '(both sides changed "a")'],
    [
      "does not count another order or space as a change",
      '{"a":1,"b":2}',
      '{ "b": 2, "a": 1 }',
      '{"a":1,"b":3}',
      '{"a":1,"b":3}',
    ],
    [
      "reads escapes of strings and keys",
      '{"a":"\\u0041","k":1}',
      '{"\\u0061":"A","k":2}',
      '{"a":"B","k":1}',
      '{"a":"B","k":2}',
    ],
    [
      "keeps numbers as they are written",
      '{"n":12345678901234567890,"f":1.0,"k":1}',
      '{"n":12345678901234567890,"f":1.0,"k":2}',
      '{"n":12345678901234567890,"f":1.0,"k":1,"x":1e400}',
      '{"n":12345678901234567890,"f":1.0,"k":2,"x":1e400}',
    ],
    [
      "keeps keys that look like numbers, and __proto__, in place",
      '{"b":1,"1":1,"__proto__":1}',
      '{"b":2,"1":1,"__proto__":1}',
      '{"b":1,"1":1,"__proto__":2}',
      '{"b":2,"1":1,"__proto__":2}',
    ],
    [
      "fills an object that was empty",
      '{"a":{},"b":1}',
      '{"a":{"x":1},"b":1}',
      '{"a":{},"b":2}',
      '{"a":{"x":1},"b":2}',
    ],
    ["empties an object", '{"a":{"x":1,"y":1}}', '{"a":{"y":1}}', '{"a":{"x":1}}', '{"a":{}}'],
  ];
  for (const [name, base, source, destination, expected] of cases) {
    it(name, () => assert.equal(merged(base, source, destination), expected));
  }

  it("writes the destination's layout, and the source's values in its indentation", () => {
    const base = '{\n  "a": 1,\n  "list": [1, 2],\n  "b": {}\n}\n';
    const source = '{\n\t"a": 1,\n\t"list": [1, 2],\n\t"b": {\n\t\t"new": [\n\t\t\t1\n\t\t]\n\t}\n}\n';
    const destination = '{\n  "a": 2,\n  "list": [1, 2],\n  "b": {}\n}\n';
    assert.equal(
      merged(base, source, destination),
      '{\n  "a": 2,\n  "list": [1, 2],\n  "b": {\n    "new": [\n      1\n    ]\n  }\n}\n',
    );
  });

  it("adds keys inside a nested object with its own separators", () => {
    const base = '{\n  "a": {\n    "x": 1\n  },\n  "b": { "y": 1 }\n}';
    const source = '{\n  "a": {\n    "x": 1,\n    "z": 1\n  },\n  "b": { "y": 1, "w": 1 }\n}';
    const destination = '{\n  "a": {\n    "x": 2\n  },\n  "b": { "y": 2 }\n}';
    assert.equal(
      merged(base, source, destination),
      '{\n  "a": {\n    "x": 2,\n    "z": 1\n  },\n  "b": { "y": 2, "w": 1 }\n}',
    );
  });

  it("merges two new files by key", () => {
    assert.equal(merged(undefined, '{"a":1}', '{"b":1}'), '{"a":1,"b":1}');
    assert.equal(merged(undefined, '{"a":1}', '{"a":2}'), '(both sides changed "a")');
  });

  it("leaves what is no JSON, repeats a key, or is nested beyond reason", () => {
    const why = "(it is no JSON, or repeats a key)";
    for (
      const bad of [
        "",
        "{",
        '{"a":1,}',
        '{"a":1}x',
        '{"a":1,"a":2}',
        '{"a":01}',
        '{"a":"\\u12"}',
        "[".repeat(5000) + "]".repeat(5000),
      ]
    ) {
      assert.equal(merged("{}", bad, '{"a":1}'), why, bad.slice(0, 20));
    }
    assert.equal(merged("1", "2", "3"), "(both sides changed it)");
  });
});
