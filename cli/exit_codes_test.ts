import assert from "node:assert/strict";
import { it } from "node:test";
import { CodedError } from "../base/errors.ts";
import { exitCodeOf } from "./exit_codes.ts";

it("exitCodeOf() goes by the kind, and by the code where that says more", () => {
  assert.equal(exitCodeOf(new CodedError("invalid", "invalid_uri", "")), 2);
  assert.equal(exitCodeOf(new CodedError("conflict", "merge_conflict", "")), 4);
  assert.equal(exitCodeOf(new CodedError("corrupt", "corrupt_file", "")), 10);
  assert.equal(exitCodeOf(new CodedError("invalid", "no_changes", "")), 6);
  assert.equal(exitCodeOf(new CodedError("invalid", "nothing_to_merge", "")), 6);
  assert.equal(exitCodeOf(new CodedError("canceled", "canceled", "")), 130);
  assert.equal(exitCodeOf(new TypeError("a bug")), 70);
});
