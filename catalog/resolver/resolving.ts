/** One logical URI on its way to a physical one. */

import type { Clock } from "../../base/clock.ts";
import { CodedError, type ErrorDetails, type ErrorKind } from "../../base/errors.ts";
import { closest } from "../../base/suggestions.ts";
import { parseTime } from "../../base/time.ts";
import { formatUri, parseUri, type Selector, type Uri } from "../../base/uri.ts";
import type { Config, StoreConfig } from "../config/config.ts";
import type { Entries } from "./entries.ts";
import { placeSelector, PlacingError, versionsIn } from "./placing.ts";
import { bind, type LogicalPath, logicalPath, type Scheme } from "./scheme.ts";
import type { Stages } from "./stages.ts";
import {
  type FieldValues,
  isDots,
  renderStore,
  renderTemplate,
  restIsLast,
  type Template,
} from "./template.ts";

/** A physical URI, and what it was resolved from. */
export interface Resolution {
  /** The physical URI, percent-encoded. */
  readonly text: string;
  readonly uri: Uri;
  /** Absent for a URI that was a physical one. */
  readonly logical?: LogicalSide;
}

export interface LogicalSide {
  /** The logical URI with its selector. */
  readonly text: string;
  readonly uri: Uri;
  /** The stage that was asked for. */
  readonly stage?: string;
  /** What was asked for; in place of a stage, what it points at. */
  readonly selector?: Selector;
  /** The ref that counts where the URI names none. */
  readonly defaultRef?: string;
}

/** What a resolution asks of the whole. */
export interface ResolverParts {
  readonly config: Config;
  readonly clock: Pick<Clock, "now">;
  readonly entries: Entries;
  readonly stages: Stages;
}

/** A target with what is filled into it; `rest` is the field that may be empty. */
interface Filling {
  readonly target: Template;
  readonly values: FieldValues;
  readonly rest?: string;
}

export class Resolving {
  readonly #uri: Uri;
  readonly #scheme: Scheme;
  readonly #parts: ResolverParts;

  constructor(uri: Uri, scheme: Scheme, parts: ResolverParts) {
    this.#uri = uri;
    this.#scheme = scheme;
    this.#parts = parts;
  }

  resolution(): Resolution {
    const path = logicalPath(this.#uri.place, this.#uri.segments);
    if ("why" in path) this.#refuse(path.why);
    const bound = bind(this.#scheme, path);
    if ("why" in bound) this.#refuse(bound.why);
    this.#checkTenant(bound.values);
    const selector = this.#selector(path);
    const filling = this.#filling(path, bound.values);
    const store = this.#store(filling);
    const defaultRef = this.#scheme.defaultRef(bound.values);
    const text = this.#rendered(filling, { store, selector, defaultRef });
    const stage = this.#uri.at?.kind === "stage" ? { stage: this.#uri.at.value } : {};
    return {
      text,
      uri: this.#checked(text),
      logical: {
        text: formatUri(this.#uri),
        uri: this.#uri,
        ...stage,
        ...(selector ? { selector } : {}),
        ...(defaultRef === undefined ? {} : { defaultRef }),
      },
    };
  }

  /** In a tenant's view another tenant's URI names nothing. */
  #checkTenant(values: FieldValues): void {
    const { tenant } = this.#parts.config;
    const part = this.#scheme.tenant;
    if (tenant === undefined || part === undefined || values.get(part) === tenant) return;
    this.#refuse(`its ${part} is not "${tenant}", whose view this is`, {
      kind: "forbidden",
      code: "other_tenant",
      details: { tenant },
    });
  }

  /** Returns the selector of the URI; a stage becomes the one that it points at. */
  #selector({ segments }: LogicalPath): Selector | undefined {
    const { at } = this.#uri;
    const selector = at?.kind === "stage" ? this.#stage(segments, at.value) : at;
    if (selector?.kind === "ts" && !selector.value.includes("@")) {
      parseTime(selector.value, this.#parts.clock.now());
    }
    return selector;
  }

