import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { formatLock, parseLock } from "./lock_file.ts";

const A = "a".repeat(64), B = "b".repeat(64);

const TEXT = `# Made by "tarn pin --write"; "tarn fetch --locked" fetches exactly this.
tarn-lock 1

uri data://acme/sales/a
pin lakefs://acme-sales/4f0c/a
file ${A} 0

uri data://acme/sales/t
pin lakefs://acme-sales/4f0c/t
file ${A} 3 %0A%20b
file ${B} 12 B
file ${A} 3 a/b%25c
file ${A} 5 \u{ff5e}
file ${A} 4 \u{1f600}
`.replace("\u{ff5e}", "%EF%BD%9E").replace("\u{1f600}", "%F0%9F%98%80");

const URIS = [
  {
    uri: "data://acme/sales/t",
    pinned: "lakefs://acme-sales/4f0c/t",
    files: [
      { path: "a/b%c", sha256: A, sizeBytes: 3 },
      { path: "\u{1f600}", sha256: A, sizeBytes: 4 },
      { path: "\n b", sha256: A, sizeBytes: 3 },
      { path: "B", sha256: B, sizeBytes: 12 },
      { path: "\u{ff5e}", sha256: A, sizeBytes: 5 },
    ],
  },
  {
    uri: "data://acme/sales/a",
    pinned: "lakefs://acme-sales/4f0c/a",
    files: [{ path: "", sha256: A, sizeBytes: 0 }],
  },
];

describe("lock files", () => {
  it("are the same text whatever order things come in, one line a file, sorted by bytes", () => {
    assert.equal(formatLock(URIS), TEXT);
    assert.equal(
      formatLock([...URIS].reverse().map((uri) => ({ ...uri, files: [...uri.files].reverse() }))),
      TEXT,
    );
    assert.equal(formatLock(parseLock(TEXT, "tarn.lock")), TEXT);
    assert.equal(formatLock(parseLock(TEXT.replaceAll("\n", "\r\n"), "tarn.lock")), TEXT);
  });

  it("of nothing are lock files", () => {
    assert.deepEqual(parseLock(formatLock([]), "tarn.lock"), []);
  });

  const block = "tarn-lock 1\nuri data://a/b\npin files://b\n";
  const refused: readonly (readonly [text: string, says: RegExp])[] = [
    ["", /line 1: it is empty/],
    ["<<<<<<< HEAD\n", /line 1: it does not begin with "tarn-lock 1"/],
    ["tarn-lock 2\n", /line 1: it does not begin/],
    ["tarn-lock 1\nuri data://a/b\n", /"data:\/\/a\/b" has no pin/],
    ["tarn-lock 1\npin data://a/b\n", /line 2: a pin stands before the first URI/],
    [`tarn-lock 1\nfile ${A} 1\n`, /line 2: a file stands before/],
    ["tarn-lock 1\nuri nonsense\n", /line 2: Cannot parse URI "nonsense"/],
    [`${block}pin files://c\n`, /line 4: "data:\/\/a\/b" has two pins/],
    [`${block}uri data://a/%62\n`, /line 4: "data:\/\/a\/b" is there twice/],
    [`${block}=======\n`, /line 4: "=======" is not known/],
    [`${block}file ${A}\n`, /line 4: a file is its SHA-256, its size and its path/],
    [`${block}file ${A} -1 x\n`, /line 4/],
    [`${block}file ${A.toUpperCase()} 1 x\n`, /line 4/],
    [`${block}file ${A} 1 a b\n`, /line 4/],
    [`${block}file ${A} 1 %zz\n`, /line 4/],
    [`${block}file ${A} 99999999999999999 x\n`, /line 4/],
    [`${block}file ${A} 1 b\nfile ${A} 1 a\n`, /line 5: its files are not sorted/],
    [`${block}file ${A} 1 a\nfile ${B} 1 a\n`, /line 5: its files are not sorted/],
    [`${block}file ${A} 1\nfile ${B} 1 a\n`, /line 5: its files are not sorted/],
  ];
  for (const [text, says] of refused) {
    it(`that are none are refused by their line: ${JSON.stringify(text.replace(block, "… ").slice(0, 40))}`, () => {
      assert.throws(() => parseLock(text, "tarn.lock"), (error: { code: string; message: string }) => {
        assert.equal(error.code, "invalid_lock_file");
        assert.match(error.message, /^Cannot use the lock file "tarn.lock"/);
        assert.match(error.message, says);
        return true;
      });
    });
  }
});
