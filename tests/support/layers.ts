/**
 * Who may import whom, and who may touch what: the rules of `ARCHITECTURE.md`, as a function over one file's path and
 * text, so that the test can try it on planted mistakes.
 */

import { posix } from "node:path";

/** A folder imports from those after it; the two of one rank do not import each other. */
const RANKS: readonly (readonly string[])[] = [
  ["main.ts"],
  ["cli"],
  ["server"],
  ["catalog"],
  ["engine"],
  ["drivers", "kv"],
  ["cache"],
  ["base"],
];

/** The folders, mostly one, that may import a package. */
const PACKAGES: ReadonlyMap<string, string | readonly string[]> = new Map<string, string | readonly string[]>(
  [
    ["lmdb", "kv/lmdb/"],
    ["pg", "kv/postgres/"],
    ["@aws-sdk/client-dynamodb", "kv/dynamodb/"],
    ["yaml", "catalog/"],
    ["@msgpack/msgpack", "cache/local/"],
    ["hyparquet-writer", ["cli/tables/", "server/samples/"]],
    ["hono", "server/"],
    ["zod", "server/"],
    ["@rgrove/parse-xml", "server/gateway/"],
    ["hash-wasm", "server/gateway/payload/"],
  ],
);

/** What is loaded as a whole when it is needed: its files import packages as they please. */
const LOADED_LATE = ["server/"];

/** What stands in the text of a file only where it may. */
interface TextRule {
  readonly pattern: RegExp;
  readonly allowed: (path: string) => boolean;
  readonly says: string;
}

const RUNTIME_FILES = ["base/platform.ts", "server/listen.ts"];

