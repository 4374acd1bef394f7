import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { it } from "node:test";
import { fileURLToPath } from "node:url";
import { CodedError, type ErrorKind } from "../base/errors.ts";
import { exitCodeOf } from "./exit_codes.ts";
import { HINTED_CODES } from "./hints.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDERS = ["base", "cache", "catalog", "cli", "drivers", "engine", "kv", "server"];
const KINDS =
  "invalid|unauthenticated|forbidden|not_found|gone|exists|conflict|precondition|throttled|unavailable|" +
  "unsupported|corrupt|canceled|internal";
/** A kind with the code behind it, as errors are made: two arguments, two elements, or two fields. */
const KIND_AND_CODE = new RegExp(`"(${KINDS})",\\s*(?:code: )?(?:"([a-z0-9_]+)"|\`([^\`]+)\`)`, "g");

/** The codes that the source makes, as `code kind`. */
function codesInSource(): Set<string> {
  const codes = new Set<string>();
  // Folders that hold nothing yet are not part of a clone.
  for (const folder of FOLDERS.filter((name) => existsSync(join(ROOT, name)))) {
    for (const name of readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })) {
      if (!name.endsWith(".ts") || name.endsWith("_test.ts")) continue;
      const source = readFileSync(join(ROOT, folder, name), "utf8");
      for (const [, kind, code, template] of source.matchAll(KIND_AND_CODE)) {
        for (const each of code ? [code] : expanded(template!)) codes.add(`${each} ${kind}`);
      }
    }
  }
  return codes;
}

/** Codes that are put together from the kind of a ref. */
function expanded(template: string): string[] {
  const codes = ["branch", "tag"].map((kind) => template.replace(/\$\{\w+\}/, kind));
  return codes.filter((code) => /^[a-z0-9_]+$/.test(code));
}

interface Described {
  readonly code: string;
  readonly kind: ErrorKind;
  readonly exit: number;
}

function described(): Described[] {
  const page = readFileSync(join(ROOT, "docs", "errors.md"), "utf8");
  return [...page.matchAll(/^\| `([a-z0-9_]+)` +\| (\w+) +\| +(\d+) \| [^|]+ \| [^|]+ \|$/gm)].map(
    ([, code, kind, exit]) => ({ code: code!, kind: kind as ErrorKind, exit: Number(exit) }),
  );
}

it("docs/errors.md describes exactly the codes that the source makes, with their kinds", () => {
  const inSource = [...codesInSource()].sort();
  const onPage = described().map(({ code, kind }) => `${code} ${kind}`).sort();
  assert.ok(inSource.length > 50);
  assert.deepEqual(onPage, inSource);
});

it("docs/errors.md says the exit code that each error ends with", () => {
  for (const { code, kind, exit } of described()) {
    assert.equal(exitCodeOf(new CodedError(kind, code, "")), exit, code);
  }
});

it("hints belong to codes that exist", () => {
  const known = new Set(described().map(({ code }) => code));
  for (const code of HINTED_CODES) assert.ok(known.has(code), code);
});
