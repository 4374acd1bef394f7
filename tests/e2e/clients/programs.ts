/** Programs in folders of their own, kept between runs; and the server that they speak to. */

import { spawn, spawnSync } from "node:child_process";
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import type { TestContext } from "node:test";
import { openHome } from "../../support/home.ts";
import { requireThat, requireTool } from "../../support/requires.ts";
import { serveAgain, type ServedHome } from "../../support/server.ts";
import type { Ending } from "../../support/temporary.ts";

export interface ProgramRun {
  readonly code: number | null;
  readonly output: string;
}

export interface ProgramOptions {
  /** Where the program runs; the working folder without it. */
  readonly cwd?: string;
  /** What it has for the user's folder; without it none. */
  readonly home?: string;
}

/** Runs a program to its end; returns its exit code and what it printed. */
export async function runProgram(
  command: string,
  args: readonly string[],
  { cwd, home = "/nonexistent" }: ProgramOptions = {},
): Promise<ProgramRun> {
  const child = spawn(command, args, {
    ...(cwd === undefined ? {} : { cwd }),
    env: { ...process.env, PYTHONDONTWRITEBYTECODE: "1", HOME: home },
    stdio: ["ignore", "pipe", "pipe"],
  });
  let output = "";
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding("utf8").on("data", (text: string) => output += text);
  }
  const code = await new Promise<number | null>((resolve) => child.on("close", resolve));
  return { code, output };
}

/**
 * Returns a folder that `install` has filled, made if it is not there yet; if it cannot be, the test is skipped, or fails under
 * CI. `install` returns what went wrong.
 */
export function keptFolder(
  t: TestContext,
  packages: readonly string[],
  install: (folder: string) => string | undefined,
): string | undefined {
  const user = process.getuid?.() ?? 0;
  const name = `tarn-clients-${user}-${packages.join("-").replaceAll(/[^A-Za-z0-9.-]+/g, "_")}`;
  const folder = join(tmpdir(), name);
  if (existsSync(folder)) return folder;
  const partial = `${folder}.${process.pid}.partial`;
  mkdirSync(partial, { recursive: true, mode: 0o700 });
  const problem = install(partial);
  if (problem === undefined) {
    try {
      renameSync(partial, folder);
    } catch {
      // Another run was first.
      rmSync(partial, { recursive: true, force: true });
    }
    return folder;
  }
  rmSync(partial, { recursive: true, force: true });
  requireThat(t, false, `${packages.join(" ")} cannot be installed: ${problem}`);
  return undefined;
}

/** Returns a folder in which Node.js finds packages (each `name@version`), if it can be made; see {@link keptFolder}. */
export function nodeFolderWith(t: TestContext, packages: readonly string[]): string | undefined {
  if (!requireTool(t, "node") || !requireTool(t, "npm")) return undefined;
  return keptFolder(t, packages, (folder) => {
    writeFileSync(join(folder, "package.json"), '{"private": true}');
    const args = ["install", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error", ...packages];
    const npm = spawnSync("npm", args, { cwd: folder, encoding: "utf8" });
    return npm.status === 0 ? undefined : npm.stdout + npm.stderr;
  });
}

/** A server with an empty repository `data` behind its S3 gateway. */
export interface ServedBuckets extends ServedHome {
  /** What programs are told: where the server is, who they are, the bucket, and what their keys begin with. */
  readonly place: readonly string[];
}

/** Serves a home whose buckets are what its configuration says. */
export async function serveBuckets(t: Ending, buckets: "repository" | "branch"): Promise<ServedBuckets> {
  const home = openHome(t);
  const credential = await home.json(["auth", "setup", "admin"]);
  await home.ok(["repo", "create", "lakefs://data"]);
  const autoCommit = buckets === "branch" ? ", auto_commit: idle 1" : "";
  writeFileSync(join(home.path, "config.yaml"), `s3: {buckets: ${buckets}${autoCommit}}\n`);
  const server = await serveAgain(t, home, { credential });
  const { url, accessKeyId, secretAccessKey } = server;
  const prefix = buckets === "branch" ? "" : "main/";
  return { ...server, place: [url, accessKeyId, secretAccessKey, "data", prefix] };
}
