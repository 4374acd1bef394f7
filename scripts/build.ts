/**
 * Builds the executable: `bun scripts/build.ts [--target NAME]…`, from the project's folder. Without a target it is
 * `dist/tarn` for this platform, else `dist/tarn-NAME`.
 *
 * Bytecode makes it start in half the time, and chunks that are loaded when they are first needed save a third of the rest:
 * a single one costs by its size, whatever is run of it. Files that lie in a user's working folder (`.env`, `bunfig.toml` and
 * others) are not read by it.
 */

import { mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { gatherLicenses } from "./licenses.ts";
import { lmdbPlugin, type Plugin } from "./lmdb_plugin.ts";
import { packageFile } from "./packages.ts";
import { findTarget, hostTarget, type Target, TARGET_NAMES } from "./targets.ts";

interface BuildOptions {
  readonly entrypoints: readonly string[];
  readonly plugins: readonly Plugin[];
  readonly target: "bun";
  readonly format: "esm";
  readonly splitting: boolean;
  readonly minify: boolean;
  readonly bytecode: boolean;
  readonly define: Readonly<Record<string, string>>;
  readonly throw: boolean;
  readonly compile: {
    readonly target: string;
    readonly outfile: string;
    readonly executablePath: string;
    readonly jitPolicy: number;
    readonly autoloadDotenv: false;
    readonly autoloadBunfig: false;
    readonly autoloadTsconfig: false;
    readonly autoloadPackageJson: false;
  };
}

declare const Bun: { build(options: BuildOptions): Promise<{ success: boolean; logs: readonly unknown[] }> };

const root = process.cwd();

async function buildFor(target: Target, outfile: string): Promise<void> {
  const work = join(root, "dist", ".work", target.name);
  mkdirSync(work, { recursive: true });
  const native = packageFile(root, target.native);
  const result = await Bun.build({
    entrypoints: [join(root, "main.ts")],
    plugins: [lmdbPlugin(root, { native, work }), licensesPlugin(work)],
    target: "bun",
    format: "esm",
    splitting: true,
    minify: true,
    bytecode: true,
    define: { "process.env.NODE_ENV": '"production"' },
    throw: false,
    compile: {
      // Compiling is worth it for code that runs often: `main.ts` ends this after a short command's time.
      jitPolicy: 100,
      target: `bun-${target.name}`,
      outfile,
      executablePath: packageFile(root, target.runtime),
      autoloadDotenv: false,
      autoloadBunfig: false,
      autoloadTsconfig: false,
      autoloadPackageJson: false,
    },
  });
  if (!result.success) throw new Error(result.logs.map(String).join("\n"));
  if (readFileSync(outfile).includes(root)) {
    throw new Error(`${outfile} holds the name of the folder it was built in`);
  }
  console.log(`${outfile} (${target.name}, ${Math.round(statSync(outfile).size / 1e6)} MB)`);
}

/** Embeds the licence texts as a file: nothing of them is loaded before they are asked for. */
function licensesPlugin(work: string): Plugin {
  const path = join(work, "licenses.embedded");
  writeFileSync(path, JSON.stringify(gatherLicenses(root)));
  return {
    name: "licenses",
    setup(build) {
      build.onLoad({ filter: /[\\/]cli[\\/]embedded_licenses\.ts$/ }, () => ({
        contents: `import path from ${JSON.stringify(path)} with { type: "file" };
          export const embeddedLicenses = { path };`,
        loader: "js",
      }));
    },
  };
}

async function main(args: readonly string[]): Promise<void> {
  const names: string[] = [];
  for (let i = 0; i < args.length; i += 2) {
    if (args[i] !== "--target" || args[i + 1] === undefined) {
      throw new Error(`usage: compile.sh [--target NAME]…   names: ${TARGET_NAMES.join(", ")}`);
    }
    names.push(args[i + 1]!);
  }
  if (names.length === 0) {
    const host = hostTarget();
    if (!host) {
      throw new Error(
        `this platform is none of those that are known; use --target: ${TARGET_NAMES.join(", ")}`,
      );
    }
    return await buildFor(host, join("dist", `tarn${host.executableSuffix}`));
  }
  for (const name of names) {
    const target = findTarget(name);
    if (!target) throw new Error(`unknown target "${name}"; known are ${TARGET_NAMES.join(", ")}`);
    await buildFor(target, join("dist", `tarn-${name}${target.executableSuffix}`));
  }
}

try {
  await main(process.argv.slice(2));
} catch (error) {
  console.error(`compile.sh: ${error instanceof Error ? error.message : error}`);
  process.exitCode = 1;
}
