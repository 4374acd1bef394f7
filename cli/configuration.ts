/** The configuration of one run: found, and read with this environment. */

import { type ConfigSource, findConfig, openConfig, type Reader } from "../catalog/config/mod.ts";
import { offline } from "../catalog/offline.ts";
import type { Context } from "./context.ts";
import type { Environment } from "./environment.ts";

/** Opens the configuration that counts, for the tenant that is named. Nothing is read but a file. */
export async function configurationOf(
  { environment, arguments: given }: Pick<Context, "environment" | "arguments">,
): Promise<ConfigSource> {
  const tenant = given.value("tenant") ?? environment.variable("TARN_TENANT");
  const places = environment.configPlaces(given.value("config"));
  if (environment.isOffline() && findConfig(places).kind === "etcd") {
    throw offline("read the configuration", "it lies in an etcd; name a file with --config");
  }
  return await openConfig({
    places,
    ...(tenant === undefined ? {} : { tenant }),
    variable: environment.variable,
  });
}

/** Returns whose environment fills in what a configuration leaves open. */
export function configReader(environment: Environment): Reader {
  return { variable: environment.exactVariable, userFolder: environment.userFolder() };
}
