/**
 * Templates of physical URIs: `s3-{org}://{org}-{project}/{ref}/{path}?at={at}`.
 *
 * A field is a plain `{name}`. A value is percent-encoded when it is filled in, all but unreserved characters, so that it can
 * add neither a segment nor a `?at=`; only a rest, which is segments, keeps the slashes between them.
 */

import { CodedError } from "../../base/errors.ts";
import { closest } from "../../base/suggestions.ts";
import { encodePath, parseUri, type Selector, type SelectorKind, type Uri } from "../../base/uri.ts";

/** Literal text, percent-encoded as it was written, or the name of a field. */
type Piece = { readonly text: string } | { readonly field: string };

/** How a template says the version in its `?at=`. */
export type TemplateAt =
  /** `?at={at}`: as the URI says it. */
  | { readonly form: "any" }
  /** `?at=kind:…`, with fields or without. */
  | { readonly form: "one"; readonly kind: SelectorKind; readonly fields: ReadonlySet<string> };

export interface Template {
  /** As it was written. */
  readonly text: string;
  readonly store: readonly Piece[];
  /** The fields of the store's name. */
  readonly storeFields: readonly string[];
  /** The fields of the place: a bucket, or a repository. */
  readonly placeFields: ReadonlySet<string>;
  /** The fields of the place and the path. */
  readonly pathFields: ReadonlySet<string>;
  readonly at?: TemplateAt;
  /** The URI with some value in each field: for what holds of it whatever the values are. */
  readonly sample: Uri;
  readonly path: readonly Piece[];
  readonly query: readonly Piece[];
}

/** What is filled in: a text, or the segments of a rest. */
export type FieldValues = ReadonlyMap<string, string | readonly string[]>;

export interface TemplateRules {
  /** The fields that may stand in it. */
  readonly fields: readonly string[];
  /** The field whose value is segments. */
  readonly rest?: string;
}

/** Why a template cannot be used. */
export class TemplateError extends Error {
  override readonly name = "TemplateError";
  readonly suggestion: string | undefined;

  constructor(why: string, suggestion?: string) {
    super(why);
    this.suggestion = suggestion;
  }
}

/** Parses a template. Throws {@link TemplateError}. */
export function parseTemplate(text: string, rules: TemplateRules): Template {
  const end = text.indexOf("://");
  if (end < 1) fail("it does not begin with the name of a store and ://");
  const question = text.indexOf("?", end);
  const queryStart = question < 0 ? text.length : question;
  const slash = text.indexOf("/", end + 3);
  const placeEnd = slash < 0 ? queryStart : Math.min(slash, queryStart);
  const piecesOf = (from: number, to: number) => parsePieces(text.slice(from, to), rules.fields);
  const store = piecesOf(0, end);
  const place = piecesOf(end + 3, placeEnd);
  const path = [...place, ...piecesOf(placeEnd, queryStart)];
  const query = piecesOf(queryStart, text.length);
  const placeFields = fieldsOf(place), pathFields = fieldsOf(path);
  checkPlaces(
    { store: fieldsOf(store), place: placeFields, path: pathFields, query: fieldsOf(query) },
    rules,
  );
  const sample = sampleOf(store, path, query);
  if ([sample.place, ...sample.segments].some(isDots)) fail('"." and ".." are no parts of a path');
  const at = templateAt(query, sample);
  return {
    text,
    store,
    storeFields: [...fieldsOf(store)],
    placeFields,
    pathFields,
    ...(at ? { at } : {}),
    sample,
    path,
    query,
  };
}

/** Reads text with fields that is no URI, such as a default ref. Throws {@link TemplateError}. */
export function parsePieces(text: string, fields: readonly string[]): readonly Piece[] {
  const pieces: Piece[] = [];
  let from = 0;
  for (const { 0: whole, 1: name, index } of text.matchAll(/\{([^{}]*)\}/g)) {
    addText(pieces, text.slice(from, index));
    from = index + whole.length;
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name!)) fail(`"${whole}" is no plain field; write {name}`);
    if (!fields.includes(name!)) {
      fail(`there is no field "${whole}"; known are ${fields.join(", ")}`, closest(name!, fields));
    }
    pieces.push({ field: name! });
  }
  addText(pieces, text.slice(from));
  return pieces;
}

