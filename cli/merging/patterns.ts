/**
 * Patterns of paths in `--resolve` and `--driver`, as `PATTERN=VALUE`.
 *
 * A pattern is a path, or a glob of paths (the language of `.tarnignore`: `*` stays within a folder, `**` does not). As in a
 * URI, `%XX` is a byte that stands for itself: `%3D` for a `=` that would be taken as the one in the middle, `%2A` for a
 * star that is none. A path that is written out in full is always meant, even if it would be a glob, too.
 */

import { tryUtf8Text } from "../../base/bytes.ts";
import { CodedError } from "../../base/errors.ts";
import { globExpression } from "../folders/glob.ts";

export interface PathPattern {
  /** As the user wrote it. */
  readonly text: string;
  /** The path, when it is none but one path. */
  readonly path: string;
  readonly isGlob: boolean;
  matches(path: string): boolean;
}

/** Reads a pattern; `what` says where it stands, for messages. Fails with `invalid_argument`. */
export function pathPattern(text: string, what: string): PathPattern {
  if (text === "") refuse(what, "the path is empty");
  const stray = /%(?![0-9a-fA-F]{2})/.test(text);
  if (stray) refuse(what, 'a "%" that stands for itself must be written as "%25"');
  const path = decoded(text, what, (piece) => piece);
  const isGlob = /[*?[\\]/.test(text);
  const glob = isGlob ? globExpression(decoded(text, what, escaped)) : undefined;
  return { text, path, isGlob, matches: (other) => other === path || (glob?.test(other) ?? false) };
}

/** Splits `PATTERN=VALUE` where `isValue` takes what is right of a `=`: the last one for which it does, or the first. */
export function splitAtEquals(
  text: string,
  { from, isValue }: { readonly from: "first" | "last"; readonly isValue: (text: string) => boolean },
): readonly [pattern: string, value: string] | undefined {
  const places = [...text.matchAll(/=/g)].map(({ index }) => index);
  if (from === "last") places.reverse();
  const at = places.find((place) => isValue(text.slice(place + 1)));
  return at === undefined ? undefined : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text: string, what: string, form: (piece: string) => string): string {
  return text.replaceAll(/(?:%[0-9a-fA-F]{2})+/g, (run) => {
    const piece = tryUtf8Text(Uint8Array.from(run.slice(1).split("%"), (byte) => Number.parseInt(byte, 16)));
    if (piece === undefined) refuse(what, "its percent-encoded bytes are not UTF-8");
    return form(piece);
  });
}

/** What was encoded stands for itself in a glob. */
function escaped(piece: string): string {
  return piece.replaceAll(/[*?[\]\\!^-]/g, "\\$&");
}

function refuse(what: string, why: string): never {
  throw new CodedError("invalid", "invalid_argument", `Cannot read ${what}: ${why}`);
}
