/** `config trust`: say that a configuration that is met on the way up may do what could do harm. */

import { resolve } from "node:path";
import { cutView, Problems, YamlConfig } from "../../catalog/config/mod.ts";
import { pathText } from "../../catalog/config/tree.ts";
import { untrustedKeys } from "../../catalog/config/untrusted.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";

export async function run({ arguments: given, environment, output }: Context): Promise<number> {
  const places = environment.configPlaces(undefined);
  const path = resolve(places.workingFolder, given.positionals[0]!);
  const source = new YamlConfig({ kind: "file", path, isMet: true }, { places });
  const raw = await source.raw();
  const keys = untrustedKeys(cutView(raw, undefined, new Problems(raw)));
  const sha256 = source.trust();
  if (output.json !== "none") {
    const allowed = keys.map(({ path, why }) => ({ key: pathText(path), why }));
    output.document({ file: source.origin, sha256, allowed });
    return EXIT_OK;
  }
  for (const { path, why } of keys) output.line(output.shown(`"${pathText(path)}": ${why}`));
  output.line(output.shown(`Trusted ${source.origin} as it is now; when it changes, you are asked again`));
  return EXIT_OK;
}