function addText(pieces: Piece[], text: string): void {
  if (/[{}]/.test(text)) fail('a "{" or "}" stands alone; write %7B or %7D for one of its own');
  if (text !== "") pieces.push({ text });
}

function checkPlaces(
  { store, place, path, query }: Readonly<Record<"store" | "place" | "path" | "query", ReadonlySet<string>>>,
  { rest }: TemplateRules,
): void {
  if (rest !== undefined && (store.has(rest) || place.has(rest) || query.has(rest))) {
    fail(`"{${rest}}" is a path, and may only stand behind the first "/"`);
  }
  if (store.has("at") || path.has("at")) fail('"{at}" may only stand as ?at={at}');
}

/** Parses the URI with a value in each field: what is wrong then is wrong whatever the values are. */
function sampleOf(store: readonly Piece[], path: readonly Piece[], query: readonly Piece[]): Uri {
  const value = (piece: Piece) => "text" in piece ? piece.text : piece.field === "at" ? "branch:x" : "x";
  try {
    return parseUri(`${store.map(value).join("")}://${path.map(value).join("")}${query.map(value).join("")}`);
  } catch (error) {
    if (!(error instanceof CodedError)) throw error;
    fail(`it is no URI: ${error.message.replace(/^.*": /s, "")}`);
  }
}

function templateAt(query: readonly Piece[], { at }: Uri): TemplateAt | undefined {
  if (!at) return undefined;
  const fields = fieldsOf(query);
  if (!fields.has("at")) return { form: "one", kind: at.kind, fields };
  const isWhole = query.length === 2 && "text" in query[0]! && query[0].text === "?at=";
  if (!isWhole) fail('"{at}" may only stand as ?at={at}');
  return { form: "any" };
}

/** Returns the name of the store for these values. */
export function renderStore(template: Template, values: FieldValues): string {
  return template.store.map((piece) => "text" in piece ? piece.text : String(values.get(piece.field))).join(
    "",
  );
}

/** Returns the physical URI for these values; `at` stands in `?at={at}`, or behind a template that has none. */
export function renderTemplate(
  template: Template,
  { store, values, at }: { store: string; values: FieldValues; at: Selector | undefined },
): string {
  const fill = (piece: Piece) => "text" in piece ? piece.text : encodeValue(values.get(piece.field)!);
  const path = template.path.map(fill).join("");
  const query = template.at?.form === "one"
    ? template.query.map(fill).join("")
    : at
    ? `?at=${at.kind}:${encodePath(at.value)}`
    : "";
  return `${store}://${path}${query}`;
}

/** Returns text whose fields are filled in as they are. */
export function renderText(pieces: readonly Piece[], values: FieldValues): string {
  return pieces.map((piece) => "text" in piece ? piece.text : String(values.get(piece.field))).join("");
}

/** Returns whether a rest that is empty leaves the end of the path, and no gap within it. */
export function restIsLast({ path }: Template, rest: string): boolean {
  const before = path.at(-2);
  const last = path.at(-1);
  return last !== undefined && "field" in last && last.field === rest &&
    (before === undefined || ("text" in before && before.text.endsWith("/"))) &&
    path.filter((piece) => "field" in piece && piece.field === rest).length === 1;
}

function encodeValue(value: string | readonly string[]): string {
  return typeof value === "string" ? encodeUnreserved(value) : value.map(encodeUnreserved).join("/");
}

/** Percent-encodes all but letters, digits and `-._~`. */
export function encodeUnreserved(text: string): string {
  return encodeURIComponent(text).replace(
    /[!'()*]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

export function isDots(segment: string): boolean {
  return segment === "." || segment === "..";
}

function fieldsOf(pieces: readonly Piece[]): ReadonlySet<string> {
  return new Set(pieces.flatMap((piece) => "field" in piece ? [piece.field] : []));
}

function fail(why: string, suggestion?: string): never {
  throw new TemplateError(why, suggestion);
}
