import assert from "node:assert/strict";
import { test } from "node:test";
import { CodedError } from "../../base/errors.ts";
import { s3ErrorOf } from "./failures.ts";

test("a full disk is told as one, and without the server's folders", () => {
  for (const code of ["storage_full", "kv_full"]) {
    const { status, code: named, message } = s3ErrorOf(
      new CodedError("unavailable", code, "Cannot write /srv/x"),
    );
    assert.deepEqual([status, named], [503, "ServiceUnavailable"]);
    assert.match(message, /no room left/);
    assert.doesNotMatch(message, /srv/);
  }
  const other = s3ErrorOf(new CodedError("unavailable", "storage_unavailable", "Cannot write /srv/x"));
  assert.equal(other.message, "Please reduce your request rate");
});
