/** Configurations from a text, for tests. */

import type { Config } from "./config.ts";
import { loadConfig } from "./load.ts";
import { type PlacedProblem, Problems, problemText } from "./problems.ts";
import { parseYaml } from "./yaml.ts";

export interface TextOptions {
  readonly tenant?: string;
  readonly variables?: Readonly<Record<string, string>>;
  readonly isTrusted?: boolean;
}

const FROM = { origin: "tarn.yaml", folder: "/place" };

/** Loads a configuration that lies in `/place`, for a user whose folder is `/home/ann`. */
export async function loadText(text: string, options: TextOptions = {}): Promise<Config> {
  return loadConfig(await parseYaml(text, FROM), optionsOf(options));
}

/** Returns all that is wrong with a configuration, in the form `line L, column C: "key": why`. */
export async function problemsOf(text: string, options: TextOptions = {}): Promise<string[]> {
  return (await placedProblemsOf(text, options)).map(problemText);
}

export async function placedProblemsOf(
  text: string,
  options: TextOptions = {},
): Promise<readonly PlacedProblem[]> {
  const raw = await parseYaml(text, FROM);
  const problems = new Problems(raw);
  loadConfig(raw, { ...optionsOf(options), problems });
  return problems.placed();
}

function optionsOf({ tenant, variables = {}, isTrusted = true }: TextOptions) {
  const reader = {
    variable: (name: string) => Object.hasOwn(variables, name) ? variables[name] : undefined,
    userFolder: "/home/ann",
  };
  return { reader, tenant, isTrusted };
}
