/** Resolvers from a text, for tests. */

import { loadText, type TextOptions } from "../config/testing.ts";
import { loadConfig } from "../config/load.ts";
import { Problems, problemText } from "../config/problems.ts";
import { parseYaml } from "../config/yaml.ts";
import { TemplateResolver } from "./resolver.ts";

/** The time that tests take for now. */
export const NOW = "2026-06-01T12:00:00Z";
const clock = { now: () => Date.parse(NOW) };

export async function resolverOf(text: string, options: TextOptions = {}): Promise<TemplateResolver> {
  return new TemplateResolver(await loadText(text, options), { clock });
}

/** Returns what is wrong with the schemes, entries and stages of a configuration that is right otherwise. */
export async function resolverProblems(text: string, { tenant }: TextOptions = {}): Promise<string[]> {
  const raw = await parseYaml(text, { origin: "tarn.yaml", folder: "/work" });
  const problems = new Problems(raw);
  const reader = { variable: () => undefined, userFolder: "/home/ann" };
  new TemplateResolver(loadConfig(raw, { reader, tenant, isTrusted: true, problems }), { clock, problems });
  return problems.placed().map(problemText);
}
