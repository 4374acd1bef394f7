/**
 * Makes lmdb-js run inside the executable: its native part is embedded as a plain file that `kv/lmdb/native.ts` puts
 * on disk and loads, and nothing of it is looked for beside the program.
 *
 * Each replacement must find exactly what it replaces; a new version of the package that looks otherwise stops the build.
 */

import { Buffer } from "node:buffer";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { isElf, withoutDebugging } from "./elf.ts";
import { withSmallerBuffer } from "./lmdb_buffer.ts";

/** The one library whose code is changed: that of the platform on which all tests run. */
const RUN_HERE = "lmdb-linux-x64/node.napi.glibc.node";

/** The part of Bun's plugin interface that is used. */
interface Build {
  onResolve(
    options: { filter: RegExp },
    callback: (asked: { path: string; importer: string }) => { path: string; namespace?: string } | undefined,
  ): void;
  onLoad(
    options: { filter: RegExp; namespace?: string },
    callback: (asked: { path: string }) => { contents: string; loader: "js" | "ts" },
  ): void;
}

export interface Plugin {
  readonly name: string;
  setup(build: Build): void;
}

const VIRTUAL = "tarn-build";
const UNUSED = /^(ordered-binary|weak-lru-cache|@harperfast\/extended-iterable)$/;

/** Returns the plugin for a native part that lies at `native`; `work` is a folder for what the build makes of it. */
export function lmdbPlugin(root: string, { native, work }: { native: string; work: string }): Plugin {
  const lmdb = join(root, "node_modules", "lmdb");
  const { path: embedded, name, sha256 } = embeddedFile(lmdb, { native, work });
  return {
    name: "lmdb",
    setup(build) {
      // The package's CommonJS form asks for its native part by a call that can be answered here.
      build.onResolve({ filter: /^lmdb$/ }, () => ({ path: join(lmdb, "dist", "index.cjs") }));
      build.onLoad({ filter: /[\\/]lmdb[\\/]dist[\\/]index\.cjs$/ }, ({ path }) => ({
        contents: patchedPackage(lmdb, readFileSync(path, "utf8")),
        loader: "js",
      }));
      build.onResolve({ filter: /^node-gyp-build-optional-packages$/ }, () => virtual("loader"));
      // Encodes values where none is told to be bytes. All of ours are, and loading it takes two milliseconds.
      build.onResolve({ filter: /^msgpackr$/ }, () => virtual("encoder"));
      // Of these, what we do not use: other keys than bytes, caches, ways to walk. They would take half a millisecond.
      build.onResolve({ filter: UNUSED }, () => virtual("unused"));
      build.onLoad({ filter: /^loader$/, namespace: VIRTUAL }, () => ({
        contents: `module.exports = require(${
          JSON.stringify(join(root, "kv", "lmdb", "native.ts"))
        }).loadedNative;`,
        loader: "js",
      }));
      build.onLoad({ filter: /^encoder$/, namespace: VIRTUAL }, () => ({
        contents: `exports.Encoder = class { constructor() { throw new Error("values are bytes"); } };`,
        loader: "js",
      }));
      build.onLoad({ filter: /^unused$/, namespace: VIRTUAL }, () => ({
        contents: `exports.enableNullTermination = () => {};
          exports.WeakLRUCache = exports.ExtendedIterable = class {
            constructor() { throw new Error("left out of the executable"); }
          };`,
        loader: "js",
      }));
      build.onLoad({ filter: /[\\/]kv[\\/]lmdb[\\/]embedded\.ts$/ }, () => ({
        contents: `import path from ${JSON.stringify(embedded)} with { type: "file" };
          export const embeddedNative = { path, ...${JSON.stringify({ name, sha256 })} };`,
        loader: "js",
      }));
    },
  };
}

function virtual(path: string): { path: string; namespace: string } {
  return { path, namespace: VIRTUAL };
}

/** Writes the native part as it is embedded, under a name that tells its content apart. */
function embeddedFile(
  lmdb: string,
  { native, work }: { native: string; work: string },
): { path: string; name: string; sha256: string } {
  const library = withShorterMessages(withoutDebugging(readFileSync(native)));
  const content = native.endsWith(RUN_HERE) ? withSmallerBuffer(library) : library;
  const { version } = JSON.parse(readFileSync(join(lmdb, "package.json"), "utf8")) as { version: string };
  const sha256 = createHash("sha256").update(content).digest("hex");
  const name = `lmdb-${version}-${sha256.slice(0, 16)}`;
  mkdirSync(work, { recursive: true });
  // Not called ".node": that would make Bun unpack and load it in its own way.
  const path = join(work, `${name}.embedded`);
  writeFileSync(path, content);
  return { path, name: `${name}.node`, sha256 };
}

/**
 * What LMDB says of a write that failed, as on a full disk. The first it prints, by itself and without an end of line, into the
 * middle of what we say. The second goes into memory of 100 bytes, and with numbers that were never set it does not fit: the
 * process then ends in the middle of something else. It is cut off where it still fits.
 */
const WRITE_MESSAGES = [
  { text: "Write error: %s position %u, size %u\0", keep: 0 },
  {
    text: "Attempting to write page at position %u, size %u, blocks %u, buffer sizes %i %i %i\0",
    keep: "Attempting to write page at position %u, size %u".length,
  },
];

/** Shortens those messages. Libraries of macOS are signed and must stay as they are; Windows' have none of them. */
function withShorterMessages(library: Uint8Array): Uint8Array {
  if (!isElf(library)) return library;
  const content = Buffer.from(library);
  for (const { text, keep } of WRITE_MESSAGES) {
    const at = content.indexOf(text);
    if (at < 0 || content.indexOf(text, at + 1) >= 0) {
      throw new Error(`lmdb is not as expected: "${text.slice(0, -1)}" was not found once`);
    }
    content[at + keep] = 0;
  }
  return content;
}

/** How the package's bundler spells "the URL of this file". */
const OWN_URL =
  "(typeof document === 'undefined' ? new (require('u' + 'rl').URL)('file:' + __filename).href : " +
  "(document.currentScript && document.currentScript.tagName.toUpperCase() === 'SCRIPT' && " +
  "document.currentScript.src || new URL('index.cjs', document.baseURI).href))";

function patchedPackage(lmdb: string, source: string): string {
  // Where the package lay when it was built is no place to look for anything.
  const placeless = replaced(source, OWN_URL, { times: 3, by: "'file:///lmdb/dist/index.cjs'" });
  const dictionary = readFileSync(join(lmdb, "dict", "dict.txt")).toString("base64");
  const reading = /fs\.readFileSync\(\s*new URL\(\s*'\.\/dict\/dict\.txt',\n[^\n]*\n\s*\),\s*\)/g;
  return replaced(placeless, reading, {
    times: 1,
    by: `Buffer.from(${JSON.stringify(dictionary)}, "base64")`,
  });
}

function replaced(
  source: string,
  what: string | RegExp,
  { times, by }: { times: number; by: string },
): string {
  const parts = source.split(what);
  if (parts.length !== times + 1) {
    throw new Error(`lmdb is not as expected: ${what} was found ${parts.length - 1} times, not ${times}`);
  }
  return parts.join(by);
}
