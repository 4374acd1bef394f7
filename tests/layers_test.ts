import assert from "node:assert/strict";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join, sep } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { isProgramFile, layerProblems } from "./support/layers.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const FOLDERS = ["base", "cache", "catalog", "cli", "drivers", "engine", "kv", "server"];

function programFiles(): string[] {
  // Folders that hold nothing yet are not part of a clone.
  const inside = FOLDERS.filter((folder) => existsSync(join(ROOT, folder))).flatMap((folder) =>
    readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" }).map((path) => join(folder, path))
  );
  return ["main.ts", ...inside].map((path) => path.replaceAll(sep, "/")).filter(isProgramFile).sort();
}

test("every file imports only what stands below it", () => {
  const files = programFiles();
  assert.ok(files.length > 30, "the program's files were found");
  assert.deepEqual(files.flatMap((path) => layerProblems(path, readFileSync(join(ROOT, path), "utf8"))), []);
});

test("no file of the program stands outside the known folders", () => {
  const known = [...FOLDERS, "bench", "dist", "docs", "node_modules", "scripts", "tests"];
  const folders = readdirSync(ROOT, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith("."))
    .map((entry) => entry.name);
  assert.deepEqual(folders.filter((folder) => !known.includes(folder)), []);
});

const ALLOWED: readonly [path: string, text: string][] = [
  ["main.ts", `import { main } from "./cli/main.ts";`],
  ["cli/run.ts", `const { openHomeStore } = await import("../catalog/registry.ts");`],
  ["catalog/registry.ts", `const { openLmdb } = await import("../kv/lmdb/mod.ts");`],
  [
    "engine/refs/refs.ts",
    `import type { KvStore } from "../../kv/store.ts";\nimport { compareBytes } from "../../base/bytes.ts";`,
  ],
  ["engine/sstable/reader.ts", `import { x } from "./format.ts";\nimport { y } from "../../base/hashes.ts";`],
  ["kv/lmdb/vendor.ts", `const lmdb = await import("lmdb");`],
  [
    "kv/lmdb/lmdb.ts",
    `import { scanRange } from "../scan_range.ts";\nimport { kvError } from "./errors.ts";`,
  ],
  [
    "drivers/file/reading.ts",
    `import type { ObjectStore } from "../object_store.ts";\nimport { join } from "node:path";`,
  ],
  ["cli/environment.ts", `export const home = process.env["HOME"];`],
  ["base/platform.ts", `const bun = (globalThis as { Bun?: unknown }).Bun;`],
  ["base/clock.ts", `export const now = () => Date.now();`],
  ["server/auth/users.ts", `import type { KvStore } from "../../kv/store.ts";`],
  ["server/app.ts", `import { Hono } from "hono";`],
  ["cli/commands/serve.ts", `import { startServer } from "../../server/mod.ts";`],
  [
    "engine/mod.ts",
    `// Bun.serve and process.env are named here\n/* console.log() */ const uri = "lakefs://repo";`,
  ],
  ["cli/output.ts", `const bundle = "a bun.sh"; console.log(bundle);`],
];

test("what the rules allow is let through", () => {
  for (const [path, text] of ALLOWED) assert.deepEqual(layerProblems(path, text), [], path);
});

