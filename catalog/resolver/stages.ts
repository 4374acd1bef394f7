/** Stages: names for versions of one logical URI, such as `stage:production`. */

import { CodedError } from "../../base/errors.ts";
import { parseTime } from "../../base/time.ts";
import { readSelector, type Selector } from "../../base/uri.ts";
import type { Config, StageConfig } from "../config/config.ts";
import type { Problems } from "../config/problems.ts";
import { pathText } from "../config/tree.ts";
import { readName, whyNotTenants, whyOf } from "./entries.ts";
import { bind, type Scheme } from "./scheme.ts";

export class Stages {
  readonly #stages = new Map<string, ReadonlyMap<string, Selector>>();

  /** Notes what is wrong with stages; those that are right can be found. */
  constructor({ stages }: Config, schemes: ReadonlyMap<string, Scheme>, problems: Problems) {
    const places = new Map<string, StageConfig>();
    for (const stage of stages) {
      const { uri, path, tenant } = stage;
      const name = readName(uri, schemes);
      if ("why" in name) {
        problems.add(path, name.why, name);
        continue;
      }
      const why = whyOf(bind(name.scheme, name)) ?? whyNotTenants(name, tenant);
      if (why !== undefined) problems.add(path, why);
      const key = keyOf(name.scheme.name, name.segments);
      const other = places.get(key);
      if (other) problems.add(path, `the same URI stands in another place: ${pathText(other.path)}`);
      places.set(key, stage);
      this.#stages.set(key, readSelectors(stage, problems));
    }
  }

  /** Returns what a stage of a name points at; a slash at the name's end does not count. */
  find(scheme: string, segments: readonly string[], stage: string): Selector | undefined {
    return this.#stages.get(keyOf(scheme, segments))?.get(stage);
  }

  /** Returns the stages of a name. */
  namesOf(scheme: string, segments: readonly string[]): readonly string[] {
    return [...this.#stages.get(keyOf(scheme, segments))?.keys() ?? []];
  }
}

function keyOf(scheme: string, segments: readonly string[]): string {
  return `${scheme}://${segments.join("/")}`;
}

function readSelectors({ selectors, path }: StageConfig, problems: Problems): ReadonlyMap<string, Selector> {
  const read = new Map<string, Selector>();
  for (const [name, text] of selectors) {
    const selector = readSelector(text);
    const why = whyNoTarget(selector);
    if (why !== undefined) problems.add([...path, name], why);
    else read.set(name, selector!);
  }
  return read;
}

function whyNoTarget(selector: Selector | undefined): string | undefined {
  if (!selector) return "it must be kind:value, such as commit:4f0c or ts:2026-03-31";
  if (selector.kind === "stage") return "a stage must point at a version, not at another stage";
  if (selector.kind !== "ts") return undefined;
  if (selector.value.includes("@")) return 'its time holds an "@"; the branch is the one of the URI';
  try {
    // Whether it has passed is asked when it is used.
    parseTime(selector.value, Infinity);
    return undefined;
  } catch (error) {
    if (error instanceof CodedError) return error.message;
    throw error;
  }
}
