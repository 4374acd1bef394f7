import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { firstWord, type OptionTable, parseArguments } from "./arguments.ts";

const TABLE: OptionTable = {
  recursive: { short: "r", help: "" },
  yes: { short: "y", help: "" },
  message: { short: "m", value: "MSG", help: "" },
  meta: { value: "K=V", multiple: true, help: "" },
  parent: { value: "N", alias: "parent-number", help: "" },
  mode: { value: "M", choices: ["fast", "slow", "safe"], help: "" },
  home: { value: "DIR", help: "" },
  "pre-sign": { hidden: true, help: "" },
};

function refused(argv: readonly string[], message: RegExp) {
  assert.throws(() => parseArguments(argv, TABLE), { code: "invalid_argument", message });
}

describe("parseArguments()", () => {
  it("takes options before, between and after the other arguments", () => {
    const given = parseArguments(
      ["-r", "a", "--message", "hello", "b", "--meta=x=1", "--meta", "y=2"],
      TABLE,
    );
    assert.deepEqual(given.positionals, ["a", "b"]);
    assert.equal(given.flag("recursive"), true);
    assert.equal(given.flag("yes"), false);
    assert.equal(given.value("message"), "hello");
    assert.deepEqual(given.pairs("meta"), { x: "1", y: "2" });
  });

  it("takes short options together, and a value in the same argument", () => {
    const given = parseArguments(["-rym", "text"], TABLE);
    assert.deepEqual([given.flag("recursive"), given.flag("yes"), given.value("message")], [
      true,
      true,
      "text",
    ]);
    assert.equal(parseArguments(["-mtext"], TABLE).value("message"), "text");
    assert.equal(parseArguments(["--message="], TABLE).value("message"), "");
  });

  it("takes a lone dash, and everything after two dashes, as they are", () => {
    assert.deepEqual(parseArguments(["-", "--", "-r", "--"], TABLE).positionals, ["-", "-r", "--"]);
  });

  it("takes an option's value whatever it looks like", () => {
    assert.equal(parseArguments(["-m", "--yes"], TABLE).value("message"), "--yes");
  });

  it("takes other programs' names and forms of an option", () => {
    assert.equal(parseArguments(["--parent-number", "2"], TABLE).count("parent"), 2);
    assert.equal(parseArguments(["--pre-sign=false"], TABLE).flag("pre-sign"), true);
  });

  it("refuses what it does not know and names the nearest", () => {
    assert.throws(() => parseArguments(["--recursvie"], TABLE), {
      code: "invalid_argument",
      details: { suggestion: "--recursive" },
    });
    assert.throws(() => parseArguments(["-z"], TABLE), { message: /Cannot read "-z"/ });
    refused(["--toString"], /no such option/);
  });

  it("refuses what is none of an option's choices, and names the nearest", () => {
    assert.equal(parseArguments(["--mode", "safe"], TABLE).choice("mode", ["slow", "safe"]), "safe");
    assert.throws(() => parseArguments(["--mode=sfae"], TABLE), {
      code: "invalid_argument",
      message: 'Cannot read "--mode sfae": it must be fast, slow or safe',
      details: { suggestion: "safe" },
    });
    for (const text of ["", "FAST", "fas"]) refused(["--mode", text], /must be fast, slow or safe/);
  });

  it("refuses a missing value, a value too many, and a value given twice", () => {
    refused(["-m"], /its value MSG is missing/);
    refused(["--recursive=yes"], /takes no value/);
    refused(["-m", "a", "--message", "b"], /given twice/);
    refused(["--home", ""], /its value DIR is empty/);
    refused(["--home="], /its value DIR is empty/);
  });
});

describe("ParsedArguments", () => {
  it("reads whole numbers only", () => {
    for (const text of ["0", "-1", "1.5", "x", "", "1e3", "99999999999999999999"]) {
      assert.throws(() => parseArguments(["--parent", text], TABLE).count("parent"), {
        code: "invalid_argument",
      });
    }
    assert.equal(parseArguments([], TABLE).count("parent"), undefined);
  });

  it("reads pairs, splits at the first equals sign, and refuses what is none", () => {
    assert.deepEqual(parseArguments(["--meta", "__proto__=a=b"], TABLE).pairs("meta"), {
      ["__proto__"]: "a=b",
    });
    for (const argv of [["--meta", "x"], ["--meta", "=x"], ["--meta", "k=1", "--meta", "k=2"]]) {
      assert.throws(() => parseArguments(argv, TABLE).pairs("meta"), { code: "invalid_argument" });
    }
  });
});

describe("firstWord()", () => {
  it("skips options with their values", () => {
    assert.equal(firstWord(["-r", "-m", "text", "--meta=a=b", "put", "x"], TABLE), 4);
    assert.equal(firstWord(["-mtext", "put"], TABLE), 1);
  });

  it("finds nothing behind an option that it does not know", () => {
    assert.equal(firstWord(["--what", "put"], TABLE), -1);
    assert.equal(firstWord([], TABLE), -1);
  });
});
