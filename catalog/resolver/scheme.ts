/** Logical schemes: how a URI's parts are named and checked, and where they lead. Everything is checked when it is loaded. */

import type { SchemeConfig } from "../config/config.ts";
import type { Problems } from "../config/problems.ts";
import { closest } from "../../base/suggestions.ts";
import {
  type FieldValues,
  isDots,
  parsePieces,
  parseTemplate,
  renderText,
  type Template,
  TemplateError,
} from "./template.ts";

export interface Scheme {
  readonly name: string;
  readonly parts: readonly string[];
  readonly rest?: string;
  readonly patterns: ReadonlyMap<string, RegExp>;
  readonly target: Template;
  readonly passSelector: boolean;
  /** The part that says whose a URI is. */
  readonly tenant?: string;
  /** Returns the default ref for a URI's parts, if there is one. */
  readonly defaultRef: (values: FieldValues) => string | undefined;
}

/** Fields beside the parts and the rest. */
const SELECTOR_FIELDS = ["ref", "version", "at"];

/** Returns a scheme that can be used, or `undefined` after noting why not. */
export function compileScheme(config: SchemeConfig, problems: Problems): Scheme | undefined {
  const { name, parts, rest, tenant, passSelector, path } = config;
  const before = problems.count;
  checkNames(config, problems);
  const patterns = compilePatterns(config, problems);
  if (problems.count > before) return undefined;
  const fields = [...parts, ...rest === undefined ? [] : [rest], ...SELECTOR_FIELDS];
  const target = noted(problems, [...path, "target"], () => parseTemplate(config.target, { fields, rest }));
  const ref = config.ref === undefined
    ? []
    : noted(problems, [...path, "ref"], () => parsePieces(config.ref!, parts));
  if (!target || !ref) return undefined;
  checkStoreName(config, target, problems);
  if (tenant !== undefined && !parts.includes(tenant)) {
    problems.add(
      [...path, "tenant"],
      `it must be one of the parts: ${parts.join(", ")}`,
      { suggestion: closest(tenant, parts) },
    );
  }
  if (passSelector && target.at) {
    problems.add([...path, "pass_selector"], "the target has an ?at= already, and a URI has one at most");
  }
  if (problems.count > before) return undefined;
  return {
    name,
    parts,
    ...(rest === undefined ? {} : { rest }),
    patterns,
    target,
    passSelector,
    ...(tenant === undefined ? {} : { tenant }),
    defaultRef: (values) => config.ref === undefined ? undefined : renderText(ref, values),
  };
}

function checkNames({ parts, rest, path }: SchemeConfig, problems: Problems): void {
  if (parts.length === 0) problems.add([...path, "parts"], "there must be one part at least");
  const seen = new Set<string>();
  const check = (name: string, at: readonly (string | number)[]) => {
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name)) {
      problems.add(at, "a part is named by letters, digits and _, and not first by a digit");
    } else if (SELECTOR_FIELDS.includes(name)) {
      problems.add(at, `"${name}" has a meaning of its own in a target`);
    } else if (seen.has(name)) problems.add(at, `"${name}" is there twice`);
    seen.add(name);
  };
  parts.forEach((name, index) => check(name, [...path, "parts", index]));
  if (rest !== undefined) check(rest, [...path, "rest"]);
}

/** A pattern must fit the whole part. It is compiled alone first, so that an unbalanced one cannot undo its anchors. */
function compilePatterns(
  { match, parts, path }: SchemeConfig,
  problems: Problems,
): ReadonlyMap<string, RegExp> {
  const patterns = new Map<string, RegExp>();
  for (const [part, pattern] of match) {
    const at = [...path, "match", part];
    if (!parts.includes(part)) {
      problems.add(at, `there is no such part; known are ${parts.join(", ")}`, {
        suggestion: closest(part, parts),
      });
      continue;
    }
    try {
      new RegExp(pattern, "u");
      patterns.set(part, new RegExp(`^(?:${pattern})$`, "u"));
    } catch (error) {
      problems.add(at, `it is no regular expression: ${(error as Error).message}`);
    }
  }
  return patterns;
}

/**
 * A store's name may hold one field, next to fixed text with a "-": no value can then make the name of a built-in store, and
 * no two values the same name, as each is letters and digits that its pattern allows.
 */