const TEXT_RULES: readonly TextRule[] = [
  {
    pattern:
      /\bprocess\??\.env\b|\benv\s*\}\s*=\s*process\b|\{\s*env\b[^}]*\}\s*from\s*"node:process"|\bDeno\.env\b|\bimport\.meta\.env\b/,
    allowed: (path) => path === "cli/environment.ts",
    says: "only cli/environment.ts reads the environment",
  },
  {
    pattern: /(?<![.\w])Bun\s*(?:\.|\[)|\bglobalThis\b[^;\n]*\bBun\b|"bun(?::[^"]*)?"/,
    allowed: (path) => RUNTIME_FILES.includes(path),
    says: `Bun's own interfaces stand in ${RUNTIME_FILES.join(" and ")} alone`,
  },
  {
    pattern: /\bDate\.now\s*\(|\bnew Date\(\s*\)|\bperformance\.now\s*\(/,
    allowed: (path) => path === "base/clock.ts" || /^(?:cli|server)\//.test(path),
    says: "the time comes in through base/clock.ts",
  },
  {
    pattern:
      /\bMath\.random\s*\(|\brandomBytes\s*\(|\brandomFill\w*\s*\(|\brandomUUID\s*\(|\bgetRandomValues\s*\(/,
    allowed: (path) => path === "base/randomness.ts",
    says: "chance comes in through base/randomness.ts",
  },
  {
    pattern: /\bconsole\.\w+\s*\(|\bprocess\.(?:exit|exitCode|stdout|stderr)\b/,
    allowed: (path) => path === "main.ts" || /^(?:cli|server)\//.test(path),
    says: "nothing below the server prints or exits",
  },
  {
    pattern: /\bnew URL\s*\(|\bURL\.(?:parse|canParse)\s*\(/,
    allowed: (path) => /^server\//.test(path),
    says: "URIs are parsed by base/uri.ts, never by URL",
  },
];

/** Returns whether the rules speak about a file: the program's own code, not tests, what they share, or scripts. */
export function isProgramFile(path: string): boolean {
  return path.endsWith(".ts") && !/_test\.ts$|(?:^|\/)testing\.ts$|(?:^|\/)testdata\//.test(path) &&
    rankOf(path) >= 0;
}

/** Returns what a file does against the rules, one sentence each. `path` is relative to the project, with slashes. */
export function layerProblems(path: string, text: string): string[] {
  const code = withoutComments(text);
  const problems = importsOf(code).flatMap((asked) => importProblems(path, asked));
  for (const { pattern, allowed, says } of TEXT_RULES) {
    if (!allowed(path) && pattern.test(code)) problems.push(`${path}: ${says}`);
  }
  if (!RUNTIME_FILES.includes(path) && /\bimport\s*\(\s*(?!["'])/.test(code)) {
    problems.push(`${path}: imports what no reader can tell`);
  }
  if (/\brequire\s*\(|\bcreateRequire\b/.test(code)) problems.push(`${path}: uses require()`);
  return problems;
}

interface AskedImport {
  readonly specifier: string;
  readonly isDynamic: boolean;
}

function importsOf(code: string): AskedImport[] {
  const fixed = [
    ...code.matchAll(/(?:^|[;\s])(?:import|export)\s+(?:[^"';()]*?\sfrom\s*)?["']([^"']+)["']/g),
  ];
  const dynamic = [...code.matchAll(/\bimport\s*\(\s*["']([^"']+)["']/g)];
  return [
    ...fixed.map((match) => ({ specifier: match[1]!, isDynamic: false })),
    ...dynamic.map((match) => ({ specifier: match[1]!, isDynamic: true })),
  ];
}

function importProblems(path: string, { specifier, isDynamic }: AskedImport): string[] {
  if (specifier.startsWith("node:")) return [];
  if (!specifier.startsWith(".")) return packageProblems(path, { specifier, isDynamic });
  const target = posix.normalize(posix.join(posix.dirname(path), specifier));
  if (target === "package.json") return [];
  if (!target.endsWith(".ts")) return [`${path}: imports "${specifier}" without its extension`];
  if (!isProgramFile(target)) return [`${path}: imports ${target}, which is not part of the program`];
  return [
    ...orderProblems(path, target),
    ...engineProblems(path, target),
    ...driverProblems(path, { target, isDynamic }),
    ...serverProblems(path, target),
    ...lateProblems(path, { target, isDynamic }),
  ];
}

function packageProblems(path: string, { specifier, isDynamic }: AskedImport): string[] {
  const home = PACKAGES.get(specifier);
  if (home === undefined) return [`${path}: imports the package "${specifier}", which has no place`];
  const homes = [home].flat();
  if (!homes.some((folder) => path.startsWith(folder))) {
    return [`${path}: imports "${specifier}", which only ${homes.join(" and ")} may`];
  }
  const isLate = isDynamic || LOADED_LATE.some((folder) => path.startsWith(folder));
  return isLate ? [] : [`${path}: loads "${specifier}" before it is needed`];
}

/** The server is large, and most commands do without it. */
function lateProblems(
  path: string,
  { target, isDynamic }: { target: string; isDynamic: boolean },
): string[] {
  const isOutside = LOADED_LATE.some((folder) => target.startsWith(folder) && !path.startsWith(folder));
  // What a command's own file imports is loaded with it, and so is what only commands of the server share.
  if (!isOutside || isDynamic || path.startsWith("cli/commands/") || path === "cli/served_home.ts") return [];
  return [`${path}: loads ${target} before it is needed`];
}

function orderProblems(path: string, target: string): string[] {
  const own = topOf(path), other = topOf(target);
  if (own === other || rankOf(target) > rankOf(path)) return [];
  return [`${path}: imports ${target}, but ${own} is not above ${other}`];
}

/** Inside the engine the table format knows nothing of the rest; the engine knows contracts, not drivers. */
function engineProblems(path: string, target: string): string[] {
  if (topOf(path) !== "engine") return [];
  if (
    path.startsWith("engine/sstable/") && topOf(target) === "engine" && !target.startsWith("engine/sstable/")
  ) {
    return [`${path}: imports ${target}, but engine/sstable stands alone`];
  }
  if (isDriverFile(target)) return [`${path}: imports ${target}, but the engine knows no driver`];
  return [];
}

/** A driver is known to itself and, loaded when needed, to the registry. */
function driverProblems(
  path: string,
  { target, isDynamic }: { target: string; isDynamic: boolean },
): string[] {
  if (!isDriverFile(target) || folderOf(path) === folderOf(target) || topOf(path) === "engine") return [];
  if (path !== "catalog/registry.ts") {
    return [`${path}: imports ${target}, but only catalog/registry.ts picks drivers`];
  }
  return isDynamic ? [] : [`${path}: loads ${target} before it is needed`];
}

function serverProblems(path: string, target: string): string[] {
  if (topOf(path) !== "server" || !["engine", "catalog", "kv", "drivers"].includes(topOf(target))) return [];
  const seen = ["engine/mod.ts", "catalog/mod.ts", "drivers/store.ts", "drivers/object_store.ts"];
  if (seen.includes(target) || (path.startsWith("server/auth/") && target === "kv/store.ts")) return [];
  return [`${path}: imports ${target}, but the server sees faces and contracts only`];
}

/** `kv/lmdb/x.ts`, but not `kv/store.ts`. */
function isDriverFile(path: string): boolean {
  return /^(?:kv|drivers)\/[^/]+\//.test(path);
}

/** The folder of a driver: `kv/lmdb`. */
function folderOf(path: string): string {
  return path.split("/").slice(0, 2).join("/");
}

function topOf(path: string): string {
  return path.split("/")[0]!;
}

function rankOf(path: string): number {
  return RANKS.findIndex((folders) => folders.includes(topOf(path)));
}

/** Comments may name what code may not use. A line comment begins a line or follows a space, so that `lakefs://` stays. */
function withoutComments(text: string): string {
  return text.replace(/\/\*[\s\S]*?\*\//g, " ").replace(/(^|\s)\/\/[^\n]*/g, "$1");
}
