/** The platforms that the executable is built for, and what each takes from the package registry. */

import { realpathSync } from "node:fs";
import process from "node:process";

export interface Target {
  readonly name: string;
  /** The package that holds Bun for the platform, and the program's place in it. */
  readonly runtime: { readonly package: string; readonly file: string };
  /** The package that holds LMDB's native part, and the file in it. */
  readonly native: { readonly package: string; readonly file: string };
  readonly executableSuffix: string;
}

const RUNTIMES: Readonly<Record<string, string>> = {
  "linux-x64": "linux-x64",
  "linux-arm64": "linux-aarch64",
  "linux-x64-musl": "linux-x64-musl",
  "linux-arm64-musl": "linux-aarch64-musl",
  "darwin-x64": "darwin-x64",
  "darwin-arm64": "darwin-aarch64",
  "windows-x64": "windows-x64",
  "windows-arm64": "windows-aarch64",
};

export const TARGET_NAMES: readonly string[] = Object.keys(RUNTIMES);

/** Returns what is known of a platform, or `undefined` for one that is not. */
export function findTarget(name: string): Target | undefined {
  const runtime = RUNTIMES[name];
  if (runtime === undefined) return undefined;
  const [system, processor] = name.split("-") as [string, string];
  const isWindows = system === "windows";
  const flavor = system === "linux" ? (name.endsWith("-musl") ? "musl." : "glibc.") : "";
  return {
    name,
    runtime: { package: `@oven/bun-${runtime}`, file: isWindows ? "bin/bun.exe" : "bin/bun" },
    native: {
      package: `@lmdb/lmdb-${isWindows ? "win32" : system}-${processor}`,
      file: `node.napi.${flavor}node`,
    },
    executableSuffix: isWindows ? ".exe" : "",
  };
}

/** Returns the platform of the Bun that runs this script, known by the package that it lies in. */
export function hostTarget(): Target | undefined {
  const place = realpathSync(process.execPath).replaceAll("\\", "/");
  return TARGET_NAMES.map((name) => findTarget(name)!).find(({ runtime }) =>
    place.endsWith(`/${runtime.package}/${runtime.file}`)
  );
}
