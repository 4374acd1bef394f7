import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  keyLocation,
  nameOf,
  objectLocation,
  objectUri,
  otherRef,
  parseLocation,
  refLocation,
  repositoryLocation,
} from "./locations.ts";

describe("parseLocation()", () => {
  it("takes the first segment as the ref and the rest as the key", () => {
    assert.deepEqual(parseLocation("lakefs://repo/main~2/a/b.txt"), {
      text: "lakefs://repo/main~2/a/b.txt",
      repository: "repo",
      ref: "main~2",
      key: "a/b.txt",
    });
  });

  it("decodes every segment once, the ref included", () => {
    const { ref, key } = parseLocation("lakefs://repo/feature%2Fx/a%2520b/c%2Fd");
    assert.deepEqual([ref, key], ["feature/x", "a%20b/c/d"]);
  });

  it("keeps slashes of a key as they are, and takes an empty key for none", () => {
    assert.equal(parseLocation("lakefs://repo/main//a").key, "/a");
    assert.equal(parseLocation("lakefs://repo/main/a/").key, "a/");
    assert.equal(parseLocation("lakefs://repo/main/a//b").key, "a//b");
    assert.equal(parseLocation("lakefs://repo/main/").key, undefined);
    assert.equal(parseLocation("lakefs://repo/").ref, undefined);
    assert.equal(parseLocation("lakefs://").repository, undefined);
  });

  it("reads a selector in place of the ref, but ts:TIME beside it", () => {
    const branch = parseLocation("lakefs://repo/a/b?at=branch:feature/x");
    assert.deepEqual([branch.ref, branch.key, branch.at], [undefined, "a/b", {
      kind: "branch",
      value: "feature/x",
    }]);
    const time = parseLocation("lakefs://repo/main/a?at=ts:2026-01-01");
    assert.deepEqual([time.ref, time.key], ["main", "a"]);
    const other = parseLocation("lakefs://repo/a?at=ts:main@2026-01-01");
    assert.deepEqual([other.ref, other.key], [undefined, "a"]);
  });

  it("refuses what is no URI of ours", () => {
    const codes: Record<string, string> = {
      "a.txt": "invalid_uri",
      "lakefs:/repo/main": "invalid_uri",
      "LAKEFS://repo": "invalid_uri",
      "s3://bucket/key": "unknown_scheme",
      "lakefs:///main/a": "invalid_uri",
      "lakefs://repo//a": "invalid_uri",
      "lakefs://repo/main/a%zz": "invalid_uri",
      "lakefs://repo/main/a?b": "invalid_uri",
      "lakefs://repo/main/a#b": "invalid_uri",
    };
    for (const [text, code] of Object.entries(codes)) {
      assert.throws(() => parseLocation(text), { code }, text);
    }
  });
});

describe("what a verb needs of a URI", () => {
  it("is said with the right form when it is missing", () => {
    assert.throws(() => objectLocation("lakefs://repo/main", undefined), {
      message: /lakefs:\/\/REPO\/REF\/KEY$/,
    });
    assert.throws(() => refLocation("lakefs://repo"), { message: /names no branch.*lakefs:\/\/REPO\/REF$/ });
    assert.throws(() => refLocation("lakefs://repo?at=ts:2026-01-01"), { code: "invalid_uri" });
    assert.throws(() => repositoryLocation("lakefs://repo/main"), { message: /lakefs:\/\/REPO$/ });
    assert.throws(() => repositoryLocation("lakefs://"), { code: "invalid_uri" });
  });

  it("is not more than that: a key where a ref is meant is refused", () => {
    assert.throws(() => refLocation("lakefs://repo/feature/x"), { message: /%2F/ });
    assert.equal(refLocation("lakefs://repo/main/").ref, "main");
  });

  it("may get its key undecoded, beside a URI without one", () => {
    assert.equal(objectLocation("lakefs://repo/main", "a%20b?#").key, "a%20b?#");
    assert.throws(() => keyLocation("lakefs://repo/main/x", "a"), { code: "invalid_uri" });
    assert.throws(() => keyLocation("lakefs://repo/main", ""), { code: "invalid_uri" });
  });
});

it("otherRef() takes a ref or a URI of the same repository", () => {
  const location = refLocation("lakefs://repo/main");
  assert.equal(otherRef("feature/x~2", location).ref, "feature/x~2");
  assert.equal(otherRef("lakefs://repo/dev", location).ref, "dev");
  assert.throws(() => otherRef("lakefs://another/dev", location), { code: "different_repositories" });
});

it("nameOf() reads a new name from the path or from the selector of its kind", () => {
  assert.equal(nameOf(refLocation("lakefs://repo/a%2Fb"), "branch"), "a/b");
  assert.equal(nameOf(refLocation("lakefs://repo?at=tag:v1"), "tag"), "v1");
  assert.throws(() => nameOf(refLocation("lakefs://repo?at=tag:v1"), "branch"), { code: "invalid_uri" });
});

it("objectUri() parses back to the same, whatever is in the key", () => {
  for (const key of ["a b+%.txt", "?at=x", "#", "é\n😀", "/x", "a//b/", "..", "\u0001", "a@b:c"]) {
    const { repository, ref, key: back } = parseLocation(objectUri("repo", "feature/x", key));
    assert.deepEqual([repository, ref, back], ["repo", "feature/x", key]);
  }
});
