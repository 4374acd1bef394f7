import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { interpolate, InterpolationError, isInterpolated } from "./interpolation.ts";

const VARIABLES: Readonly<Record<string, string>> = {
  HOST: "lakefs.example",
  EMPTY: "",
  WHICH: "HOST",
  TRICK: "${oc.env:HOST}",
  SPACED: " a ",
};
const filled = (text: string) => interpolate(text, (name) => VARIABLES[name]);

/** Text with what it comes to; each was worked out from OmegaConf's grammar. */
const FILLED: readonly [text: string, value: string | null][] = [
  ["plain", "plain"],
  ["", ""],
  ["${oc.env:HOST}", "lakefs.example"],
  ["https://${oc.env:HOST}:8000/${oc.env:HOST}", "https://lakefs.example:8000/lakefs.example"],
  ["${oc.env:HOST,other}", "lakefs.example"],
  ["${oc.env:NONE,other}", "other"],
  ["${oc.env:NONE,https://host:80/a-b_c.d?e@f|g%h+i*j$k}", "https://host:80/a-b_c.d?e@f|g%h+i*j$k"],
  // A variable that is set counts, an empty one too.
  ["${oc.env:EMPTY,other}", ""],
  ["${oc.env:NONE,}", ""],
  ["${oc.env:NONE, }", ""],
  ["${oc.env:NONE,''}", ""],
  ["${oc.env:NONE,null}", null],
  ["${oc.env:NONE, NULL }", null],
  ["${oc.env:NONE,'null'}", "null"],
  ["${oc.env:NONE,12}", "12"],
  // Blanks around an argument do not count; those inside, in quotes and escaped ones do.
  ["${oc.env: HOST }", "lakefs.example"],
  ["${ oc.env:HOST}", "lakefs.example"],
  ["${oc.env:NONE,  a b  }", "a b"],
  ["${oc.env:NONE,' a b '}", " a b "],
  ["${oc.env:NONE,a\\ }", "a "],
  ["${oc.env:NONE,${oc.env:SPACED} }", " a "],
  // Nested.
  ["${oc.env:NONE,${oc.env:HOST}}", "lakefs.example"],
  ["${oc.env:NONE,${oc.env:NEITHER,third}}", "third"],
  ["${oc.env:NONE,${oc.env:NEITHER,null}}", null],
  ["${oc.env:NONE,https://${oc.env:HOST}/x}", "https://lakefs.example/x"],
  ["${oc.env:NONE,'https://${oc.env:HOST}, ${oc.env:NEITHER,\"b\"}'}", "https://lakefs.example, b"],
  ["${oc.env:${oc.env:WHICH}}", "lakefs.example"],
  // Quotes.
  ["${oc.env:NONE,'a, b} {c} [d] (e)'}", "a, b} {c} [d] (e)"],
  ['${oc.env:NONE,"it\'s"}', "it's"],
  ["${oc.env:NONE,'it\\'s'}", "it's"],
  ["${oc.env:NONE,'c:\\temp\\new'}", "c:\\temp\\new"],
  ["${oc.env:NONE,'ends in \\\\'}", "ends in \\"],
  ["${oc.env:NONE,'\\${oc.env:HOST}'}", "${oc.env:HOST}"],
  // Escapes.
  ["\\${oc.env:HOST}", "${oc.env:HOST}"],
  ["a\\${b", "a${b"],
  ["\\\\${oc.env:HOST}", "\\lakefs.example"],
  ["\\\\\\${oc.env:HOST}", "\\${oc.env:HOST}"],
  ["c:\\\\temp\\x $ {y} $5", "c:\\\\temp\\x $ {y} $5"],
  ["${oc.env:NONE,a\\,b\\}c\\{d\\(e\\)f\\[g\\]h\\:i\\=j\\\\k}", "a,b}c{d(e)f[g]h:i=j\\k"],
  ["${oc.env:NONE,c:\\temp}", "c:\\temp"],
  ["${oc.env:NONE,\\${x\\}}", "${x}"],
  // What a variable holds is not looked into again.
  ["${oc.env:TRICK}", "${oc.env:HOST}"],
];

describe("interpolate()", () => {
  for (const [text, value] of FILLED) {
    it(`fills in ${JSON.stringify(text)}`, () => assert.equal(filled(text), value));
  }

  it("refuses what has no single meaning", () => {
    const bad = [
      "${oc.env:HOST",
      "${",
      "${}",
      "${HOST}",
      "${oc.env}",
      "${oc.env:}",
      "${oc.env: ,x}",
      "${oc.env:null,x}",
      "${oc.env:A=B,x}",
      "${oc.env:NONE,a,b}",
      "${oc.env:NONE,'a}",
      "${oc.env:NONE,'a'b}",
      "${oc.env:NONE,a'b'}",
      "${oc.env:NONE,{a: b}}",
      "${oc.env:NONE,[a]}",
      "${oc.env:NONE,'a, b} ${'}",
      "${oc.decode:HOST}",
      "${stores.lakefs}",
      "${env:HOST}",
      "a${oc.env:NONE,null}",
      "${oc.env:NONE,null}a",
    ];
    for (const text of bad) assert.throws(() => filled(text), InterpolationError, text);
  });

  it("names the variable that is not set and has no default", () => {
    assert.throws(() => filled("x/${oc.env:NONE}"), (error: InterpolationError) => {
      assert.equal(error.variable, "NONE");
      assert.match(error.message, /"NONE"/);
      return true;
    });
    assert.throws(() => filled("${oc.env:NONE,${oc.env:NEITHER}}"), { variable: "NEITHER" });
  });

  it("takes time that grows with the text alone", () => {
    const text = "\\".repeat(300_000) + "x" + "${oc.env:HOST}".repeat(10_000);
    assert.equal(filled(text)!.length, 300_001 + 10_000 * "lakefs.example".length);
    assert.ok(!isInterpolated("\\".repeat(300_000)));
    assert.throws(() => filled("${oc.env:NONE,".repeat(100_000)), /nested too deeply/);
  });
});

it("isInterpolated() tells a ${ from an escaped one", () => {
  for (const text of ["${", "a${oc.env:B}", "\\\\${x}", "\\${a} ${b}"]) assert.ok(isInterpolated(text), text);
  for (const text of ["", "$x {y}", "\\${x}", "\\\\\\${x}"]) assert.ok(!isInterpolated(text), text);
});
