import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { canonicalNamespace, parseLocalNamespace } from "./namespace.ts";

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

describe("canonicalNamespace()", () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "tarn-namespace-")));
  after(() => rmSync(folder, { recursive: true }));
  const home = { root: join(folder, "home"), storage: join(folder, "home/storage") };
  for (const name of ["home/storage", "home/kv", "real"]) mkdirSync(join(folder, name), { recursive: true });
  symlinkSync(join(folder, "real"), join(folder, "link"));
  const canonical = (namespace: string) => canonicalNamespace(namespace, home);

  it("gives all spellings of a folder one form", () => {
    assert.equal(canonical(`local://${folder}/link/new/`), `local://${folder}/real/new`);
    assert.equal(canonical(`local://${folder}/re%61l/new`), `local://${folder}/real/new`);
    assert.equal(canonical(`local://${folder}/home/storage/x`), "local://x");
    assert.equal(canonical("local://x/"), "local://x");
    assert.equal(canonical("local://%78/y"), "local://x/y");
  });

  it("refuses what lies elsewhere in the home, or around it", () => {
    for (const place of ["home", "home/kv", "home/kv/x", "home/storage", "home/new", ""]) {
      assert.throws(
        () => canonical(`local://${folder}/${place}`),
        { code: "invalid_storage_namespace" },
        place,
      );
    }
  });
});
