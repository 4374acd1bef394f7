/** `config check`: what is wrong with the configuration. */

import { checkConfig, type CheckedConfig } from "../../catalog/check_config.ts";
import { systemClock } from "../../base/clock.ts";
import type { PlacedProblem } from "../../catalog/config/mod.ts";
import { configReader, configurationOf } from "../configuration.ts";
import type { Context } from "../context.ts";
import { EXIT_NO, EXIT_OK } from "../exit_codes.ts";
import type { Output } from "../output.ts";
import { quoted } from "../quoting.ts";
import { counted } from "../render/sizes.ts";

export async function run(context: Context): Promise<number> {
  const { environment, output } = context;
  const source = await configurationOf(context);
  const checked = await checkConfig(source, { reader: configReader(environment), clock: systemClock });
  const { problems, untrusted, counts } = checked;
  const isWell = problems.length === 0 && untrusted.length === 0;
  if (output.json === "none") show(output, source.origin, checked);
  else {
    output.document({
      file: source.origin ?? null,
      tenant: source.tenant ?? null,
      is_trusted: source.isTrusted,
      problems,
      untrusted,
      ...counts,
    });
  }
  return isWell ? EXIT_OK : EXIT_NO;
}

function show(
  output: Output,
  origin: string | undefined,
  { problems, untrusted, counts }: CheckedConfig,
): void {
  for (const problem of problems) showProblem(output, origin ?? "", problem);
  for (const { key, why } of untrusted) {
    output.line(output.shown(`${origin}: "${key}": ${why}; it must be trusted first`));
  }
  if (untrusted.length > 0) {
    output.line(output.shown(`  Read it, then run: tarn config trust ${quoted(origin!)}`));
  }
  if (problems.length > 0 || untrusted.length > 0) return;
  if (origin === undefined) {
    return output.line("There is no configuration; the built-in stores work without one");
  }
  const shares = [
    counted(counts.stores, "store"),
    counted(counts.schemes, "scheme"),
    counted(counts.entries, "entry", "entries"),
    `stages of ${counted(counts.stages, "name")}`,
    ...counts.tenants > 0 ? [counted(counts.tenants, "tenant")] : [],
  ];
  output.line(output.shown(`${origin} is in order: ${shares.join(", ")}`));
}

/** In the form that editors jump to. */
function showProblem(
  output: Output,
  origin: string,
  { line, column, key, why, suggestion }: PlacedProblem,
): void {
  const place = line === undefined ? origin : `${origin}:${line}:${column}`;
  output.line(output.shown(`${place}: ${key === "" ? "" : `"${key}": `}${why}`));
  if (suggestion !== undefined) output.line(output.shown(`  Did you mean "${suggestion}"?`));
}
