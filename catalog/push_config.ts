/** Copying a configuration into etcd, as it was written: each reader fills in its own environment. */

import type { Clock } from "../base/clock.ts";
import { CodedError } from "../base/errors.ts";
import { checkConfig } from "./check_config.ts";
import { type ConfigSource, problemText } from "./config/mod.ts";
import { openEtcdConfig, type Pushed } from "./config/etcd_source.ts";
import { checkUntrusted } from "./config/untrusted.ts";
import { cutView } from "./config/view.ts";
import { Problems } from "./config/problems.ts";
import type { SourceOptions } from "./config/sources.ts";

export interface PushResult extends Pushed {
  /** Where to. */
  readonly origin: string;
  /** Whether the file names hooks, which stay in it. */
  readonly hasHooks: boolean;
}

/**
 * Puts a configuration in the place of the one that an etcd holds. One that no reader could use is not pushed; what is not set
 * in this environment may be in theirs.
 *
 * Fails with `invalid_configuration`, `untrusted_configuration`, `invalid_etcd_address`, and as etcd does.
 */
export async function pushConfig(
  source: ConfigSource,
  { address, clock, ...options }: { address: string; clock: Pick<Clock, "now"> } & SourceOptions,
): Promise<PushResult> {
  const target = openEtcdConfig(address, { places: options.places, variable: options.variable });
  // In etcd it lies in no folder, so that no path can start from one.
  const { folder: _, ...raw } = await source.raw();
  if (!source.isTrusted) checkUntrusted(cutView(raw, undefined, new Problems(raw)));
  const reader = { variable: () => undefined, userFolder: "/" };
  const { problems } = await checkConfig({ raw: async () => raw, isTrusted: true }, { reader, clock });
  const [first] = problems.filter(({ variable }) => variable === undefined);
  if (first) {
    throw new CodedError(
      "invalid",
      "invalid_configuration",
      `Cannot push "${source.origin}": ${problemText(first)}`,
      { details: { ...first, file: source.origin, isCatalog: true } },
    );
  }
  return { ...await target.push(raw.tree), origin: target.origin, hasHooks: raw.tree["hooks"] !== undefined };
}
