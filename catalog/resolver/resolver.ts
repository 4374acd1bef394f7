/** The resolver: turns a logical URI, which names a thing, into a physical one, which names a place. */

import type { Clock } from "../../base/clock.ts";
import { CodedError } from "../../base/errors.ts";
import { closest } from "../../base/suggestions.ts";
import { formatUri, parseUri, type Uri } from "../../base/uri.ts";
import { type Config, usableStores } from "../config/config.ts";
import { Problems } from "../config/problems.ts";
import { Entries } from "./entries.ts";
import { type Resolution, type ResolverParts, Resolving } from "./resolving.ts";
import { compileScheme, type Scheme } from "./scheme.ts";
import { Stages } from "./stages.ts";

export interface Resolver {
  /** Returns whether a URI is a logical one. */
  isLogical(uri: Uri): boolean;
  /**
   * Resolves a logical URI. A physical one is returned as it is, if there is such a store.
   *
   * Fails with `invalid_uri`, `unknown_scheme`, `other_tenant`, `stage_not_found`, `selector_unusable`, `store_not_found`,
   * `invalid_time`, `future_time`.
   */
  resolve(uri: string | Uri): Resolution;
}

export interface ResolverOptions {
  readonly clock: Pick<Clock, "now">;
  /** Takes what is wrong with the configuration; when absent the first problem is thrown. */
  readonly problems?: Problems;
}

/** Fills in templates, all of which are checked when it is made. */
export class TemplateResolver implements Resolver {
  readonly #schemes = new Map<string, Scheme>();
  readonly #parts: ResolverParts;

  /** Fails with `invalid_configuration`. */
  constructor(config: Config, options: ResolverOptions) {
    const problems = options.problems ?? new Problems(config.raw);
    for (const [name, scheme] of config.schemes) {
      const compiled = compileScheme(scheme, problems);
      if (compiled) this.#schemes.set(name, compiled);
    }
    // Of a scheme that is wrong itself, names tell nothing more.
    const isUsable = (uri: string) => {
      const name = uri.slice(0, uri.indexOf("://"));
      return this.#schemes.has(name) || !config.schemes.has(name);
    };
    const usable = {
      ...config,
      entries: config.entries.filter(({ key }) => isUsable(key)),
      stages: config.stages.filter(({ uri }) => isUsable(uri)),
    };
    this.#parts = {
      config,
      clock: options.clock,
      entries: new Entries(usable, this.#schemes, problems),
      stages: new Stages(usable, this.#schemes, problems),
    };
    if (!options.problems) problems.throwIfAny();
  }

  isLogical(uri: Uri): boolean {
    return this.#schemes.has(uri.scheme);
  }

  resolve(given: string | Uri): Resolution {
    const uri = typeof given === "string" ? parseUri(given) : given;
    const scheme = this.#schemes.get(uri.scheme);
    if (scheme) return new Resolving(uri, scheme, this.#parts).resolution();
    const { stores } = this.#parts.config;
    if (stores.has(uri.scheme)) return { text: formatUri(uri), uri };
    const suggestion = closest(uri.scheme, [...this.#schemes.keys(), ...usableStores(stores)]);
    throw new CodedError(
      "invalid",
      "unknown_scheme",
      `Cannot use "${formatUri(uri)}": there is neither a scheme nor a store "${uri.scheme}"`,
      { details: { uri: formatUri(uri), ...(suggestion === undefined ? {} : { suggestion }) } },
    );
  }
}
