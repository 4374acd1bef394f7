/** The configuration of one run: found, and read with this environment. */

import { type ConfigSource, openConfig, type Reader } from "../catalog/config/mod.ts";
import type { Context } from "./context.ts";
import type { Environment } from "./environment.ts";

/** Opens the configuration that counts, for the tenant that is named. Nothing is read but a file. */
export async function configurationOf(
  { environment, arguments: given }: Pick<Context, "environment" | "arguments">,
): Promise<ConfigSource> {
  const tenant = given.value("tenant") ?? environment.variable("TARN_TENANT");
  return await openConfig({
    places: environment.configPlaces(given.value("config")),
    ...(tenant === undefined ? {} : { tenant }),
    variable: environment.variable,
  });
}

/** Returns whose environment fills in what a configuration leaves open. */
export function configReader(environment: Environment): Reader {
  return { variable: environment.exactVariable, userFolder: environment.userFolder() };
}