  #stage(segments: readonly string[], stage: string): Selector {
    const { stages } = this.#parts;
    const selector = stages.find(this.#scheme.name, segments, stage);
    if (selector) return selector;
    const known = stages.namesOf(this.#scheme.name, segments);
    const why = known.length === 0 ? "it has no stages" : `its stages are ${known.join(", ")}`;
    this.#refuse(why, {
      kind: "not_found",
      code: "stage_not_found",
      details: { stage, ...suggested(stage, known) },
    });
  }

  /** Entries come before the template of the scheme. */
  #filling(path: LogicalPath, values: FieldValues): Filling {
    const found = this.#parts.entries.find(this.#scheme.name, path);
    if (found) return { target: found.entry.target, values: new Map([["path", found.under]]), rest: "path" };
    const { target, rest } = this.#scheme;
    return { target, values, ...(rest === undefined ? {} : { rest }) };
  }

  #store({ target, values }: Filling): StoreConfig {
    for (const field of target.storeFields) {
      if (/^[a-z0-9]+$/.test(String(values.get(field)))) continue;
      this.#refuse(`its ${field} picks the store, and must be lowercase letters and digits only`);
    }
    const { stores } = this.#parts.config;
    const name = renderStore(target, values);
    const store = stores.get(name);
    if (store) return store;
    this.#refuse(`it leads to the store "${name}", which does not exist`, {
      kind: "not_found",
      code: "store_not_found",
      details: { store: name, ...suggested(name, target.storeFields.length > 0 ? [] : [...stores.keys()]) },
    });
  }

  #rendered(
    { target, values, rest }: Filling,
    { store, selector, defaultRef }: {
      store: StoreConfig;
      selector: Selector | undefined;
      defaultRef: string | undefined;
    },
  ): string {
    const { passSelector } = this.#scheme;
    const versions = versionsIn(store.driver);
    const { at, ...placed } = this.#placed(() =>
      placeSelector(selector, { target, defaultRef, passSelector: passSelector && !target.at, versions })
    );
    const all = new Map([...values, ...Object.entries(placed).filter(([, value]) => value !== undefined)]);
    if (rest !== undefined && target.pathFields.has(rest)) {
      all.set(rest, this.#restFor(target, rest, values.get(rest) as readonly string[]));
    }
    return renderTemplate(target, { store: store.name, values: all as FieldValues, at });
  }

  #placed<T>(place: () => T): T {
    try {
      return place();
    } catch (error) {
      if (!(error instanceof PlacingError)) throw error;
      this.#refuse(error.message, { kind: "invalid", code: "selector_unusable" });
    }
  }

  /** Where more follows in the path, an empty rest would leave a gap, and a slash at its end another. */
  #restFor(target: Template, rest: string, segments: readonly string[]): readonly string[] {
    if (restIsLast(target, rest)) return segments;
    const whole = segments.at(-1) === "" ? segments.slice(0, -1) : segments;
    if (whole.length === 0) this.#refuse(`it names no ${rest}`);
    return whole;
  }

  /** What was filled in may have made a segment that means another folder. */
  #checked(text: string): Uri {
    const uri = parseUri(text);
    if ([uri.place, ...uri.segments].some(isDots)) {
      this.#refuse(`it leads to "${text}", which leaves its folder`);
    }
    return uri;
  }

  #refuse(
    why: string,
    { kind = "invalid", code = "invalid_uri", details = {} }: {
      kind?: ErrorKind;
      code?: string;
      details?: ErrorDetails;
    } = {},
  ): never {
    const uri = formatUri(this.#uri);
    throw new CodedError(kind, code, `Cannot resolve "${uri}": ${why}`, { details: { uri, ...details } });
  }
}

function suggested(name: string, known: readonly string[]): { suggestion?: string } {
  const suggestion = closest(name, known);
  return suggestion === undefined ? {} : { suggestion };
}
