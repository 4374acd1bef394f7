/** Everything that is wrong with a configuration: in the admin's view and in each tenant's, its templates and names too. */

import type { Clock } from "../base/clock.ts";
import { closest } from "../base/suggestions.ts";
import {
  type Config,
  type ConfigSource,
  loadConfig,
  type PlacedProblem,
  Problems,
  type Reader,
} from "./config/mod.ts";
import { pathText } from "./config/tree.ts";
import { untrustedKeys } from "./config/untrusted.ts";
import { cutView, tenantNames } from "./config/view.ts";
import { BUILT_IN_HOOKS, whyNoHook } from "./hooks/mod.ts";
import { TemplateResolver } from "./resolver/mod.ts";

export interface CheckedConfig {
  readonly problems: readonly PlacedProblem[];
  /** What it says that only a trusted configuration may, where it is not trusted. */
  readonly untrusted: readonly { readonly key: string; readonly why: string }[];
  /** How much of each the view has; stores without the built-in ones. */
  readonly counts: Readonly<Record<"stores" | "schemes" | "stages" | "entries" | "tenants", number>>;
}

/** Checks a view, or the admin's and with it all. Fails as `raw()` does, and with `tenant_not_found`. */
export async function checkConfig(
  source: Pick<ConfigSource, "raw" | "tenant" | "isTrusted">,
  { reader, clock }: { reader: Reader; clock: Pick<Clock, "now"> },
): Promise<CheckedConfig> {
  const raw = await source.raw();
  const { tenant } = source;
  const names = tenant === undefined ? tenantNames(raw) : [];
  const found = new Map<string, PlacedProblem>();
  const check = (view: string | undefined): Config => {
    const problems = new Problems(raw);
    const config = loadConfig(raw, { reader, tenant: view, isTrusted: true, problems });
    new TemplateResolver(config, { clock, problems });
    noteHooks(config, problems);
    // A scheme may lead to a store that only some views have.
    if (view === tenant) noteMissingStores(config, problems);
    for (const problem of problems.placed()) found.set(`${problem.key}\0${problem.why}`, problem);
    return config;
  };
  const config = check(tenant);
  for (const name of names) check(name);
  const view = cutView(raw, tenant, new Problems(raw));
  return {
    problems: [...found.values()],
    untrusted: source.isTrusted
      ? []
      : untrustedKeys(view).map(({ path, why }) => ({ key: pathText(path), why })),
    counts: {
      stores: view.sections.stores.size,
      schemes: config.schemes.size,
      stages: config.stages.length,
      entries: config.entries.length,
      tenants: names.length,
    },
  };
}

function noteHooks({ hooks, raw }: Config, problems: Problems): void {
  for (const [index, name] of hooks.entries()) {
    const why = whyNoHook(name, raw.folder !== undefined);
    if (why !== undefined) problems.add(["hooks", index], why, { suggestion: closest(name, BUILT_IN_HOOKS) });
  }
}

function noteMissingStores({ schemes, stores }: Config, problems: Problems): void {
  for (const { target, path } of schemes.values()) {
    const name = target.slice(0, Math.max(0, target.indexOf("://")));
    const at = [...path, "target"];
    if (name === "" || name.includes("{") || stores.has(name)) continue;
    problems.add(at, `it names the store "${name}", which does not exist`, {
      suggestion: closest(name, [...stores.keys()]),
    });
  }
}
