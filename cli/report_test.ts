import assert from "node:assert/strict";
import { it } from "node:test";
import { CodedError } from "../base/errors.ts";
import { describeError } from "./report.ts";

const TEXT = { json: false, debug: false };
const JSON_FORM = { json: true, debug: false };

it("describeError() says what failed on one line and the way out on the next", () => {
  const error = new CodedError("not_found", "repository_not_found", 'Cannot find repository "a\nb"');
  const lines = describeError(error, TEXT).split("\n");
  assert.equal(lines[0], 'tarn: Cannot find repository "a\\nb"');
  assert.match(lines[1]!, /^ {2}"tarn repo list"/);
  assert.equal(lines.length, 3);
});

it("describeError() ends the lines of a terminal between words", () => {
  const error = new CodedError(
    "not_found",
    "repository_not_found",
    'Cannot find repository "abc": there is none',
  );
  const lines = describeError(error, { ...TEXT, columns: 30, color: true }).trimEnd().split("\n");
  assert.deepEqual(lines.slice(0, 4), [
    "\x1b[31mtarn:\x1b[0m Cannot find repository",
    '      "abc": there is none',
    '  "tarn repo list" shows the',
    '  repositories, "tarn repo',
  ]);
});

it("describeError() gives one JSON object with kind, code, message and hint", () => {
  const error = new CodedError("invalid", "invalid_argument", "Cannot x", { details: { suggestion: "put" } });
  assert.deepEqual(JSON.parse(describeError(error, JSON_FORM)), {
    kind: "invalid",
    code: "invalid_argument",
    message: "Cannot x",
    hint: 'Did you mean "put"?',
    details: { suggestion: "put" },
  });
});

it("describeError() shows a bug as internal, on one line, its stack only when asked", () => {
  const bug = new TypeError("x is not a function\nsecond line");
  const text = describeError(bug, TEXT);
  assert.match(text, /^tarn: Unexpected failure: x is not a function\n/);
  assert.doesNotMatch(text, /second line|\n +at /);
  assert.match(describeError(bug, { json: false, debug: true }), /report_test/);
  assert.equal(JSON.parse(describeError(bug, JSON_FORM)).kind, "internal");
});

it("describeError() lists conflicts by path, and says how many more there are", () => {
  const stats = {
    path: "a",
    physicalAddress: "local://x",
    checksum: "c",
    sizeBytes: 1,
    mtimeMs: 2000,
    metadata: {},
    contentType: "t",
  };
  const error = new CodedError("conflict", "merge_conflict", "Cannot merge", {
    details: { count: 3, conflicts: [{ path: "a", base: stats }, { path: "b\u202e" }] },
  });
  const lines = describeError(error, TEXT).split("\n");
  assert.deepEqual(lines.slice(2, 5), ["  conflict: a", "  conflict: b\\u{202e}", "  and 1 more"]);
  const { details } = JSON.parse(describeError(error, JSON_FORM));
  assert.equal(details.conflicts[0].base.size_bytes, 1);
  assert.equal(details.conflicts[1].source, null);
});