const PLANTED: readonly [path: string, text: string, says: RegExp][] = [
  ["base/bytes.ts", `import { x } from "../kv/store.ts";`, /base is not above kv/],
  ["cache/local.ts", `import { x } from "../engine/mod.ts";`, /cache is not above engine/],
  [
    "kv/limits.ts",
    `import type { ObjectStore } from "../drivers/object_store.ts";`,
    /kv is not above drivers/,
  ],
  ["drivers/store.ts", `export * from "../kv/store.ts";`, /drivers is not above kv/],
  ["engine/store.ts", `import { Catalog } from "../catalog/mod.ts";`, /engine is not above catalog/],
  ["catalog/mod.ts", `import { main } from "../cli/main.ts";`, /catalog is not above cli/],
  ["server/mod.ts", `import {\n  a,\n  b,\n} from "../cli/output.ts";`, /server is not above cli/],
  ["cli/run.ts", `import "../main.ts";`, /cli is not above main\.ts/],
  ["engine/mod.ts", `const x = await import("../server/mod.ts");`, /engine is not above server/],
  ["engine/mod.ts", `import { openMemoryKv } from "../kv/memory/mod.ts";`, /the engine knows no driver/],
  ["engine/mod.ts", `const x = await import("../drivers/file/mod.ts");`, /the engine knows no driver/],
  ["engine/sstable/reader.ts", `import { x } from "../refs/mod.ts";`, /engine\/sstable stands alone/],
  [
    "cli/run.ts",
    `const { openLmdb } = await import("../kv/lmdb/mod.ts");`,
    /only catalog\/registry\.ts picks drivers/,
  ],
  [
    "kv/lmdb/lmdb.ts",
    `import { openMemoryKv } from "../memory/mod.ts";`,
    /only catalog\/registry\.ts picks drivers/,
  ],
  ["catalog/registry.ts", `import { openLmdb } from "../kv/lmdb/mod.ts";`, /before it is needed/],
  ["kv/lmdb/vendor.ts", `import { open } from "lmdb";`, /before it is needed/],
  ["kv/memory/mod.ts", `const lmdb = await import("lmdb");`, /only kv\/lmdb\/ may/],
  ["cli/output.ts", `import chalk from "chalk";`, /has no place/],
  ["cli/run.ts", `import { startServer } from "../server/mod.ts";`, /before it is needed/],
  ["server/api/refs.ts", `import { x } from "../../engine/refs/mod.ts";`, /faces and contracts only/],
  ["server/api/refs.ts", `import type { KvStore } from "../../kv/store.ts";`, /faces and contracts only/],
  ["engine/mod.ts", `import { x } from "./store";`, /without its extension/],
  ["engine/mod.ts", `import { x } from "../tests/support/golden.ts";`, /not part of the program/],
  ["engine/mod.ts", `import { x } from "./mod_test.ts";`, /not part of the program/],
  ["cli/run.ts", `import { x } from "./testing.ts";`, /not part of the program/],
  ["catalog/mod.ts", `const x = await import(name);`, /no reader can tell/],
  ["kv/lmdb/native.ts", `const require = createRequire(import.meta.url);`, /uses require/],
  ["catalog/home.ts", `const home = process.env["HOME"];`, /reads the environment/],
  ["cli/output.ts", `const { env } = process;`, /reads the environment/],
  ["cli/output.ts", `import { env } from "node:process";`, /reads the environment/],
  ["drivers/file/reading.ts", `const file = Bun.file(path);`, /Bun's own interfaces/],
  ["drivers/file/reading.ts", `const bun = (globalThis as any).Bun;`, /Bun's own interfaces/],
  ["cli/main.ts", `import { serve } from "bun";`, /Bun's own interfaces/],
  ["kv/lmdb/native.ts", `import { dlopen } from "bun:ffi";`, /Bun's own interfaces/],
  ["engine/operations/commit.ts", `const now = Date.now();`, /time comes in/],
  ["engine/operations/commit.ts", `const now = new Date();`, /time comes in/],
  ["engine/operations/commit.ts", `const token = randomBytes(16);`, /chance comes in/],
  ["kv/lmdb/lmdb.ts", `console.warn("slow");`, /prints or exits/],
  ["engine/mod.ts", `process.exit(1);`, /prints or exits/],
  ["catalog/namespace.ts", `const url = new URL(text);`, /never by URL/],
];

test("each planted mistake is seen", () => {
  for (const [path, text, says] of PLANTED) {
    const problems = layerProblems(path, `/** A file. */\n\n${text}\n\nexport const one = 1;\n`);
    assert.ok(
      problems.some((problem) => says.test(problem)),
      `${path}: ${text} gave ${JSON.stringify(problems)}`,
    );
  }
});
