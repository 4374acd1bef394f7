/** What answers are compared with. */

import type { Versions } from "../soak_model.ts";
import { Lost } from "../soak_process.ts";
import type { Content } from "./contents.ts";

/** Fails unless two values are the same JSON. */
export function same(what: string, found: unknown, expected: unknown): void {
  const [is, must] = [JSON.stringify(found), JSON.stringify(expected)];
  if (is !== must) throw new Lost(`${what}: ${is}, not ${must}`);
}

/** Fails unless an answer says of an object what it is. */
export function checkStats(
  // deno-lint-ignore no-explicit-any
  found: any,
  { path, content: { sum, text, label } }: { path: string; content: Content },
): void {
  same(
    `the stats of ${path}`,
    [found.path, found.checksum, found.size_bytes, found.metadata.label],
    [path, sum, text.length, label],
  );
}

/** What a difference is compared by. */
export function changesOf(results: readonly { type: string; path: string }[]): [string, string][] {
  return results.map(({ type, path }) => [path, type]);
}

/** Returns the differences of two states, in the order in which they are answered. */
export function differences(left: Versions, right: Versions): [string, string][] {
  const paths = [...new Set([...left.keys(), ...right.keys()])].sort();
  return paths.flatMap((path): [string, string][] => {
    if (!left.has(path)) return [[path, "added"]];
    if (!right.has(path)) return [[path, "removed"]];
    return left.get(path) === right.get(path) ? [] : [[path, "changed"]];
  });
}
