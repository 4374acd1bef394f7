import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { parseLocalNamespace } from "./namespace.ts";

describe("parseLocalNamespace()", () => {
  it("tells absolute folders from those inside the home", () => {
    assert.deepEqual(parseLocalNamespace("local:///srv/data"), { isAbsolute: true, path: "/srv/data" });
    assert.deepEqual(parseLocalNamespace("local:///srv/my%20data/"), {
      isAbsolute: true,
      path: "/srv/my data",
    });
    assert.deepEqual(parseLocalNamespace("local://sales-1"), { isAbsolute: false, path: "sales-1" });
    assert.deepEqual(parseLocalNamespace("local://a/b"), { isAbsolute: false, path: "a/b" });
  });

  it("refuses every way out of the home, and what is no folder", () => {
    const bad = [
      "local://..",
      "local://../x",
      "local://a/../../x",
      "local://a/%2e%2e/x",
      "local://%2E%2E/x",
      "local://.",
      "local://a%2F..%2Fx",
      "local://a\\..\\x",
      "local:///srv/../etc",
      "local:///",
      "local://",
      "local:///a//b",
      "local://a//",
      "local://user@host/x",
      "local://a?at=branch:x",
      "local://a#b",
      "local://a\0b",
      "local://a%00b",
      "local://a%zz",
      "local:/srv/data",
      "/srv/data",
      "s3://bucket/x",
      "",
    ];
    for (const namespace of bad) {
      assert.throws(() => parseLocalNamespace(namespace), { code: "invalid_storage_namespace" }, namespace);
    }
  });
});
