/**
 * Short commands on fresh homes: what opens and closes the LMDB database at the same time as others write it. Nothing is
 * killed here; whatever is not acknowledged is a failure.
 */

import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Commands, Lost } from "./soak_process.ts";

const AT_ONCE = 20;

export interface ShortRun {
  readonly binary: string;
  readonly folder: string;
  readonly homes: number;
  /** No new home is made after this moment of `performance.now()`. */
  readonly until: number;
}

/** Returns how many writes were acknowledged, all of which were found. */
export async function soakShortCommands({ binary, folder, homes, until }: ShortRun): Promise<number> {
  let writes = 0;
  for (let i = 0; i < homes && performance.now() < until; i++) {
    const path = join(folder, `home-${i}`);
    mkdirSync(path);
    const environment = { TARN_HOME: join(path, "home"), TARN_USER: "soak" };
    writes += await oneHome(new Commands(binary, { folder: path, environment }), i);
    rmSync(path, { recursive: true });
  }
  return writes;
}

async function oneHome(commands: Commands, number: number): Promise<number> {
  const numbers = Array.from({ length: AT_ONCE }, (_, i) => i);
  const names = numbers.map((i) => `repo-${i}`);
  await Promise.all(names.map((name) => commands.text(["repo", "create", `lakefs://${name}`])));
  const found = await commands.json(["repo", "list"]) as { id: string }[];
  compare(`home ${number}: repositories`, found.map(({ id }) => id), names);
  const paths = numbers.map((i) => `f${i}`);
  await Promise.all(
    paths.map((path) => commands.text(["put", `lakefs://repo-0/main/${path}`, "-"], { stdin: path })),
  );
  compare(`home ${number}: objects`, [...(await commands.list("lakefs://repo-0/main")).keys()], paths);
  return 2 * AT_ONCE;
}

function compare(what: string, found: readonly string[], expected: readonly string[]): void {
  const missing = expected.filter((name) => !found.includes(name));
  if (missing.length > 0 || found.length !== expected.length) {
    throw new Lost(`${what}: acknowledged and not there: ${missing.join(", ")}; ${found.length} found`);
  }
}
