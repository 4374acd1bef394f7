import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { lossyText, utf8 } from "../../base/bytes.ts";
import { mergeCsv } from "./csv.ts";

function merged(base: string | undefined, source: string, destination: string, column = "id"): string {
  const result = mergeCsv({
    base: base === undefined ? undefined : utf8(base),
    source: utf8(source),
    destination: utf8(destination),
  }, column);
  return result instanceof Uint8Array ? lossyText(result) : `(${result.conflict})`;
}

const HEAD = "id,name\n";

describe("mergeCsv()", () => {
  const cases: readonly (readonly [
    name: string,
    base: string,
    source: string,
    destination: string,
    expected: string,
  ])[] = [
    ["merges rows by key", "1,a\n2,b\n3,c\n", "1,A\n2,b\n3,c\n", "1,a\n2,b\n3,C\n", "1,A\n2,b\n3,C\n"],
    ["merges adjacent rows", "1,a\n2,b\n", "1,A\n2,b\n", "1,a\n2,B\n", "1,A\n2,B\n"],
    [
      "adds and removes rows, in the order of both",
      "1,a\n2,b\n",
      "1,a\n5,e\n2,b\n",
      "2,b\n9,z\n",
      "5,e\n2,b\n9,z\n",
    ],
    ["finds rows that moved", "1,a\n2,b\n", "2,b\n1,A\n", "1,a\n2,B\n", "1,A\n2,B\n"],
    [
      "keeps a row that both changed a conflict",
      "1,a\n",
      "1,b\n",
      "1,c\n",
      '(both sides changed the row "1")',
    ],
    [
      "keeps a deletion beside a change a conflict",
      "1,a\n",
      "",
      "1,c\n",
      '(both sides changed the row "1")',
    ],
    [
      "reads quotes, and keeps them",
      '1,"a, ""b""\nc"\n2,b\n',
      '1,"a, ""b""\nc"\n2,"B"\n',
      '1,"a, ""x""\nc"\n2,b\n',
      '1,"a, ""x""\nc"\n2,"B"\n',
    ],
    ["does not count quotes that say nothing as a change", "1,a\n", '"1","a"\n', "1,b\n", "1,b\n"],
  ];
  for (const [name, base, source, destination, expected] of cases) {
    const whole = expected.startsWith("(") ? expected : HEAD + expected;
    it(name, () => assert.equal(merged(HEAD + base, HEAD + source, HEAD + destination), whole));
  }

  it("keeps the destination's line ends, mark, and last line", () => {
    assert.equal(
      merged("id,n\n1,a\n2,b\n", "id,n\n1,A\n2,b\n", "\ufeffid,n\r\n1,a\r\n2,B"),
      "\ufeffid,n\r\n1,A\r\n2,B",
    );
  });

  it("merges two new tables, and by a column whose name is no ASCII", () => {
    assert.equal(merged(undefined, "id,n\n1,a\n", "id,n\n2,b\n"), "id,n\n1,a\n2,b\n");
    assert.equal(
      merged("größe,n\n1,a\n", "größe,n\n1,ä\n", "größe,n\n1,a\n2,b\n", "größe"),
      "größe,n\n1,ä\n2,b\n",
    );
  });

  it("leaves tables whose columns differ, or that are none", () => {
    assert.match(merged("id,n\n1,a\n", "id,m\n1,b\n", "id,n\n1,c\n"), /different columns/);
    assert.match(merged("id,n\n", "id,n\n", "id,n\n", "key"), /does not have one column "key"/);
    assert.match(merged("id,id\n", "id,id\n", "id,id\n"), /does not have one column/);
    assert.match(merged("id,n\n", "id,n\n1,a\n1,b\n", "id,n\n"), /two rows have the key "1"/);
    assert.match(merged("id,n\n", "id,n\n1,a,b\n", "id,n\n"), /more or fewer fields/);
    for (const bad of ['1,"a', '1,"a"b\n', '1,a"b\n', "1,a\rb\n"]) {
      assert.match(merged("id,n\n", `id,n\n${bad}`, "id,n\n"), /quotes/, bad);
    }
    assert.match(merged("", "id\n", "id\n"), /empty/);
  });

  it("reads a field of a million quotes", () => {
    const field = `"${'""'.repeat(1_000_000)}"`;
    assert.equal(
      merged("id,n\n", `id,n\n1,${field}\n`, "id,n\n2,b\n").length,
      `id,n\n1,${field}\n2,b\n`.length,
    );
  });
});
