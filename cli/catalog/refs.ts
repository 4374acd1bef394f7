/** The other side of a branch or merge over the catalog: a name, or a URI in the same place. */

import { CodedError } from "../../base/errors.ts";
import { looksLikeUri } from "../../base/uri.ts";
import type { Catalog } from "../../catalog/catalog.ts";
import type { ParsedArguments } from "../arguments.ts";

/** Returns where a new branch starts: `--from`, `--source`, or the argument after its URI. */
export async function branchSource(given: ParsedArguments, catalog: Catalog): Promise<string> {
  const [uri, second] = given.positionals;
  const sources = [second, given.value("from"), given.value("source")].filter((text) => text !== undefined);
  if (sources.length === 1) return await refNamed(sources[0]!, { by: uri!, catalog });
  const problem = sources.length === 0
    ? "it is not said where it starts"
    : "it is said twice where it starts";
  throw new CodedError(
    "invalid",
    "invalid_argument",
    `Cannot create "${uri}": ${problem}; add --from REF`,
  );
}

/** Returns the branch, tag or commit that a text names, beside what another URI names. */
export async function refNamed(
  text: string,
  { by, catalog }: { by: string; catalog: Catalog },
): Promise<string> {
  if (!looksLikeUri(text)) return text;
  const { uri } = await catalog.resolve(text), other = (await catalog.resolve(by)).uri;
  if (uri.scheme !== other.scheme || uri.place !== other.place) {
    throw new CodedError(
      "invalid",
      "different_repositories",
      `Cannot use "${text}": it is not in the same repository or bucket as "${by}"`,
    );
  }
  // What stands in the path is a branch, tag or commit of a store that names them so, and else a branch's folder.
  const ref = uri.at && uri.at.kind !== "ts" ? uri.at.value : uri.segments[0];
  if (ref) return ref;
  throw new CodedError("invalid", "invalid_uri", `Cannot use "${text}": it names no branch, tag or commit`);
}
