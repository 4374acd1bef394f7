import assert from "node:assert/strict";
import test from "node:test";
import { CodedError, isCoded } from "../../base/errors.ts";
import { attempt, attemptAsync, errnoOf, translated } from "./failures.ts";

function fileError(code: string): Error {
  return Object.assign(new Error(`${code}: open '/srv/private/place'`), { code, syscall: "open" });
}

function kindOf(code: string, action: "put" | "read" | "flush"): string {
  const error = translated(fileError(code), { action, key: "data/x" });
  assert.ok(isCoded(error));
  return `${error.kind} ${error.code}`;
}

test("each error of the operating system becomes one of ours", () => {
  for (const code of ["ENOSPC", "EDQUOT", "EFBIG"]) {
    assert.equal(kindOf(code, "put"), "unavailable storage_full");
  }
  for (const code of ["EACCES", "EPERM", "EROFS"]) {
    assert.equal(kindOf(code, "put"), "forbidden storage_forbidden");
  }
  for (const code of ["EMFILE", "ENFILE", "EIO", "ESTALE", "EXYZ"]) {
    assert.equal(kindOf(code, "flush"), "unavailable storage_unavailable");
  }
  for (const code of ["ENOENT", "ENOTDIR", "EISDIR", "ELOOP"]) {
    assert.equal(kindOf(code, "read"), "not_found object_not_found");
  }
  for (const code of ["ENOTDIR", "EISDIR", "ENAMETOOLONG", "EILSEQ"]) {
    assert.equal(kindOf(code, "put"), "invalid unplaceable_key");
  }
  assert.equal(kindOf("ENOENT", "put"), "unavailable storage_unavailable");
});

test("a message names the key and no path of this machine", () => {
  for (const code of ["ENOSPC", "EACCES", "ENOENT", "EIO", "ENAMETOOLONG"]) {
    const error = translated(fileError(code), { action: "put", key: "data/x" }) as CodedError;
    assert.match(error.message, /"data\/x"/);
    assert.doesNotMatch(error.message, /srv|private/);
    assert.doesNotMatch(JSON.stringify(error.details), /srv|private/);
    assert.equal((error.cause as Error).message, `${code}: open '/srv/private/place'`);
  }
});

test("what is no error of the operating system passes through", async () => {
  const coded = new CodedError("exists", "object_exists", "Exists");
  const bug = new TypeError("a bug");
  const what = { action: "put", key: "x" } as const;
  for (const error of [coded, bug, "text", Object.assign(new Error("x"), { code: "ERR_ODD" })]) {
    assert.equal(translated(error, what), error);
    assert.throws(() =>
      attempt(what, () => {
        throw error;
      }), (thrown) => thrown === error);
    await assert.rejects(
      attemptAsync(what, async () => {
        throw error;
      }),
      (thrown) => thrown === error,
    );
  }
  assert.equal(errnoOf(coded), undefined);
  assert.equal(errnoOf(fileError("ENOENT")), "ENOENT");
});