function checkStoreName(
  { match, parts, tenant, path }: SchemeConfig,
  target: Template,
  problems: Problems,
): void {
  const { storeFields } = target;
  const at = [...path, "target"];
  if (storeFields.length === 0) return;
  const name = target.text.slice(0, target.text.indexOf("://"));
  const [field] = storeFields as [string];
  const form = /^(?:[a-z0-9+.-]*-)?\{\w+\}(?:-[a-z0-9+.-]*)?$/;
  if (!form.test(name) || name === `{${field}}`) {
    problems.add(
      at,
      `the name of the store may hold one field, next to fixed text with a "-", as in lakefs-{${field}}`,
    );
  }
  if (!parts.includes(field)) problems.add(at, `the field in the name of the store must be one of the parts`);
  else if (!match.has(field)) {
    problems.add(at, `"${field}" is in the name of the store, and must have a pattern under "match"`);
  }
  if (tenant !== undefined && tenant !== field) {
    problems.add([...path, "tenant"], `it must be "${field}", which picks the store`);
  }
}

/** Runs what may throw a {@link TemplateError}, and notes it. */
export function noted<T>(
  problems: Problems,
  path: readonly (string | number)[],
  parse: () => T,
): T | undefined {
  try {
    return parse();
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    problems.add(path, error.message, { suggestion: error.suggestion });
    return undefined;
  }
}

/** The parts of a logical URI: the first one and each segment, without a slash at the end. */
export interface LogicalPath {
  readonly segments: readonly string[];
  /** Whether a slash stood at the end. */
  readonly hasSlash: boolean;
}

/** Returns the parts of a URI, or why they are none: each has one way to be written, so no name passes for another. */
export function logicalPath(place: string, rest: readonly string[]): LogicalPath | { readonly why: string } {
  const all = [place, ...rest];
  const hasSlash = all.length > 1 && all.at(-1) === "";
  const segments = hasSlash ? all.slice(0, -1) : all;
  if (segments.some(isDots)) return { why: '"." and ".." are no parts of a name' };
  const slashed = segments.find((segment) => segment.includes("/"));
  if (slashed !== undefined) {
    return { why: `"${slashed}" holds a "/"; a branch of such a name is given as ?at=branch:NAME` };
  }
  return { segments, hasSlash };
}

/** Returns the value of each part and of the rest, or why there is none. */
export function bind(
  scheme: Scheme,
  { segments, hasSlash }: LogicalPath,
): { readonly values: Map<string, string | readonly string[]> } | { readonly why: string } {
  const { parts, rest } = scheme;
  const why = checkParts(scheme, segments);
  if (why !== undefined) return { why };
  if (segments.length < parts.length) {
    return { why: `it names no ${parts[segments.length]}; write ${formOf(scheme)}` };
  }
  const values = new Map<string, string | readonly string[]>();
  parts.forEach((part, index) => values.set(part, segments[index]!));
  const more = segments.slice(parts.length);
  if (rest !== undefined) values.set(rest, hasSlash && more.length > 0 ? [...more, ""] : more);
  return { values };
}

/** Returns what is wrong with the parts that are there; a name may end before the last one. */
export function checkParts(scheme: Scheme, segments: readonly string[]): string | undefined {
  const { parts, rest, patterns } = scheme;
  if (rest === undefined && segments.length > parts.length) {
    return `"${segments[parts.length]}" is one part too many; write ${formOf(scheme)}`;
  }
  for (const [index, part] of parts.slice(0, segments.length).entries()) {
    const value = segments[index]!;
    if (value === "") return `its ${part} is empty; write ${formOf(scheme)}`;
    const pattern = patterns.get(part);
    if (pattern && !pattern.test(value)) {
      return `its ${part} "${value}" does not match ${shownPattern(pattern)}`;
    }
  }
  return undefined;
}

function shownPattern({ source }: RegExp): string {
  return source.slice("^(?:".length, -")$".length);
}

function formOf({ name, parts, rest }: Scheme): string {
  const words = [...parts, ...rest === undefined ? [] : [rest]].map((part) => part.toUpperCase());
  return `${name}://${words.join("/")}`;
}
