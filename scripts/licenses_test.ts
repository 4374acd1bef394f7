import assert from "node:assert/strict";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { gatherLicenses } from "./licenses.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

test("gatherLicenses() finds a text for everything that is in the executable", () => {
  const licenses = gatherLicenses(ROOT);
  assert.match(licenses[0]!.name, /^tarn /);
  const expected: readonly [name: RegExp, text: RegExp][] = [
    [/^tarn /, /Apache License/],
    [/^Bun /, /LGPL/],
    [/^lmdb /, /MIT/],
    [/^LMDB$/, /OpenLDAP Public License/],
    [/^LZ4$/, /Yann Collet/],
    [/^hyparquet-writer /, /Permission is hereby granted/],
    [/^weak-lru-cache /, /Permission is hereby granted/],
    [/^@harperfast\/extended-iterable /, /Apache/],
  ];
  for (const [name, text] of expected) {
    const found = licenses.find((license) => name.test(license.name));
    assert.ok(found, `${name}`);
    assert.match(found.text, text, found.name);
  }
  for (const { name, license, text } of licenses) assert.ok(license !== "" && text.length > 200, name);
});
