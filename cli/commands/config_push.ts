/** `config push`: copy the configuration into etcd. */

import { systemClock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import { YamlConfig } from "../../catalog/config/mod.ts";
import { pushConfig } from "../../catalog/push_config.ts";
import { configurationOf } from "../configuration.ts";
import type { Context } from "../context.ts";
import { EXIT_OK } from "../exit_codes.ts";
import { counted } from "../render/sizes.ts";

export async function run(context: Context): Promise<number> {
  const { arguments: given, environment, messages, output } = context;
  const [address] = given.positionals;
  const source = await configurationOf(context);
  if (!(source instanceof YamlConfig) || source.tenant !== undefined) {
    const what = source.tenant !== undefined
      ? "all of it is pushed, not one tenant's view"
      : "there is no file to push";
    throw new CodedError("invalid", "invalid_argument", `Cannot push the configuration: ${what}`);
  }
  const { origin, hasHooks, written, deleted } = await pushConfig(source, {
    address: address!,
    clock: systemClock,
    places: environment.configPlaces(given.value("config")),
    variable: environment.variable,
  });
  if (hasHooks) messages.note("Hooks are not pushed: what runs is named on the machine that runs it");
  output.result(
    { from: source.origin, to: origin, written, deleted },
    output.shown(
      `Pushed ${source.origin} to ${origin}: ${
        counted(written.length, "key")
      } written, ${deleted.length} deleted`,
    ),
  );
  return EXIT_OK;
}
